"""1.6's way to half-async: BuildStrategy.async_mode = False, set by a script itself, for the program of an asynchronous worker."""

__all__ = ["meet", "offer"]

_worker_of = {}  # the id of a program that an asynchronous worker of 1.6's scripts trains -> the worker


def offer(program, worker):
    """The threads that run `program` may still meet in each step: `worker` trains it in async mode, as a script of 1.6 asked for."""
    _worker_of[program._id] = worker


def meet(program, build_strategy):
    """The threads of the worker that trains `program` meet in each step from here on, where a script asked for that in build_strategy."""
    worker = _worker_of.get(program._id)
    if worker is not None and build_strategy is not None and build_strategy._waits:
        worker.meet_threads()
