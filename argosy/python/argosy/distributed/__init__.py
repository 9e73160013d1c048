"""paddle.distributed: places in a job, groups and collectives, data parallel layers, datasets, and the launcher of jobs
(`python -m paddle.distributed.launch`)."""

from argosy import _lazy

__getattr__, __dir__ = _lazy.attach(__name__, __file__)
