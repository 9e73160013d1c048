"""The tensor functions of paddle, and the same as methods of Tensor."""
import torch

from argosy.dynamic import creation, gradients, math, search, shape
from argosy.dynamic.tensor import Tensor, torch_of, unwrap

_OWN = {name: getattr(module, name) for module in (creation, gradients) for name in module.__all__}
_TABLE = {**math.FUNCTIONS, **shape.FUNCTIONS, **search.FUNCTIONS}
globals().update(_OWN, **_TABLE)
__all__ = sorted({*_OWN, *_TABLE, "tolist"})

_NOT_METHODS = "shape numel concat"  # shape is a property; a tensor has numel() all the same, below
_ALSO_METHODS = "is_empty is_floating_point is_integer is_complex is_tensor bernoulli multinomial"
_IN_PLACE = (
    "abs acos acosh add asin asinh atan atanh ceil clip cos cosh digamma divide erfinv exp expm1 flatten floor floor_divide frac lerp lgamma log "
    "log10 log1p log2 masked_fill multiply neg pow reciprocal remainder reshape round rsqrt scale scatter sigmoid sin sinh sqrt square squeeze "
    "subtract tan tanh tril triu trunc unsqueeze put_along_axis index_add index_fill index_put")
_KEEPS_STORAGE = "squeeze unsqueeze reshape flatten"


def tolist(x):
    return x.tolist()


def _in_place(name):
    function = _TABLE[name]

    def changed(self, *args, **kwargs):
        result = function(self, *args, **kwargs)._torch
        if name in _KEEPS_STORAGE.split():
            self._torch = result
        elif self._torch.requires_grad and not self._torch.is_leaf:
            self._torch = result  # recorded: what follows goes through the change
        else:
            with torch.no_grad():
                self._torch.copy_(result)
        return self
    changed.__name__ = changed.__qualname__ = name + "_"
    return changed


def _filled(name, fill):
    def changed(self, *args, **kwargs):
        with torch.no_grad():
            fill(self._torch, *args, **kwargs)
        return self
    changed.__name__ = changed.__qualname__ = name
    return changed


_FILLS = {
    "zero_": lambda x: x.zero_(), "fill_": lambda x, value: x.fill_(unwrap(value)),
    "uniform_": lambda x, min=-1.0, max=1.0, seed=0: x.uniform_(min, max), "normal_": lambda x, mean=0.0, std=1.0: x.normal_(mean, std),
    "exponential_": lambda x, lam=1.0: x.exponential_(lam), "fill_diagonal_": lambda x, value, offset=0, wrap=False: x.fill_diagonal_(value, wrap),
}


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
    for name in _ALSO_METHODS.split():
        setattr(Tensor, name, _OWN[name])
    for name in _IN_PLACE.split():
        setattr(Tensor, name + "_", _in_place(name))
    for name, fill in _FILLS.items():
        setattr(Tensor, name, _filled(name, fill))
    Tensor.numel = _TABLE["numel"]
    operators = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide", "mod": "remainder",
                 "pow": "pow", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"}
    for operator, name in operators.items():
        setattr(Tensor, f"__{operator}__", _operator(_TABLE[name]))
        setattr(Tensor, f"__r{operator}__", _operator(_reversed(name), True))
    for operator, name in {"lt": "less_than", "le": "less_equal", "gt": "greater_than", "ge": "greater_equal"}.items():
        setattr(Tensor, f"__{operator}__", _operator(_TABLE[name]))
    for operator, name in {"eq": "equal", "ne": "not_equal"}.items():
        setattr(Tensor, f"__{operator}__", _operator(_TABLE[name]))
    for operator, name in {"neg": "neg", "abs": "abs", "invert": "bitwise_not"}.items():
        setattr(Tensor, f"__{operator}__", lambda self, function=_TABLE[name]: function(self))


def _reversed(name):
    """2 - x, where torch's own function takes no number first."""
    operators = {"subtract": lambda a, b: a - b, "divide": lambda a, b: a / b, "floor_divide": lambda a, b: a // b,
                 "remainder": lambda a, b: a % b, "pow": lambda a, b: a**b}
    if name not in operators:
        return lambda a, b: _TABLE[name](b, a) if name in ("add", "multiply", "bitwise_and", "bitwise_or", "bitwise_xor") else _TABLE[name](a, b)
    return lambda a, b: Tensor(operators[name](unwrap(a), unwrap(b)))


_attach()
_CHANGING = {f"{name}_": getattr(Tensor, f"{name}_") for name in _IN_PLACE.split()}  # paddle.tanh_(x) is x.tanh_()
globals().update(_CHANGING)
__all__ = sorted({*__all__, *_CHANGING})
