"""x.reshape([2, -1]) on variables: the tensor functions of 2.x as methods, as tensors have them. A name that ends with _ gives a new variable too."""

import functools
import sys

import numpy

from argosy import _core, device, graph_mode
from argosy.errors import FailedPreconditionError, InvalidArgumentError

_MODULES = (
    ".tensor",
    ".tensor.composed",
    ".dynamic.elementwise",
    ".dynamic.trigonometry",
    ".dynamic.pairs",
    ".dynamic.math",
    ".dynamic.shape",
    ".dynamic.search",
    ".dynamic.special",
)
_ALSO = ("is_empty", "is_floating_point", "is_integer", "is_complex", "bernoulli", "multinomial")
_NOT_METHODS = frozenset(["shape", "concat", "stack", "is_tensor"])  # paddle.shape is no method: x.shape are the sizes


@functools.cache
def _known():
    """Functions of paddle that take a variable first: what the package's stub has of argosy.tensor and argosy.dynamic."""
    from argosy import _lazy

    stub = __file__.rpartition("fluid")[0] + "__init__.pyi"
    found = {name for name, module in _lazy.members_of(stub).items() if module in _MODULES or name in _ALSO}
    return frozenset(found) - _NOT_METHODS


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


def _length(self):
    if not self.shape or self.shape[0] < 0:
        raise TypeError(f"variable '{self.name}' of shape {list(self.shape)} has no length: its first size is known only in a run")
    return self.shape[0]


def _with_arrays(name):
    """An operator of the class that also takes arrays and lists, as constants, on either side."""
    operator, plain = getattr(_core.Variable, f"__{name}__"), getattr(_core.Variable, f"__{name.removeprefix('r')}__")

    def operate(self, other):
        if not isinstance(other, (numpy.ndarray, list, tuple)):
            return operator(self, other)
        given = _constant_like(self, other)
        return operator(self, given) if operator is plain else plain(given, self)

    return operate


def _by_function(name, swapped=False):
    """An operator that is a function of paddle."""

    def operate(self, *others):
        given = [other if isinstance(other, _core.Variable) else _constant_like(self, numpy.atleast_1d(other)) for other in others]
        return getattr(sys.modules["argosy"], name)(*reversed([self, *given]) if swapped else (self, *given))

    return operate


def _constant_like(variable, value):
    from argosy.building.operators import constant

    return constant(value, _core.dtype_name(variable.dtype))


def on_cpu(self):
    """The same values; where a program computes is the executor's to say."""
    from argosy.fluid import layers

    return layers.assign(self)


def element_size(self):
    """The bytes of one element."""
    return numpy.dtype(_core.dtype_name(self.dtype)).itemsize if _core.dtype_name(self.dtype) != "bfloat16" else 2


def item(self):
    """The one element of a variable that has one, as a variable of shape [1]."""
    from argosy.fluid import layers

    if any(size != 1 for size in self.shape):
        raise InvalidArgumentError(f"item: variable '{self.name}' has shape {list(self.shape)}; expected one element")
    return layers.reshape(self, [1])


def exponential_(self, lam=1.0, name=None):
    """Numbers drawn from an exponential distribution with the rate lam, in the variable's shape: a new variable."""
    from argosy import tensor as T
    from argosy.building.reductions import _uniform_like

    return -T.log(T.clip(1.0 - _uniform_like(self), 1e-12, 1.0)) / lam


_DOWN, _TOWARDS_ZERO = _by_function("floor_divide"), _with_arrays("floordiv")


def _floordiv(self, other):
    """Rounded down, as 2.x has it; towards 0 in a script of 1.8, which does not call enable_static(), as there."""
    return (_DOWN if graph_mode.saved()["mode"] == "static" else _TOWARDS_ZERO)(self, other)


_ATTACHED = {
    "__floordiv__": _floordiv,
    "cpu": on_cpu,
    "element_size": element_size,
    "item": item,
    "exponential_": exponential_,
    "__getattr__": find,
    "cast": cast,
    "numel": numel,
    "dim": dim,
    "ndimension": dim,
    "detach": detach,
    "get_value": get_value,
    "set_value": set_value,
    "ndim": property(dim),
    "T": property(transposed),
    "size": property(numel),
    "__len__": _length,
    "place": property(lambda self: device.resolve(None)),
    "__abs__": _by_function("abs"),
    "__invert__": _by_function("bitwise_not"),
    "__rfloordiv__": _by_function("floor_divide", True),
    "__rmod__": _by_function("mod", True),
    "__rmatmul__": lambda self, other: _constant_like(self, other) @ self,
    **{f"__{kind}__": _by_function(f"bitwise_{kind}") for kind in ("and", "or", "xor")},
    **{f"__{name}__": _with_arrays(name) for name in "add radd sub rsub mul rmul truediv rtruediv pow matmul mod lt le gt ge".split()},
}
for _name, _value in _ATTACHED.items():
    setattr(_core.Variable, _name, _value)
