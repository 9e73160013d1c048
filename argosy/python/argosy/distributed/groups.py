"""Groups of processes: all of the job, and parts of it."""

import warnings
from typing import Any

from argosy.distributed import environment, job
from argosy.errors import FailedPreconditionError, InvalidArgumentError

__all__ = ["Group", "init_parallel_env", "is_initialized", "new_group", "get_group", "destroy_process_group", "get_backend", "is_available", "chosen"]

_groups = {}  # by id; 0 is the group of all


class Group:
    """Processes that compute together. `rank` is this process's number in it, -1 where it is no member; `ranks` are the members' numbers in the
    job. Confined to one thread at a time.

    >>> group = paddle.distributed.init_parallel_env()
    >>> group.rank, group.nranks, group.is_member()
    (0, 1, True)
    """

    def __init__(self, core, id, ranks):
        self._core, self._id, self._ranks = core, id, list(ranks)

    id = property(lambda self: self._id)
    ranks = property(lambda self: self._ranks)
    nranks = property(lambda self: len(self._ranks))
    world_size = nranks
    rank = property(lambda self: -1 if self._core is None else self._core.rank)
    name = property(lambda self: f"_default_pg{self._id}")

    def is_member(self):
        return self._core is not None

    def get_group_rank(self, rank):
        """The number in the group of a process of the job; -1 where it is no member."""
        return self._ranks.index(rank) if rank in self._ranks else -1

    def __repr__(self):
        return f"rank: {self.rank}, nranks: {self.nranks}, id: {self.id}, ranks: {', '.join(map(str, self.ranks))}; name: {self.name}"


def init_parallel_env():
    """The processes of the job meet, and from now on compute together. Returns the group of all. The error names those who are missing.

    >>> group = paddle.distributed.init_parallel_env()
    >>> group.ranks
    [0]
    """
    environment.use_device()
    return _all()


def _all():
    core = job.world()
    if 0 not in _groups or _groups[0]._core is not core:
        _groups[0] = Group(core, 0, core.ranks)
    return _groups[0]


def is_initialized():
    """Whether the processes of the job have met, by init_parallel_env().

    >>> group = paddle.distributed.init_parallel_env()
    >>> paddle.distributed.is_initialized()
    True
    """
    return job.joined()


def new_group(ranks=None, backend=None, timeout=None):
    """A group of some processes of the job (None: all), in the order given. Every process of the job makes this call, members or not.

    backend: None, or the one that the device has anyway: gloo on the CPU, nccl on a GPU. How long a call may wait is the setting
    collective_seconds.

    >>> group = paddle.distributed.init_parallel_env()
    >>> paddle.distributed.new_group([0]).ranks
    [0]
    """
    if timeout is not None:
        raise InvalidArgumentError("new_group(timeout=…): the setting collective_seconds says how long a call may wait, for all groups")
    own = _backend()
    if backend not in (None, own):
        raise InvalidArgumentError(f"new_group(backend={backend!r}): on this device it is {own!r}; leave it out")
    world = _all()
    ranks = world.ranks if ranks is None else list(ranks)
    if len(set(ranks)) != len(ranks) or not ranks:
        raise InvalidArgumentError(f"new_group takes different ranks, one at least; found {ranks}")
    number = max(_groups) + 1
    _groups[number] = Group(world._core.subgroup(ranks), number, ranks)
    return _groups[number]


def _backend():
    """What carries the messages of this process's device."""
    return "nccl" if environment.ParallelEnv().device_type == "gpu" else "gloo"


def get_backend(group: Any = None):
    """What a group computes with: 'NCCL' on a GPU, 'GLOO' on the CPU.

    >>> group = paddle.distributed.init_parallel_env()
    >>> paddle.distributed.get_backend() in ("GLOO", "NCCL")
    True
    """
    if chosen(group, "get_backend") is None:
        raise InvalidArgumentError(f"get_backend: this process is not in the group of ranks {group.ranks}")
    return _backend().upper()


def is_available():
    """Whether processes can compute together: always.

    >>> paddle.distributed.is_available()
    True
    """
    return True


def get_group(id=0):
    """The group with this number; 0 is that of all processes.

    >>> group = paddle.distributed.init_parallel_env()
    >>> paddle.distributed.get_group(0).ranks
    [0]
    """
    if id == 0:
        return _all()
    if id not in _groups:
        raise InvalidArgumentError(f"get_group: there is no group {id}; new_group() makes one")
    return _groups[id]


def destroy_process_group(group=None):
    """Forgets a group; None is all of them, and this process leaves the job.

    >>> group = paddle.distributed.init_parallel_env()
    >>> paddle.distributed.destroy_process_group()
    >>> paddle.distributed.is_initialized()
    False
    """
    if group is None or group.id == 0:
        _groups.clear()
        job.leave()
    else:
        _groups.pop(group.id, None)


def chosen(group, what):
    """The group of a call. None where this process is no member, which is a warning."""
    if group is None:
        if not job.joined() and job.place().world_size > 1 and not job.announced():
            raise FailedPreconditionError(
                f"{what} before paddle.distributed.init_parallel_env() or fleet.init(is_collective=True): the "
                f"{job.place().world_size} processes of this job have not met"
            )
        return _all()
    if not isinstance(group, Group):
        raise InvalidArgumentError(f"{what}: a group is what new_group() gave; found {type(group).__name__}")
    if not group.is_member():
        warnings.warn(f"{what}: this process is not in the group of ranks {group.ranks}; nothing is done", stacklevel=3)
        return None
    return group
