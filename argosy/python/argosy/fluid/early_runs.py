"""Programs that transpile() has shared and that a script runs before it asks for the worker's: in 1.8 transpile() itself had made them the worker's."""

__all__ = ["begin", "expect", "forget"]

_makers = {}  # id of a program -> makes this process the worker, which changes the program in place


def expect(program, make_worker):
    """From here on the process that runs `program` is the job's worker: make_worker() is called first, once."""
    _makers[program._id] = make_worker


def forget(program):
    """`program` is what its job wants."""
    _makers.pop(program._id, None)


def begin(program):
    """`program` is about to run."""
    if program._id in _makers:
        _makers[program._id]()
