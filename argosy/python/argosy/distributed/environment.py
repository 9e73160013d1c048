"""Which process of how many this is, from the variables that launchers set. Light: without torch and NumPy."""
import os

from argosy.errors import InvalidArgumentError, UnavailableError

__all__ = ["ParallelEnv", "get_rank", "get_world_size", "needs_core"]


def _number(names, default):
    for name in names:
        if os.environ.get(name, "").strip():
            if not os.environ[name].strip().isdigit():
                raise InvalidArgumentError(f"{name} is a number; found {os.environ[name]!r}")
            return int(os.environ[name])
    return default


class ParallelEnv:
    """This process's place among the trainers, read once."""

    def __init__(self):
        self._rank = _number(("PADDLE_TRAINER_ID", "RANK"), 0)
        self._world_size = _number(("PADDLE_TRAINERS_NUM", "WORLD_SIZE"), 1)
        if self._rank >= max(self._world_size, 1):
            raise InvalidArgumentError(f"PADDLE_TRAINER_ID is {self._rank}, and PADDLE_TRAINERS_NUM {self._world_size}: numbers begin at 0")
        chosen = os.environ.get("FLAGS_selected_gpus", "").split(",")[0].strip()
        self._device_id = int(chosen) if chosen.isdigit() else _number(("LOCAL_RANK",), 0)
        self._endpoints = [one for one in os.environ.get("PADDLE_TRAINER_ENDPOINTS", "").split(",") if one]

    rank = property(lambda self: self._rank)
    local_rank = property(lambda self: self._rank)  # as Paddle has it
    world_size = property(lambda self: self._world_size)
    nranks = property(lambda self: self._world_size)
    device_id = property(lambda self: self._device_id)
    dev_id = property(lambda self: self._device_id)
    device_type = property(lambda self: "gpu" if os.environ.get("FLAGS_selected_gpus") else "cpu")
    trainer_endpoints = property(lambda self: self._endpoints)
    current_endpoint = property(lambda self: os.environ.get("PADDLE_CURRENT_ENDPOINT", ""))


def get_rank(group=None):
    """This process's number, from 0."""
    return ParallelEnv().rank


def get_world_size(group=None):
    """How many processes train together."""
    return ParallelEnv().world_size


def needs_core(what):
    """Raises: `what` is between processes."""
    raise UnavailableError(f"{what}: this job has {get_world_size()} processes, and collectives between processes are not part of this version; "
                           "run one process, without the launcher")
