"""16-bit training of programs."""

from argosy.fluid.mixed_precision import AutoMixedPrecisionLists, decorated

__all__ = ["AutoMixedPrecisionLists", "decorate"]

_USUAL = {
    "init_loss_scaling": 1.0,
    "incr_every_n_steps": 1000,
    "decr_every_n_nan_or_inf": 2,
    "incr_ratio": 2.0,
    "decr_ratio": 0.8,
    "use_dynamic_loss_scaling": False,
}


def decorate(
    optimizer,
    amp_lists=None,
    init_loss_scaling=1.0,
    incr_every_n_steps=1000,
    decr_every_n_nan_or_inf=2,
    incr_ratio=2.0,
    decr_ratio=0.8,
    use_dynamic_loss_scaling=False,
):
    """`optimizer`; the program of a loss that it minimizes multiplies by parameters in bfloat16 and adds up in float32. Losses are multiplied by
    init_loss_scaling, and their gradients divided by it. With use_dynamic_loss_scaling a batch with a gradient that is NaN or infinite is left out, and the
    factor moves: by decr_ratio after decr_every_n_nan_or_inf such batches in a row, by incr_ratio after incr_every_n_steps others.

    >>> optimizer = fluid.contrib.mixed_precision.decorate(fluid.optimizer.SGD(0.1))
    >>> operators, pairs = optimizer.minimize(fluid.layers.mean(fluid.layers.fc(fluid.data("x", [None, 2]), 1)))
    """
    given = {name: value for name, value in locals().items() if name in _USUAL}
    return decorated("fluid.contrib.mixed_precision.decorate", optimizer, amp_lists, given, _USUAL, "float16")
