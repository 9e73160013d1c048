"""Pooling layers: the functions of the same names with their arguments kept."""
from argosy.dynamic import functional as F
from argosy.dynamic.functional.formats import channels_behind, usual
from argosy.nn.layer import Layer


def _called(kind, axes):
    """MaxPool2D, MaxUnPool2D."""
    return f"{kind}Pool{axes}D"


__all__ = [_called(kind, axes) for kind in ("Max", "Avg", "AdaptiveAvg", "AdaptiveMax", "MaxUn") for axes in (1, 2, 3)]


class _Pool(Layer):
    _function = None

    def _checked(self, data_format):
        channels_behind(data_format or usual(self._axes), type(self).__name__, self._axes)
        return data_format or usual(self._axes)

    def forward(self, x):
        return type(self)._function(x, **self._arguments)

    def extra_repr(self):
        shown = {"kernel_size": "kernel_size", "stride": "stride", "padding": "padding", "output_size": "output_size"}
        return ", ".join(f"{name}={self._arguments[key]}" for key, name in shown.items() if key in self._arguments)


class _Max(_Pool):
    _axes = 2

    def __init__(self, kernel_size, stride=None, padding=0, return_mask=False, ceil_mode=False, data_format=None, name=None):
        super().__init__()
        self._arguments = {"kernel_size": kernel_size, "stride": stride, "padding": padding, "return_mask": return_mask, "ceil_mode": ceil_mode,
                           "data_format": self._checked(data_format)}


class _Average(_Pool):
    _axes = 2

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, exclusive=True, divisor_override=None, data_format=None, name=None):
        super().__init__()
        self._arguments = {"kernel_size": kernel_size, "stride": stride, "padding": padding, "ceil_mode": ceil_mode, "exclusive": exclusive,
                           "divisor_override": divisor_override, "data_format": self._checked(data_format)}


class _Average1D(_Average):
    def __init__(self, kernel_size, stride=None, padding=0, exclusive=True, ceil_mode=False, name=None):
        super().__init__(kernel_size, stride, padding, ceil_mode, exclusive, None, "NCL")


class _AdaptiveAverage(_Pool):
    _axes = 2

    def __init__(self, output_size, data_format=None, name=None):
        super().__init__()
        self._arguments = {"output_size": output_size, "data_format": self._checked(data_format)}


class _AdaptiveMax(_Pool):
    _axes = 2

    def __init__(self, output_size, return_mask=False, name=None):
        super().__init__()
        self._arguments = {"output_size": output_size, "return_mask": return_mask}


class _MaxUn(_Pool):
    _axes = 2

    def __init__(self, kernel_size, stride=None, padding=0, data_format=None, output_size=None, name=None):
        super().__init__()
        self._arguments = {"kernel_size": kernel_size, "stride": stride, "padding": padding, "data_format": self._checked(data_format),
                           "output_size": output_size}

    def forward(self, x, indices):
        return type(self)._function(x, indices, **self._arguments)


def _made(kind, base, axes):
    base = _Average1D if kind == "Avg" and axes == 1 else base
    function = {"Max": "max_", "Avg": "avg_", "AdaptiveAvg": "adaptive_avg_", "AdaptiveMax": "adaptive_max_", "MaxUn": "max_un"}[kind]
    members = {"_axes": axes, "_function": staticmethod(getattr(F, f"{function}pool{axes}d")), "__module__": __name__}
    return type(_called(kind, axes), (base,), members)


globals().update({_called(kind, axes): _made(kind, base, axes) for axes in (1, 2, 3)
                  for kind, base in (("Max", _Max), ("Avg", _Average), ("AdaptiveAvg", _AdaptiveAverage), ("AdaptiveMax", _AdaptiveMax),
                                    ("MaxUn", _MaxUn))})
