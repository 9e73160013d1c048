"""data_format: where the channels of images are."""

from argosy.errors import InvalidArgumentError

__all__ = ["channels_behind", "usual"]

_FORMATS = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}  # by the number of axes beside the batch and the channels
_ALL = ("NC", *(name for pair in _FORMATS.values() for name in pair))


def usual(axes):
    """The format with channels in front."""
    return _FORMATS[axes][0]


def channels_behind(data_format, what, axes=None):
    """Whether `data_format` puts the channels last. A name that is no format, or is one of another number of axes, is an error of `what`."""
    known = _ALL if axes is None else _FORMATS[axes]
    if data_format not in known:
        raise InvalidArgumentError(f"{what}: data_format is {' or '.join(map(repr, known))}; found {data_format!r}")
    return data_format != "NC" and data_format.endswith("C")
