"""Learning rates that change between runs: those of paddle.optimizer.lr, whose step() a script calls."""
import numpy

_bound = {}  # id of a program -> [(variable, scheduler)]


def bind(program, variable, scheduler):
    """From now on every run of `program` begins with `variable` set to the scheduler's rate."""
    _bound.setdefault(program._id, []).append((variable, scheduler))


def hand_on(program, copy):
    """A copy that trains goes by the same schedulers."""
    if program._id in _bound:
        _bound[copy._id] = list(_bound[program._id])


def write(program, scope):
    for variable, scheduler in _bound.get(program._id, ()):
        scope.var(variable).get_tensor().set(numpy.array([scheduler()], "float32"))
