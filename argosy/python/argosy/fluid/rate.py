"""Learning rates that change between runs: those of paddle.optimizer.lr, whose step() a script calls, and set_lr()."""

import numpy

from argosy.errors import UnimplementedError

_bound = {}  # id of a program -> [(variable, scheduler)]
_served = {}  # id of a program whose updates servers do -> [_Served]


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


def serve(program, worker):
    """From now on every run of `program` begins with telling the servers of `worker` a rate that has changed, and is an error where they could not
    tell whose it is."""
    one = worker.learning_rate()
    served = [] if one is None else [_Served(one[0], one[1], worker.set_learning_rate)]
    _served[program._id] = served + [_Served(name, value, _refusal(name, value)) for name, value in worker.own_rates().items()]


def _refusal(name, before):
    def refuse(value):
        raise UnimplementedError(
            f"the learning rate '{name}' has changed from {before:g} to {value:g}, and servers take one rate for all parameters from a script; this program "
            "has several. Give the optimizer a schedule of fluid.layers, such as exponential_decay, which servers follow by themselves"
        )

    return refuse


def hand_on(program, copy):
    """A copy that trains goes by the same schedulers."""
    for table in (_bound, _served):
        if program._id in table:
            table[copy._id] = table[program._id]


def write(program, scope):
    for variable, scheduler in _bound.get(program._id, ()):
        scope.var(variable).get_tensor().set(numpy.array([scheduler()], "float32"))
    for one in _served.get(program._id, ()):
        one.update(scope)
