"""New parameters. Their first values come from the operators that a startup program has, so that both graphs begin alike."""
import numpy
import torch

from argosy import _core, device
from argosy.dynamic import dtypes
from argosy.dynamic.tensor import Parameter
from argosy.errors import InvalidArgumentError

__all__ = ["parameter", "use", "values"]

_NAME = "value"
_usual = {"weight": None, "bias": None}  # what set_global_initializer has said


def use(weight, bias):
    """Initializers for all parameters to come whose attributes have none; None: what the layer says."""
    _usual.update(weight=weight, bias=bias)


def values(initializer, shape, dtype):
    """A torch tensor that `initializer` has filled. Its random numbers come from torch's generator, which paddle.seed seeds."""
    shape = [int(size) for size in shape]
    if hasattr(initializer, "fill"):
        return initializer.fill(torch.empty(shape, dtype=dtype))
    program, scope = _core.Program(), _core.Scope()
    program.random_seed = int(torch.randint(1, 2**31 - 1, ()))
    variable = program.global_block().create_var(name=_NAME, shape=shape, dtype="float32", persistable=True)
    initializer(variable, program.global_block())
    from argosy.fluid.executor import Executor

    (found,) = Executor(device.CPUPlace()).run(program, fetch_list=[_NAME], scope=scope)
    return torch.from_numpy(numpy.array(found, "float32")).reshape(shape).to(dtype)


def _attr(attr):
    from argosy.fluid.initializer import Initializer
    from argosy.fluid.param_attr import ParamAttr

    if attr is None or attr is True:
        return _core.ParamAttr()
    if isinstance(attr, str):
        return _core.ParamAttr(name=attr)
    if isinstance(attr, Initializer):
        return ParamAttr(initializer=attr)
    if isinstance(attr, _core.ParamAttr):
        return attr
    raise InvalidArgumentError(f"an attribute of a parameter is a ParamAttr, a name, an initializer or False; found {type(attr).__name__}")


def parameter(shape, attr=None, dtype=None, is_bias=False, default_initializer=None, name=None):
    """A Parameter, or None where attr is False. Without an initializer: 0 for a bias, Xavier's uniform for the rest."""
    if attr is False:
        return None
    attr = _attr(attr)
    initializer = attr.initializer or _usual["bias" if is_bias else "weight"] or default_initializer
    if initializer is None:
        initializer = _core.constant_initializer(0.0) if is_bias else _core.xavier_initializer(True, 0, 0, 0)
    chosen = dtypes.default() if dtype is None else dtypes.to_torch(dtype)
    made = values(initializer, shape, chosen).to(device.torch_device())
    return Parameter(made, attr.name or name, attr.trainable, attr.learning_rate, attr.regularizer, attr.need_clip)
