"""Operators on variables: x + y, x * 2, x[1:], x.astype('int64') each add an operator to the program, as Paddle's do."""
from argosy import _core
from argosy.errors import InvalidArgumentError
from argosy.fluid.var_type import VarType

_INTEGERS = {VarType.UINT8, VarType.INT8, VarType.INT16, VarType.INT32, VarType.INT64}
_TO_THE_END = 10000000  # the end of a slice that has none


def _block(var):
    return var.block.program.current_block()


def _tmp(var, dtype):
    return _block(var).create_var(name=_core.unique_name("tmp"), dtype=dtype)


def _append(var, op, inputs, attrs, dtype=None, out=None):
    out = _tmp(var, var.dtype if dtype is None else dtype) if out is None else out
    _block(var).append_op(type=op, inputs=inputs, outputs={"Out": out}, attrs=attrs)
    return out


def _scale(var, scale, bias):
    return _append(var, "scale", {"X": var}, {"scale": float(scale), "bias": float(bias)})


def _filled(var, value, whole):
    """`value` as a variable: of one element, or like `var` where the other operand must have its shape."""
    attrs = {"shape": list(var.shape) if whole else [1], "dtype": int(var.dtype), "value": float(value)}
    if whole and -1 in var.shape:
        batch = var.shape.index(-1)
        attrs["shape"] = [1 if size == -1 and axis != batch else size for axis, size in enumerate(var.shape)]
        attrs |= {"input_dim_idx": batch, "output_dim_idx": batch}
        filled = _append(var, "fill_constant_batch_size_like", {"Input": var}, attrs)
    else:
        filled = _append(var, "fill_constant", {}, attrs)
    filled.stop_gradient = True
    return filled


def astype(self, dtype):
    """Adds a cast."""
    return _append(self, "cast", {"X": self}, {"in_dtype": int(self.dtype), "out_dtype": int(_core.to_dtype(dtype))}, dtype)


def _binary(op, reverse=False, scalar=None, compares=False):
    def method(self, other):
        is_number = isinstance(other, (int, float)) or (hasattr(other, "item") and getattr(other, "size", 1) == 1)
        if not isinstance(other, _core.Variable) and not is_number:
            return NotImplemented
        if is_number:
            other = other.item() if hasattr(other, "item") else other
            if scalar is not None and not (op == "elementwise_div" and self.dtype in _INTEGERS):
                if self.dtype in _INTEGERS and other != int(other):
                    raise InvalidArgumentError(f"variable '{self.name}' holds integers; {other} would be cut off: cast it first")
                return scalar(self, other)
            other = _filled(self, other, reverse)
        if other.dtype != self.dtype:
            other = astype(other, self.dtype)
        left, right = (other, self) if reverse else (self, other)
        axis = 0 if right.shape and right.shape[0] == -1 else -1
        return _append(self, op, {"X": left, "Y": right}, {"axis": axis}, VarType.BOOL if compares else None)

    return method


_OPERATORS = {
    "__add__": _binary("elementwise_add", scalar=lambda x, value: _scale(x, 1, value)),
    "__radd__": _binary("elementwise_add", scalar=lambda x, value: _scale(x, 1, value)),
    "__sub__": _binary("elementwise_sub", scalar=lambda x, value: _scale(x, 1, -value)),
    "__rsub__": _binary("elementwise_sub", reverse=True, scalar=lambda x, value: _scale(x, -1, value)),
    "__mul__": _binary("elementwise_mul", scalar=lambda x, value: _scale(x, value, 0)),
    "__rmul__": _binary("elementwise_mul", scalar=lambda x, value: _scale(x, value, 0)),
    "__truediv__": _binary("elementwise_div", scalar=lambda x, value: _scale(x, 1 / value, 0)),
    "__rtruediv__": _binary("elementwise_div", reverse=True),
    "__pow__": _binary("elementwise_pow"),
    "__rpow__": _binary("elementwise_pow", reverse=True),
    "__floordiv__": _binary("elementwise_floordiv"),
    "__mod__": _binary("elementwise_mod"),
    "__eq__": _binary("equal", compares=True),
    "__ne__": _binary("not_equal", compares=True),
    "__lt__": _binary("less_than", compares=True),
    "__le__": _binary("less_equal", compares=True),
    "__gt__": _binary("greater_than", compares=True),
    "__ge__": _binary("greater_equal", compares=True),
}


def _neg(self):
    return _scale(self, -1, 0)


def _matmul(self, other):
    return _append(self, "matmul", {"X": self, "Y": other}, {})


def _slice_plan(var, items):
    """What `items` take of each axis: lists axes, starts, ends, strides, and the axes that an integer takes away."""
    axes, starts, ends, strides, decrease = [], [], [], [], []
    for axis, item in enumerate(items):
        if isinstance(item, slice):
            if item == slice(None):
                continue
            step = 1 if item.step is None else item.step
            if step == 0:
                raise InvalidArgumentError(f"variable '{var.name}': the step of a slice cannot be 0")
            start = item.start if item.start is not None else (0 if step > 0 else _TO_THE_END)
            end = item.stop if item.stop is not None else (_TO_THE_END if step > 0 else -_TO_THE_END)
        else:
            start, step = int(item), 1
            end = start + 1 if start != -1 else _TO_THE_END
            decrease.append(axis)
        axes.append(axis), starts.append(start), ends.append(end), strides.append(step)
    return axes, starts, ends, strides, decrease


def _expand_items(var, items):
    items = items if isinstance(items, tuple) else (items,)
    for item in items:
        if not isinstance(item, slice) and item is not Ellipsis and (isinstance(item, bool) or not hasattr(item, "__index__")):
            raise InvalidArgumentError(
                f"variable '{var.name}' is indexed by integers, slices and ...; found {type(item).__name__}")
    if Ellipsis in items:
        at = items.index(Ellipsis)
        items = items[:at] + (slice(None),) * (len(var.shape) - len(items) + 1) + items[at + 1:]
    if len(items) > len(var.shape):
        raise InvalidArgumentError(f"variable '{var.name}' has shape {list(var.shape)}; {len(items)} indices were given")
    return items


def _getitem(self, items):
    axes, starts, ends, strides, decrease = _slice_plan(self, _expand_items(self, items))
    if not axes:
        return self
    strided = any(step != 1 for step in strides)
    op = "strided_slice" if strided else "slice"
    attrs = {"axes": axes, "starts": starts, "ends": ends, "decrease_axis": decrease, "infer_flags": [1] * len(axes)}
    if strided:
        attrs["strides"] = strides
    out = _block(self).create_var(name=_core.unique_name(f"{self.name}_{op}"), dtype=self.dtype)
    return _append(self, op, {"Input": self}, attrs, out=out)


def _iterate(self):
    if not self.shape or self.shape[0] < 0:
        raise TypeError(f"variable '{self.name}' of shape {list(self.shape)} cannot be iterated: its first size is known only in a run")
    return (self[i] for i in range(self.shape[0]))


def patch(variable):
    """Gives the class of variables its operators."""
    hash_before = variable.__hash__
    for name, method in _OPERATORS.items():
        method.__name__ = name
        setattr(variable, name, method)
    variable.__hash__ = hash_before
    variable.__neg__ = _neg
    variable.__matmul__ = _matmul
    variable.__getitem__ = _getitem
    variable.__iter__ = _iterate
    variable.astype = astype
    variable.clone = lambda self: _append(self, "assign", {"X": self}, {})
    variable.ndim = property(lambda self: len(self.shape))
