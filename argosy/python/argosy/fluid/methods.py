"""x.reshape([2, -1]) on variables: the tensor functions of 2.x as methods, as tensors have them. A name that ends with _ gives a new variable too."""
import functools
import sys

import numpy

from argosy import _core, device
from argosy.errors import FailedPreconditionError, InvalidArgumentError

_NOT_METHODS = frozenset(["append", "shape", "concat", "stack", "is_tensor"])  # paddle.shape is no method: x.shape are the sizes


@functools.cache
def _known():
    """Functions of paddle that take a variable first: what the package's stub has of argosy.tensor and argosy.dynamic."""
    from argosy import _lazy

    stub = __file__.rpartition("fluid")[0] + "__init__.pyi"
    return frozenset(name for name, module in _lazy.members_of(stub).items() if module == ".tensor" or module.startswith(".dynamic.")) - _NOT_METHODS


def find(self, name):
    """What Variable has no attribute for: a function of paddle with the variable as its first argument."""
    plain = name[:-1] if name.endswith("_") and not name.startswith("_") else name
    if plain.startswith("_") or plain not in _known():
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
    return functools.partial(getattr(sys.modules["argosy"], plain), self)


def cast(self, dtype):
    """The variable in another type."""
    return self.astype(dtype)


def numel(self):
    """The number of elements, as a variable."""
    from argosy.fluid import layers

    return layers.size(self)


def dim(self):
    """The number of axes."""
    return len(self.shape)


def detach(self):
    """The same values, through which no gradient goes."""
    from argosy.fluid import layers

    made = layers.assign(self)
    made.stop_gradient = True
    return made


def transposed(self):
    """The axes in the opposite order."""
    from argosy.fluid import layers

    return layers.transpose(self, list(reversed(range(len(self.shape)))))


def _held(variable, scope):
    found = (_core.global_scope() if scope is None else scope).find_var(variable.name)
    if found is None:
        raise FailedPreconditionError(f"variable '{variable.name}' has no value yet; run the startup program first")
    return found.get_tensor()


def get_value(self, scope=None):
    """What the scope, the global one unless given, holds for a persistable variable: a LoDTensor."""
    return _held(self, scope)


def set_value(self, value, scope=None):
    """Writes values of the variable's shape to the scope, the global one unless given."""
    if isinstance(value, _core.Variable):
        raise InvalidArgumentError(f"set_value: '{self.name}' takes an array or a LoDTensor; found the variable '{value.name}', which has values only in a run")
    given = value.numpy() if hasattr(value, "numpy") else _core.to_array(value) if isinstance(value, _core.LoDTensor) else numpy.asarray(value)
    if list(given.shape) != list(self.shape):
        raise InvalidArgumentError(f"set_value: '{self.name}' has shape {list(self.shape)}; found {list(given.shape)}")
    tensor = _held(self, scope)
    tensor.set(given.astype(_core.dtype_name(self.dtype)))


_ATTACHED = {"__getattr__": find, "cast": cast, "numel": numel, "dim": dim, "ndimension": dim, "detach": detach, "get_value": get_value,
             "set_value": set_value, "ndim": property(dim), "T": property(transposed), "place": property(lambda self: device.resolve(None))}
for _name, _value in _ATTACHED.items():
    setattr(_core.Variable, _name, _value)
setattr(_core.LoDTensor, "_get_dims", _core.LoDTensor.shape)  # noqa: B010 (scripts that reset the states of an AUC ask for it)
