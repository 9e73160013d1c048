"""Learning rates that fall with the number of runs, as variables of the program."""

from argosy import _core
from argosy.errors import InvalidArgumentError

__all__ = [
    "exponential_decay",
    "natural_exp_decay",
    "inverse_time_decay",
    "polynomial_decay",
    "piecewise_decay",
    "noam_decay",
    "cosine_decay",
    "linear_lr_warmup",
]

_OP = "learning_rate_schedule"


def noam_decay(d_model, warmup_steps, learning_rate=1.0):
    """A rate that rises for warmup_steps runs and then falls with the root of their number; a variable, for optimizers.

    >>> rate = fluid.layers.noam_decay(d_model=512, warmup_steps=100)
    >>> optimizer = fluid.optimizer.SGD(rate)
    """
    return _core.learning_rate_variable(_core.noam_decay(d_model, warmup_steps, learning_rate))


def exponential_decay(learning_rate, decay_steps, decay_rate, staircase=False):
    """learning_rate * decay_rate ^ (runs / decay_steps), with whole parts of the quotient only where staircase; a variable, for optimizers.

    >>> optimizer = fluid.optimizer.SGD(fluid.layers.exponential_decay(0.1, decay_steps=100, decay_rate=0.5))
    """
    return _core.learning_rate_variable(_core.exponential_decay(learning_rate, decay_steps, decay_rate, staircase))


def natural_exp_decay(learning_rate, decay_steps, decay_rate, staircase=False):
    """learning_rate * e ^ (-decay_rate * runs / decay_steps), with whole parts of the quotient only where staircase; a variable, for optimizers.

    >>> optimizer = fluid.optimizer.SGD(fluid.layers.natural_exp_decay(0.1, decay_steps=100, decay_rate=0.5))
    """
    return _core.learning_rate_variable(_core.natural_exp_decay(learning_rate, decay_steps, decay_rate, staircase))


def inverse_time_decay(learning_rate, decay_steps, decay_rate, staircase=False):
    """learning_rate / (1 + decay_rate * runs / decay_steps), with whole parts of the quotient only where staircase; a variable, for optimizers.

    >>> optimizer = fluid.optimizer.SGD(fluid.layers.inverse_time_decay(0.1, decay_steps=100, decay_rate=0.5))
    """
    return _core.learning_rate_variable(_core.inverse_time_decay(learning_rate, decay_steps, decay_rate, staircase))


def polynomial_decay(learning_rate, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False):
    """From learning_rate to end_learning_rate in decay_steps runs; with cycle it rises again, ever less. A variable, for optimizers.

    >>> optimizer = fluid.optimizer.SGD(fluid.layers.polynomial_decay(0.1, decay_steps=100))
    """
    return _core.learning_rate_variable(_core.polynomial_decay(learning_rate, decay_steps, end_learning_rate, power, cycle))


def piecewise_decay(boundaries, values):
    """values[i] before boundaries[i] runs; the last value after all of them. A variable, for optimizers.

    >>> optimizer = fluid.optimizer.SGD(fluid.layers.piecewise_decay([100, 200], [0.1, 0.01, 0.001]))
    """
    return _core.learning_rate_variable(_core.piecewise_decay(boundaries, values))


def cosine_decay(learning_rate, step_each_epoch, epochs):
    """Along a cosine from learning_rate to 0 in `epochs` of step_each_epoch runs; a variable, for optimizers.

    >>> optimizer = fluid.optimizer.SGD(fluid.layers.cosine_decay(0.1, step_each_epoch=100, epochs=10))
    """
    return _core.learning_rate_variable(_core.cosine_decay(learning_rate, step_each_epoch, epochs))


def _schedule_of(variable):
    """The schedule that a decay function above has made `variable` from."""
    for op in variable.block.ops:
        if op.type == _OP and op.output("Out") == [variable.name]:
            return _core.Schedule(op.attr("kind"), op.attr("floats"), op.attr("ints"))
    raise InvalidArgumentError(f"linear_lr_warmup takes a number or what a decay function returned; variable '{variable.name}' is neither")


def linear_lr_warmup(learning_rate, warmup_steps, start_lr, end_lr):
    """From start_lr to end_lr in warmup_steps, then `learning_rate`: a number, or what another decay function returned. A variable, for optimizers.

    >>> optimizer = fluid.optimizer.SGD(fluid.layers.linear_lr_warmup(0.1, warmup_steps=10, start_lr=0.0, end_lr=0.1))
    """
    if isinstance(learning_rate, _core.Variable):
        learning_rate = _schedule_of(learning_rate)
    return _core.learning_rate_variable(_core.linear_lr_warmup(learning_rate, warmup_steps, start_lr, end_lr))
