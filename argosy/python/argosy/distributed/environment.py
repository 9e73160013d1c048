"""Which process of how many this is, from the variables that launchers set (see argosy/base/rank_info.h). Light: without torch and NumPy."""

from argosy.distributed import job

__all__ = ["ParallelEnv", "get_rank", "get_world_size", "use_device"]


class ParallelEnv:
    """This process's place among the trainers, read once: rank, world_size, device_id, current_endpoint, trainer_endpoints.

    >>> env = paddle.distributed.ParallelEnv()
    >>> env.rank, env.world_size
    (0, 1)
    """

    def __init__(self):
        self._place = job.place()

    rank = property(lambda self: self._place.rank)
    local_rank = property(lambda self: self._place.rank)  # as Paddle has it
    world_size = property(lambda self: self._place.world_size)
    nranks = property(lambda self: self._place.world_size)
    device_type = property(lambda self: self._place.device.partition(":")[0] or "cpu")
    trainer_endpoints = property(lambda self: self._place.endpoints)
    nrings = property(lambda self: 1)

    @property
    def device_id(self):
        """The number of this process's GPU."""
        number = self._place.device.partition(":")[2]
        return int(number) if number else self._place.local_rank

    dev_id = device_id

    @property
    def current_endpoint(self):
        endpoints = self._place.endpoints
        return endpoints[self._place.rank] if endpoints else ""


def use_device():
    """Tensors are made on the GPU that the launcher chose for this process, where it chose one."""
    here = ParallelEnv()
    if here.device_type == "gpu":
        from argosy import device

        device.set_device(f"gpu:{here.device_id}")


def get_rank(group=None):
    """This process's number, from 0; with a group its number there, or -1.

    >>> paddle.distributed.get_rank()
    0
    """
    return job.place().rank if group is None else group.rank


def get_world_size(group=None):
    """How many processes train together; with a group, in it.

    >>> paddle.distributed.get_world_size()
    1
    """
    return job.place().world_size if group is None else group.nranks
