"""Pooling."""
from torch.nn import functional

from argosy.dynamic.calls import computes
from argosy.dynamic.functional.convolution import numbers, padded, padding_of, same_widths
from argosy.dynamic.functional.formats import channels_behind, usual
from argosy.errors import InvalidArgumentError

FUNCTIONS = {}


def _formed(x, axes, data_format, what):
    """(x with its channels in front, whether they were behind)."""
    behind = channels_behind(data_format, what, axes)
    return (x.movedim(-1, 1) if behind else x), behind


def _widths(x, kernel, stride, padding, axes, what):
    widths, same = padding_of(padding, axes, what)
    return same_widths(x.shape[2:], kernel, stride, [1] * axes) if same else widths


def _max(axes, of_torch):
    def function(x, kernel_size, stride=None, padding=0, return_mask=False, ceil_mode=False, data_format=usual(axes)):
        x, behind = _formed(x, axes, data_format, function.__name__)
        kernel = numbers(kernel_size, axes)
        stride = kernel if stride is None else numbers(stride, axes)
        x, even = padded(x, _widths(x, kernel, stride, padding, axes, function.__name__), float("-inf"))
        found = of_torch(x, kernel, stride, even, 1, ceil_mode, return_mask)
        parts = [found[0], found[1].int()] if return_mask else [found]
        parts = [one.movedim(1, -1) if behind else one for one in parts]
        return tuple(parts) if return_mask else parts[0]
    function.__name__ = function.__qualname__ = f"max_pool{axes}d"
    FUNCTIONS[function.__name__] = computes(function)


def _average(axes, of_torch):
    def function(x, kernel_size, stride=None, padding=0, ceil_mode=False, exclusive=True, divisor_override=None, data_format=usual(axes)):
        x, behind = _formed(x, axes, data_format, function.__name__)
        kernel = numbers(kernel_size, axes)
        stride = kernel if stride is None else numbers(stride, axes)
        widths = _widths(x, kernel, stride, padding, axes, function.__name__)
        uneven = any(before != after for before, after in widths)
        if uneven and exclusive:
            raise InvalidArgumentError(f"{function.__name__}: with exclusive=True padding is the same before and after each axis here; found {padding!r}")
        x, even = padded(x, widths)
        options = {} if axes == 1 else {"divisor_override": divisor_override}
        found = of_torch(x, kernel, stride, even, ceil_mode, not exclusive, **options)
        return found.movedim(1, -1) if behind else found
    function.__name__ = function.__qualname__ = f"avg_pool{axes}d"
    FUNCTIONS[function.__name__] = computes(function)


def _adaptive(name, axes, of_torch):
    def function(x, output_size, data_format=usual(axes)):
        x, behind = _formed(x, axes, data_format, function.__name__)
        sizes = [output_size] * axes if isinstance(output_size, int) or output_size is None else list(output_size)
        found = of_torch(x, [have if want is None else want for want, have in zip(sizes, x.shape[2:])])
        return found.movedim(1, -1) if behind else found
    function.__name__ = function.__qualname__ = name
    FUNCTIONS[name] = computes(function)


def _adaptive_max(axes, of_torch):
    def function(x, output_size, return_mask=False):
        sizes = [output_size] * axes if isinstance(output_size, int) or output_size is None else list(output_size)
        found = of_torch(x, [have if want is None else want for want, have in zip(sizes, x.shape[2:])], return_mask)
        return (found[0], found[1].int()) if return_mask else found
    function.__name__ = function.__qualname__ = f"adaptive_max_pool{axes}d"
    FUNCTIONS[function.__name__] = computes(function)


for _axes in (1, 2, 3):
    _max(_axes, getattr(functional, f"max_pool{_axes}d"))
    _average(_axes, getattr(functional, f"avg_pool{_axes}d"))
    _adaptive(f"adaptive_avg_pool{_axes}d", _axes, getattr(functional, f"adaptive_avg_pool{_axes}d"))
    _adaptive_max(_axes, getattr(functional, f"adaptive_max_pool{_axes}d"))
