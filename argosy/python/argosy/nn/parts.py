"""Parameters and buffers of layers in the graph of the mode: of programs here, of the dynamic graph in argosy.dynamic.initial."""

from argosy import _core
from argosy.dispatch import builds, by_mode
from argosy.fluid import layers
from argosy.fluid.param_attr import as_attr, first_values

__all__ = ["parameter", "buffer", "clear_row", "states", "tensor"]


@by_mode
def parameter(shape, attr=None, dtype="float32", is_bias=False, default_initializer=None, name=None):
    """A Parameter of the default main program, which the startup program gives first values. `name` is for one whose attribute has none."""
    attr, block = as_attr(attr), _core.default_main_program().global_block()
    given = first_values(attr, is_bias, default_initializer)
    if hasattr(given, "fill"):
        given = _filled(given, shape)
    name = attr.name or name or _core.unique_name("create_parameter_0." + ("b" if is_bias else "w"))
    known = block.has_var(name)
    whole = _core.ParamAttr(
        name=name,
        initializer=given,
        learning_rate=attr.learning_rate,
        regularizer=attr.regularizer,
        trainable=attr.trainable,
        gradient_clip=attr.gradient_clip,
        need_clip=attr.need_clip,
    )
    made = layers.create_parameter(shape, dtype, attr=whole, is_bias=is_bias)
    if not known:
        _give_values_last(name, given)
    return made


def _give_values_last(name, initializer):
    """Parameters get their first values in the order in which they are made, as in 2.x and in the dynamic graph: a seed gives both graphs the same."""
    startup = _core.default_startup_program().global_block()
    startup._remove_op(0)
    initializer(startup.var(name), startup)


def _filled(initializer, shape):
    """An initializer of the dynamic graph, which needs the whole shape, as one with values."""
    import torch

    values = initializer.fill(torch.empty([int(size) for size in shape]))
    return _core.values_initializer(values.numpy().astype("float32").ravel())


@by_mode
def buffer(shape, value, dtype, name):
    """A persistable variable that is no parameter, `value` everywhere."""
    made = layers.create_global_var(shape, value, dtype, persistable=True, name=name)
    made.stop_gradient = True
    return made


@by_mode
def clear_row(weight, row):
    """The row of a table for padding: a program's lookup gives 0 for it whatever it holds, and so its first values stay, as in Paddle."""


@builds
def states(reference, axis, sizes, dtype, value):
    """[batch, *sizes] of one value, where the batch is the size of `reference` along `axis`."""
    made = layers.fill_constant_batch_size_like(reference, [-1, *sizes], dtype, value, input_dim_idx=axis)
    made.stop_gradient = True
    return made


@by_mode
def tensor(dtype, name, persistable):
    """A variable without values."""
    return layers.create_tensor(dtype, name, persistable)
