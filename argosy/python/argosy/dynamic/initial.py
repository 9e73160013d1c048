"""New parameters. Their first values come from the operators that a startup program has, so that both graphs begin alike."""

import numpy
import torch

from argosy import _core, device
from argosy.dynamic import dtypes
from argosy.dynamic.tensor import Parameter, Tensor
from argosy.fluid.param_attr import as_attr, first_values

__all__ = ["parameter", "buffer", "clear_row", "states", "tensor", "values"]

_NAME = "value"


def values(initializer, shape, dtype):
    """A torch tensor that `initializer` has filled. Its random numbers come from torch's generator, which paddle.seed seeds."""
    shape = [int(size) for size in shape]
    if hasattr(initializer, "fill"):
        return initializer.fill(torch.empty(shape, dtype=dtype))
    program, scope = _core.Program(), _core.Scope()
    variable = program.global_block().create_var(name=_NAME, shape=shape, dtype="float32", persistable=True)
    initializer(variable, program.global_block())
    from argosy.fluid.executor import Executor

    (found,) = Executor(device.CPUPlace()).run(program, fetch_list=[_NAME], scope=scope)
    return torch.from_numpy(numpy.array(found, "float32")).reshape(shape).to(dtype)


def parameter(shape, attr=None, dtype=None, is_bias=False, default_initializer=None, name=None):
    """A Parameter. `name` is for one whose attribute has none."""
    attr = as_attr(attr)
    chosen = dtypes.default() if dtype is None else dtypes.to_torch(dtype)
    made = values(first_values(attr, is_bias, default_initializer), shape, chosen).to(device.torch_device())
    return Parameter(made, attr.name or name, attr.trainable, attr.learning_rate, attr.regularizer, attr.need_clip)


def buffer(shape, value, dtype, name):
    """A tensor that is no parameter, `value` everywhere."""
    made = Tensor(torch.full(shape, value, dtype=dtypes.to_torch(dtype), device=device.torch_device()), name)
    made.persistable = True
    return made


def clear_row(weight, row):
    """The row of a table for padding becomes 0."""
    weight[row] = 0.0


def states(reference, axis, sizes, dtype, value):
    """[batch, *sizes] of one value, where the batch is the size of `reference` along `axis`."""
    return Tensor(torch.full([reference.shape[axis], *sizes], value, dtype=dtypes.to_torch(dtype), device=device.torch_device()))


def tensor(dtype, name, persistable):
    """A tensor without values."""
    made = Tensor(torch.empty(0, dtype=dtypes.to_torch(dtype), device=device.torch_device()), name)
    made.persistable = persistable
    return made
