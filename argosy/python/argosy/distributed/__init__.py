"""paddle.distributed: places in a job, data parallel layers, datasets, and the launcher of jobs (`python -m paddle.distributed.launch`)."""
from argosy import _lazy

_WHERE = {
    "dataset": "QueueDataset InMemoryDataset",
    "entry_attr": "CountFilterEntry ProbabilityEntry ShowClickEntry",
    "environment": "ParallelEnv get_rank get_world_size",
    "parallel": "DataParallel init_parallel_env all_reduce all_gather broadcast reduce barrier ReduceOp",
    "spawning": "spawn",
}

__getattr__, __dir__ = _lazy.names(__name__, ("dataset", "entry_attr", "environment", "fleet", "launch", "launch_ps", "parallel"),
                                   {name: module for module, names in _WHERE.items() for name in names.split()})
