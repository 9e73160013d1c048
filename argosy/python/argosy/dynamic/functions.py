"""The tensor functions of paddle, and the same as methods of Tensor."""

import operator

from argosy.dynamic import changing, creation, elementwise, gradients, math, pairs, search, shape, special, trigonometry
from argosy.dynamic.calls import functions_of, made_of
from argosy.dynamic.in_place import FILLS, filling
from argosy.dynamic.tensor import Tensor, torch_of
from argosy.tensor import composed

_OWN = {name: getattr(module, name) for module in (creation, gradients) for name in module.__all__}
_TABLE = functions_of(elementwise, trigonometry, pairs, math, shape, search, special)
_CHANGING = {name: value for name, value in vars(changing).items() if name.endswith("_") and not name.startswith("_")}

_NOT_METHODS = "shape numel concat"  # shape is a property; a tensor has numel() all the same, below
_ALSO_METHODS = "is_empty is_floating_point is_integer is_complex is_tensor bernoulli multinomial"


def _operand(value):
    """An array or a list beside an operator becomes a tensor."""
    return Tensor(torch_of(value)) if type(value).__module__ == "numpy" or isinstance(value, (list, tuple)) else value


def _operator(function, swapped=False):
    def operate(self, other):
        if other is None or isinstance(other, (str, dict)):
            return NotImplemented
        other = _operand(other)
        return function(other, self) if swapped else function(self, other)

    return operate


def _attach():
    for name, function in _TABLE.items():
        if name not in _NOT_METHODS.split() and not hasattr(Tensor, name):
            setattr(Tensor, name, function)
    for name in composed.__all__:
        setattr(Tensor, name, getattr(composed, name))
    for name in _ALSO_METHODS.split():
        setattr(Tensor, name, _OWN[name])
    for name, function in {**_CHANGING, **{name: filling(name) for name in FILLS}}.items():
        setattr(Tensor, name, function)
    setattr(Tensor, "numel", _TABLE["numel"])  # noqa: B010
    operators = {
        "add": "add",
        "sub": "subtract",
        "mul": "multiply",
        "floordiv": "floor_divide",
        "mod": "remainder",
        "pow": "pow",
        "matmul": "matmul",
        "and": "bitwise_and",
        "or": "bitwise_or",
        "xor": "bitwise_xor",
    }
    for symbol, name in operators.items():
        setattr(Tensor, f"__{symbol}__", _operator(_TABLE[name]))
        setattr(Tensor, f"__r{symbol}__", _operator(_reversed(name), True))
    setattr(Tensor, "__truediv__", _operator(made_of(operator.truediv, "divide")))  # noqa: B010  of whole numbers a float, which divide() is not
    setattr(Tensor, "__rtruediv__", _operator(_reversed("divide"), True))  # noqa: B010
    for symbol, name in {"lt": "less_than", "le": "less_equal", "gt": "greater_than", "ge": "greater_equal"}.items():
        setattr(Tensor, f"__{symbol}__", _operator(_TABLE[name]))
    for symbol, name in {"eq": "equal", "ne": "not_equal"}.items():
        setattr(Tensor, f"__{symbol}__", _operator(_TABLE[name]))
    for symbol, name in {"neg": "neg", "abs": "abs", "invert": "bitwise_not"}.items():
        setattr(Tensor, f"__{symbol}__", lambda self, function=_TABLE[name]: function(self))


def _reversed(name):
    """2 - x, where torch's own function takes no number first."""
    operators = {
        "subtract": lambda a, b: a - b,
        "divide": lambda a, b: a / b,
        "floor_divide": lambda a, b: a // b,
        "remainder": lambda a, b: a % b,
        "pow": lambda a, b: a**b,
    }
    if name not in operators:
        return lambda a, b: _TABLE[name](b, a) if name in ("add", "multiply", "bitwise_and", "bitwise_or", "bitwise_xor") else _TABLE[name](a, b)
    return made_of(operators[name], name)


globals().update(_OWN, **_TABLE, **_CHANGING)
_attach()
