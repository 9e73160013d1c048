"""Learning rates that change between runs: those of paddle.optimizer.lr, whose step() a script calls, and set_lr()."""

import numpy

_bound = {}  # id of a program -> [(variable, scheduler)]
_served = {}  # id of a program whose updates servers do -> _Served


def bind(program, variable, scheduler):
    """From now on every run of `program` begins with `variable` set to the scheduler's rate."""
    _bound.setdefault(program._id, []).append((variable, scheduler))


class _Served:
    """A rate that servers use."""

    def __init__(self, variable, value, send):
        self.variable, self.value, self.send = variable, numpy.float32(value), send

    def update(self, scope):
        found = scope.find_var(self.variable)
        if found is None or not found.get_tensor()._is_initialized():
            return
        value = numpy.asarray(found.get_tensor()).ravel()[0]
        if value != self.value:
            self.send(float(value))
            self.value = value


def serve(program, variable, send):
    """From now on every run of `program` begins with telling the servers, by `send`, a rate that has changed.

    variable: its (name, value), or None where the servers follow a schedule of their own.
    """
    if variable is not None:
        _served[program._id] = _Served(*variable, send)  # pyright: ignore[reportCallIssue]


def hand_on(program, copy):
    """A copy that trains goes by the same schedulers."""
    for table in (_bound, _served):
        if program._id in table:
            table[copy._id] = table[program._id]


def write(program, scope):
    for variable, scheduler in _bound.get(program._id, ()):
        scope.var(variable).get_tensor().set(numpy.array([scheduler()], "float32"))
    if program._id in _served:
        _served[program._id].update(scope)
