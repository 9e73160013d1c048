"""Data parallel training by 1.8's words."""

from argosy.distributed import environment, parallel
from argosy.distributed.environment import ParallelEnv
from argosy.errors import InvalidArgumentError

__all__ = ["prepare_context", "ParallelEnv", "DataParallel"]

Env = ParallelEnv  # 1.7's name


class ParallelStrategy:
    """Which process of how many this is; prepare_context() fills it in.

    >>> fluid.dygraph.parallel.ParallelStrategy().nranks
    1
    """

    def __init__(self):
        here = ParallelEnv()
        self.nranks, self.local_rank = here.nranks, here.local_rank
        self.trainer_endpoints, self.current_endpoint = here.trainer_endpoints, here.current_endpoint


def prepare_context(strategy=None):
    """Meets the other processes that the launcher has started, and returns what DataParallel takes as strategy; None where this one is alone.

    >>> fluid.dygraph.prepare_context() is None
    True
    """
    strategy = ParallelStrategy() if strategy is None else strategy
    if strategy.nranks < 2:
        return None
    here = ParallelEnv()
    if (strategy.nranks, strategy.local_rank) != (here.nranks, here.local_rank):
        raise InvalidArgumentError(
            f"prepare_context: the strategy has rank {strategy.local_rank} of {strategy.nranks}, the launcher's variables {here.local_rank} of "
            f"{here.nranks}; leave the strategy out"
        )
    from argosy.distributed.groups import init_parallel_env

    environment.use_device()
    init_parallel_env()
    return strategy


class DataParallel(parallel.DataParallel):
    """A layer with a copy in each process: 1.8's, which takes what prepare_context() returned. Gradients are averaged while backward() runs, so
    scale_loss() gives the loss as it is and apply_collective_grads() has nothing left to do.

    >>> model = fluid.dygraph.DataParallel(fluid.dygraph.Linear(2, 1), fluid.dygraph.prepare_context())
    >>> model(paddle.ones([3, 2])).shape
    [3, 1]
    """

    def __init__(self, layers, strategy=None):
        if strategy is not None and not isinstance(strategy, ParallelStrategy):
            raise InvalidArgumentError(f"DataParallel: strategy is what prepare_context() returned; found {type(strategy).__name__}")
        super().__init__(layers)
