"""paddle.distributed: places in a job, groups and collectives, data parallel layers, datasets, and the launcher of jobs
(`python -m paddle.distributed.launch`)."""
from argosy import _lazy

_WHERE = {
    "dataset": "QueueDataset InMemoryDataset",
    "entry_attr": "CountFilterEntry ProbabilityEntry ShowClickEntry",
    "environment": "ParallelEnv get_rank get_world_size",
    "groups": "Group init_parallel_env is_initialized new_group get_group destroy_process_group get_backend is_available",
    "exchange": "alltoall alltoall_single gather",
    "collectives": ("ReduceOp all_reduce reduce broadcast all_gather all_gather_object broadcast_object_list scatter scatter_object_list "
                    "reduce_scatter send recv barrier wait"),
    "parallel": "DataParallel",
    "spawning": "spawn",
}

__getattr__, __dir__ = _lazy.names(__name__, ("dataset", "entry_attr", "environment", "fleet", "launch", "launch_ps", "parallel"),
                                   {name: module for module, names in _WHERE.items() for name in names.split()})
