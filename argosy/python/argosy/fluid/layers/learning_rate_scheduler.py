"""Learning rates that fall with the number of runs, as variables of the program."""
from argosy import _core
from argosy.errors import InvalidArgumentError

__all__ = ["exponential_decay", "natural_exp_decay", "inverse_time_decay", "polynomial_decay", "piecewise_decay", "noam_decay", "cosine_decay",
           "linear_lr_warmup"]

_OP = "learning_rate_schedule"


def noam_decay(d_model, warmup_steps, learning_rate=1.0):
    return _core.learning_rate_variable(_core.noam_decay(d_model, warmup_steps, learning_rate))


def exponential_decay(learning_rate, decay_steps, decay_rate, staircase=False):
    return _core.learning_rate_variable(_core.exponential_decay(learning_rate, decay_steps, decay_rate, staircase))


def natural_exp_decay(learning_rate, decay_steps, decay_rate, staircase=False):
    return _core.learning_rate_variable(_core.natural_exp_decay(learning_rate, decay_steps, decay_rate, staircase))


def inverse_time_decay(learning_rate, decay_steps, decay_rate, staircase=False):
    return _core.learning_rate_variable(_core.inverse_time_decay(learning_rate, decay_steps, decay_rate, staircase))


def polynomial_decay(learning_rate, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False):
    return _core.learning_rate_variable(_core.polynomial_decay(learning_rate, decay_steps, end_learning_rate, power, cycle))


def piecewise_decay(boundaries, values):
    """values[i] before boundaries[i] runs; the last value after all of them."""
    return _core.learning_rate_variable(_core.piecewise_decay(boundaries, values))


def cosine_decay(learning_rate, step_each_epoch, epochs):
    return _core.learning_rate_variable(_core.cosine_decay(learning_rate, step_each_epoch, epochs))


def _schedule_of(variable):
    """The schedule that a decay function above has made `variable` from."""
    for op in variable.block.ops:
        if op.type == _OP and op.output("Out") == [variable.name]:
            return _core.Schedule(op.attr("kind"), op.attr("floats"), op.attr("ints"))
    raise InvalidArgumentError(f"linear_lr_warmup takes a number or what a decay function returned; variable '{variable.name}' is neither")


def linear_lr_warmup(learning_rate, warmup_steps, start_lr, end_lr):
    """From start_lr to end_lr in warmup_steps, then `learning_rate`: a number, or what another decay function returned."""
    if isinstance(learning_rate, _core.Variable):
        learning_rate = _schedule_of(learning_rate)
    return _core.learning_rate_variable(_core.linear_lr_warmup(learning_rate, warmup_steps, start_lr, end_lr))
