"""paddle.distributed: datasets, and the launcher of jobs (`python -m paddle.distributed.launch`)."""
from argosy import _lazy

__getattr__, __dir__ = _lazy.names(__name__, ("dataset", "launch", "launch_ps"), {"QueueDataset": "dataset", "InMemoryDataset": "dataset"})
