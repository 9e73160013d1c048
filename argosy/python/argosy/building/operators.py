"""Operators that no layer function of fluid adds."""

from typing import Any

from argosy import _core

__all__ = ["append", "append_lists", "constant", "sizes_of"]


def append(op, inputs, outputs, attrs, name=None, layer=None):
    """Adds an operator and returns its outputs, which are new variables: slot -> element type."""
    block = _core.default_main_program().current_block()
    prefix = name or _core.unique_name(layer or op)
    made = {slot: block.create_var(name=_core.unique_name(f"{prefix}.tmp"), dtype=dtype) for slot, dtype in outputs.items()}
    block.append_op(type=op, inputs=inputs, outputs=made, attrs=attrs)
    return tuple(made.values())


def append_lists(op, inputs, outputs, attrs, dtype, name=None):
    """Adds an operator and returns its outputs, lists of new variables of one type: slot -> how many."""
    block = _core.default_main_program().current_block()
    prefix = name or _core.unique_name(op)
    made = {slot: [block.create_var(name=_core.unique_name(f"{prefix}.tmp"), dtype=dtype) for _ in range(count)] for slot, count in outputs.items()}
    block.append_op(type=op, inputs=inputs, outputs=made, attrs=attrs)
    return tuple(made.values())


def constant(values, dtype=None):
    """Given values as a variable that takes no gradient."""
    import numpy

    from argosy.fluid import layers

    array = numpy.asarray(values)
    chosen = _core.dtype_name(_core.to_dtype(dtype)) if dtype is not None else "float32" if array.dtype.kind == "f" else array.dtype.name
    held = "float32" if chosen not in ("float32", "int32", "int64", "bool") else chosen  # what assign_value can hold
    made = layers.assign(array.astype(held))
    made = made if held == chosen else layers.cast(made, chosen)
    made.stop_gradient = True
    return made


def sizes_of(x, axes):
    """The sizes of x along axes, numbers where the program knows them and variables elsewhere."""
    from argosy.fluid import layers

    unknown = any(x.shape[axis] < 0 for axis in axes)
    shape: Any = layers.shape(x) if unknown else None
    return [x.shape[axis] if x.shape[axis] >= 0 or shape is None else shape[axis] for axis in axes]
