"""The way back from max pooling: values return to where their maxima were, and the rest is 0."""

from torch.nn import functional

from argosy.dynamic.calls import computes, named
from argosy.dynamic.functional.convolution import numbers, padding_of
from argosy.dynamic.functional.formats import usual
from argosy.errors import InvalidArgumentError


def _even_widths(padding, axes, what):
    widths, same = padding_of(padding, axes, what)
    if same or any(before != after for before, after in widths):
        raise InvalidArgumentError(f"{what}: padding is a number, or one an axis; found {padding!r}")
    return [before for before, _ in widths]


def _output(given, smallest, stride, what):
    """The sizes asked for, which are nearer than a stride to those of the windows; with the batch and the channels, or without."""
    if given is None:
        return smallest
    if not isinstance(given, (list, tuple)) or len(given) not in (len(smallest), len(smallest) + 2):
        raise InvalidArgumentError(f"{what}: output_size has {len(smallest)} or {len(smallest) + 2} sizes; found {given!r}")
    wanted = [int(size) for size in given][-len(smallest) :]
    for axis, (size, usual_size, step) in enumerate(zip(wanted, smallest, stride)):
        if not usual_size - step < size < usual_size + step:
            raise InvalidArgumentError(f"{what}: output_size of axis {axis} is between {usual_size - step} and {usual_size + step}; found {size}")
    return wanted


def _unpool(axes, of_torch, doc=None):
    what = f"max_unpool{axes}d"

    def function(x, indices, kernel_size, stride=None, padding=0, data_format=usual(axes), output_size=None, name=None):
        if data_format != usual(axes):
            raise InvalidArgumentError(f"{what}: data_format is {usual(axes)!r}; found {data_format!r}")
        if x.dim() != axes + 2 or indices.shape != x.shape:
            raise InvalidArgumentError(f"{what}: x and indices are {usual(axes)} of one shape; found {list(x.shape)} and {list(indices.shape)}")
        kernel = numbers(kernel_size, axes)
        stride = kernel if stride is None else numbers(stride, axes)
        widths = _even_widths(padding, axes, what)
        smallest = [(size - 1) * s + k - 2 * w for size, s, k, w in zip(x.shape[2:], stride, kernel, widths)]
        return of_torch(x, indices.long(), kernel, stride, widths, _output(output_size, smallest, stride, what))

    return computes(named(function, what, doc))


max_unpool1d = _unpool(
    1,
    functional.max_unpool1d,
    """Values back at the places that max_pool1d(return_mask=True) took them from, and 0 elsewhere.

    >>> values, places = F.max_pool1d(paddle.to_tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2, return_mask=True)
    >>> F.max_unpool1d(values, places, 2).tolist()
    [[[0.0, 3.0, 2.0, 0.0]]]
    """,
)
max_unpool2d = _unpool(
    2,
    functional.max_unpool2d,
    """Values back at the places that max_pool2d(return_mask=True) took them from, and 0 elsewhere.

    >>> values, places = F.max_pool2d(paddle.to_tensor([[[[1.0, 3.0], [2.0, 0.0]]]]), 2, return_mask=True)
    >>> F.max_unpool2d(values, places, 2).tolist()
    [[[[0.0, 3.0], [0.0, 0.0]]]]
    """,
)
max_unpool3d = _unpool(
    3,
    functional.max_unpool3d,
    """Values back at the places that max_pool3d(return_mask=True) took them from, and 0 elsewhere.

    >>> values, places = F.max_pool3d(paddle.ones([1, 1, 2, 2, 2]), 2, return_mask=True)
    >>> F.max_unpool3d(values, places, 2).shape
    [1, 1, 2, 2, 2]
    """,
)
