"""x[1:, 0] on variables."""
from argosy import _core
from argosy.errors import InvalidArgumentError, UnimplementedError

_TO_THE_END = 10000000  # Paddle's end of a slice that has none


def _items(var, given):
    """An integer or a slice for each of the first axes."""
    given = given if isinstance(given, tuple) else (given,)
    for item in given:
        if not isinstance(item, slice) and item is not Ellipsis and (isinstance(item, bool) or not hasattr(item, "__index__")):
            raise InvalidArgumentError(f"variable '{var.name}' is indexed by integers, slices and '...'; found {type(item).__name__}")
    if any(item is Ellipsis for item in given):
        at = next(place for place, item in enumerate(given) if item is Ellipsis)
        given = given[:at] + (slice(None),) * (len(var.shape) - len(given) + 1) + given[at + 1:]
    if len(given) > len(var.shape):
        raise InvalidArgumentError(f"variable '{var.name}' has shape {list(var.shape)}, but {len(given)} indices were given")
    return given


def _bounds(var, item):
    if not isinstance(item, slice):
        start = int(item)
        return start, start + 1 if start != -1 else _TO_THE_END
    if item.step not in (None, 1):
        raise UnimplementedError(f"variable '{var.name}': a slice takes every element; a step of {item.step} is not there")
    return item.start or 0, _TO_THE_END if item.stop is None else item.stop


def getitem(self, given):
    """Adds a `slice`; an integer takes its axis away."""
    taken = [(axis, item) for axis, item in enumerate(_items(self, given)) if item != slice(None)]
    if not taken:
        return self
    bounds = [_bounds(self, item) for _, item in taken]
    single = [axis for axis, item in taken if not isinstance(item, slice)]
    return _core.slice_of(self, [axis for axis, _ in taken], [start for start, _ in bounds], [end for _, end in bounds], single)


def iterate(self):
    if not self.shape or self.shape[0] < 0:
        raise TypeError(f"variable '{self.name}' of shape {list(self.shape)} cannot be iterated: its first size is known only in a run")
    return (self[i] for i in range(self.shape[0]))
