"""x[1:, 0] on variables."""

from argosy import _core
from argosy.errors import InvalidArgumentError, UnimplementedError

_TO_THE_END = 10000000  # Paddle's end of a slice that has none
_KINDS = "integers, slices, '...', None, variables of positions or booleans, and lists of positions"


def _is_picking(item):
    """Whether an item has positions, or booleans, of its own: a variable, a list or an array."""
    return isinstance(item, (_core.Variable, list)) or (hasattr(item, "__array__") and getattr(item, "ndim", 0) > 0)


def _check(var, item):
    plain = isinstance(item, slice) or item is None or item is Ellipsis or _is_picking(item)
    if not plain and (isinstance(item, bool) or not hasattr(item, "__index__")):
        raise InvalidArgumentError(f"variable '{var.name}' is indexed by {_KINDS}; found {type(item).__name__}")


def _items(var, given):
    """An item for each of the first axes, and None for each new one."""
    given = given if isinstance(given, tuple) else (given,)
    for item in given:
        _check(var, item)
    used = sum(item is not None and item is not Ellipsis for item in given)
    if any(item is Ellipsis for item in given):
        at = next(place for place, item in enumerate(given) if item is Ellipsis)
        given = given[:at] + (slice(None),) * (len(var.shape) - used) + given[at + 1 :]
    if used > len(var.shape):
        raise InvalidArgumentError(f"variable '{var.name}' has shape {list(var.shape)}, but {used} indices were given")
    return given


def _bounds(item):
    if not isinstance(item, slice):
        start = int(item)
        return start, start + 1 if start != -1 else _TO_THE_END
    return 0 if item.start is None else item.start, _TO_THE_END if item.stop is None else item.stop


def _sliced(var, items):
    """What integers and slices of step 1 leave; an integer takes its axis away."""
    taken = [(axis, item) for axis, item in enumerate(items) if not _is_picking(item) and not _whole(item)]
    if not taken:
        return var
    bounds = [_bounds(item) for _, item in taken]
    axes, starts, ends = [axis for axis, _ in taken], [start for start, _ in bounds], [end for _, end in bounds]
    single = [axis for axis, item in taken if not isinstance(item, slice)]
    if not any(isinstance(bound, _core.Variable) for bound in (*starts, *ends)):
        return _core.slice_of(var, axes, [int(start) for start in starts], [int(end) for end in ends], single)
    from argosy.fluid import layers

    found = layers.slice(var, axes, starts, ends)
    return layers.squeeze(found, single) if single else found


def _whole(item):
    return isinstance(item, slice) and item.start is None and item.stop is None


def _stepped(var, items):
    """Slices with a step of their own; those without are left to _sliced."""
    taken = [(axis, item) for axis, item in enumerate(items) if isinstance(item, slice) and item.step not in (None, 1)]
    if not taken:
        return var, items
    from argosy.fluid import layers

    for axis, item in taken:
        if item.step == -1 and _whole(slice(item.start, item.stop)):
            var = layers.reverse(var, axis)
        elif item.step > 0:
            start, end = _bounds(item)
            var = layers.strided_slice(var, [axis], [start], [end], [item.step])
        else:
            raise UnimplementedError(f"variable '{var.name}': a slice has a step above 0, or is [::-1]; found {item.step}")
    return var, [slice(None) if any(axis == one for one, _ in taken) else item for axis, item in enumerate(items)]


def _picked(var, items):
    """Elements along one axis by positions, or by booleans; along the first axes by several variables of positions."""
    at = [place for place, item in enumerate(items) if _is_picking(item)]
    if not at:
        return var
    from argosy import tensor
    from argosy.building.operators import constant
    from argosy.fluid import layers

    axis = at[0] - sum(not isinstance(item, slice) and not _is_picking(item) for item in items[: at[0]])
    chosen = [items[place] if isinstance(items[place], _core.Variable) else constant(items[place]) for place in at]
    booleans = [one.dtype == _core.to_dtype("bool") for one in chosen]
    if len(chosen) > 1:
        if axis != 0 or at != list(range(at[0], at[0] + len(at))) or any(booleans):
            raise UnimplementedError(f"variable '{var.name}': several variables of an index are positions along the first axes")
        return layers.gather_nd(var, layers.stack([layers.cast(one, "int64") for one in chosen], axis=-1))
    if booleans[0]:
        if axis != 0:
            raise UnimplementedError(f"variable '{var.name}': booleans choose along the first axes; found them at axis {axis}")
        return layers.gather_nd(var, tensor.nonzero(chosen[0]))
    if len(chosen[0].shape) <= 1:
        return tensor.gather(var, chosen[0], axis)
    flat = tensor.gather(var, layers.reshape(chosen[0], [-1]), axis)
    sizes = [*var.shape[:axis], *chosen[0].shape, *var.shape[axis + 1 :]]
    return layers.reshape(flat, sizes)


def getitem(self, given):
    """Adds slices, gathers and new axes; an integer takes its axis away."""
    items = _items(self, given)
    new, places = [], 0
    for item in items:
        if item is None:
            new.append(places)
        places += item is None or isinstance(item, slice) or _is_picking(item)
    found, items = _stepped(self, [item for item in items if item is not None])
    found = _picked(_sliced(found, items), items)
    if not new:
        return found
    from argosy.fluid import layers

    return layers.unsqueeze(found, new)


def iterate(self):
    if not self.shape or self.shape[0] < 0:
        raise TypeError(f"variable '{self.name}' of shape {list(self.shape)} cannot be iterated: its first size is known only in a run")
    return (self[i] for i in range(self.shape[0]))
