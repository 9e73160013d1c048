"""The job of equals that this process belongs to: its place in it, and the group of all its processes. Light: without torch and NumPy."""

import atexit
import importlib
import os
from typing import Any

from argosy import _core
from argosy.errors import FailedPreconditionError

__all__ = ["place", "use", "announced", "joined", "world", "leave"]

_state: dict[str, Any] = {"place": None, "process": None}


def place():
    """Which process of how many this is: as use() said, otherwise as the environment says."""
    if _state["place"] is not None:
        return _state["place"]
    if "ARGOSY_SPARE" in os.environ:
        importlib.import_module("argosy.distributed.fleet.stepping")  # and torch: what takes time is done before there is a place to take
    found = _core.rank_info_from_environment()
    if os.environ.pop("ARGOSY_SPARE", None):  # a spare process has a place now
        os.environ.update(_core.variables_of_place())
    return found


def use(where, settings=None):
    """`where` is this process's place, and `settings` those of docs/settings.md by name, for the meeting that world() is. Waits for nobody."""
    if joined():
        met = _core.job_world()
        if (met.rank, met.size) != (where.rank, where.world_size):
            raise FailedPreconditionError(f"this process is rank {met.rank} of {met.size} already, and cannot become rank {where.rank} of {where.world_size}")
        return
    if not where.device:
        from argosy import device

        where.device = device.get_device()
    _core.announce_job(where, {name: str(value) for name, value in (settings or {}).items()})
    if _state["process"] is None:
        atexit.register(leave)
    _state.update(place=where, process=os.getpid())


def announced():
    """Whether use() was called: the script knows that it is one of several."""
    return _state["place"] is not None


def joined():
    """Whether the processes have met."""
    return _core.job_met()


def world():
    """The group of all processes. The first call waits for the others; the error names those who are missing."""
    if not announced():
        use(place())
    return _core.job_world()


def leave():
    """Says goodbye, so that the others do not miss this process. A child of it that was forked says nothing."""
    if _state["process"] == os.getpid():
        _core.leave_job()
    _state["place"] = None
