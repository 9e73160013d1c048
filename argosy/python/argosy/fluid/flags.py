"""FLAGS_*: Paddle's settings of a process. Those that mean something here are read from the environment where they are used."""

import os
import warnings

from argosy import _finite, _flags
from argosy.errors import InvalidArgumentError

__all__ = ["get_flags", "set_flags"]

_values = {}  # what scripts have set


def _honour(name, value):
    if name == _finite.FLAG:
        _finite.asked = _finite.is_on(value)
    if name == "FLAGS_cudnn_deterministic":
        import torch

        torch.backends.cudnn.deterministic = _finite.is_on(value)


def set_flags(flags):
    """Sets FLAGS_*, given as a dict. One that is not known is a warning, and those of the memory and kernels of Paddle's own engine change nothing.

    FLAGS_check_nan_inf: what an operator computes has to be finite; NaN or an infinity is an error that names the operator and the variable. Programs
    then run their operators one by one, which takes longer. FLAGS_cudnn_deterministic: cuDNN's kernels give the same numbers each time.

    >>> paddle.set_flags({"FLAGS_eager_delete_tensor_gb": 1.0})
    >>> paddle.get_flags("FLAGS_eager_delete_tensor_gb")
    {'FLAGS_eager_delete_tensor_gb': 1.0}
    """
    if not isinstance(flags, dict):
        raise TypeError(f"set_flags takes a dict from names to values; found {type(flags).__name__}")
    for name, value in flags.items():
        if not str(name).startswith("FLAGS_"):
            raise InvalidArgumentError(f"set_flags: a flag's name begins with FLAGS_; found {name!r}")
        if not _flags.is_known(name):
            warnings.warn(_flags.unknown_text(name), stacklevel=2)
        if (bare := name.removeprefix(_flags.PREFIX)) in _flags.DETERMINISTIC:
            warnings.warn(f"{name} changes nothing here: {_flags.DETERMINISTIC[bare]}", stacklevel=2)
        try:
            _honour(name, value)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"set_flags: {name}: {error}") from None
        _values[name] = value
        if name.startswith("FLAGS_communicator_"):
            os.environ[name] = str(value)  # where a job's workers look


def get_flags(flags):
    """{name: value} of one flag or a list: what was set, or what the environment says; None of one that nobody has set.

    >>> paddle.get_flags(["FLAGS_check_nan_inf"])
    {'FLAGS_check_nan_inf': None}
    """
    names = [flags] if isinstance(flags, str) else list(flags)
    for name in names:
        if not _flags.is_known(name) and name not in _values:
            raise InvalidArgumentError(f"get_flags: {name} is no flag that is known here")
    return {name: _values.get(name, os.environ.get(name)) for name in names}
