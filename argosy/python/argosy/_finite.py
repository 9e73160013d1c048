"""FLAGS_check_nan_inf: what operators compute has to be finite, in programs (the executors look) and in the dynamic graph (check, watched_backward)."""

import contextlib
import os
import sys

from argosy.errors import FailedPreconditionError, InvalidArgumentError

FLAG = "FLAGS_check_nan_inf"
_YES, _NO = ("1", "true", "yes", "on", "y", "t"), ("", "0", "false", "no", "off", "n", "f")
_BETWEEN = ("__init__", "wrap", "<listcomp>", "<genexpr>", "<dictcomp>", "<lambda>", "check")  # frames between a function and its result
_GIVEN = ("to_tensor", "torch_of", "grad", "detach", "load", "__setstate__")  # these compute nothing


def is_on(value):
    """Whether a flag's value, of a script or the environment, is yes.

    >>> from argosy import _finite
    >>> _finite.is_on("1"), _finite.is_on("False"), _finite.is_on(True), _finite.is_on(None)
    (True, False, True, False)
    """
    word = "" if value is None else str(value).strip().lower()
    if word not in (*_YES, *_NO):
        raise InvalidArgumentError(f"a flag that is on or off: found {value!r}, expected 1 or 0, true or false")
    return word in _YES


try:
    asked = is_on(os.environ.get(FLAG))
except InvalidArgumentError as error:
    raise InvalidArgumentError(f"{FLAG}: {error}") from None


def check(tensor, name_of):
    """Raises for a torch tensor of the dynamic graph that is not finite, with the name of the function that computed it. name_of() is the tensor's."""
    if not (tensor.is_floating_point() or tensor.is_complex()) or tensor.is_meta:
        return
    values = tensor.detach()
    if bool(values.isfinite().all()):
        return
    frame = sys._getframe(1)
    while frame.f_code.co_name in _BETWEEN and frame.f_back is not None:
        frame = frame.f_back
    function = frame.f_code.co_name
    if function == "called":  # of argosy.dynamic.calls
        function = getattr(frame.f_locals.get("function"), "__name__", function)
    if function not in _GIVEN:
        raise FailedPreconditionError(
            f"{function}: tensor '{name_of()}' has {int(values.isnan().sum())} NaN and {int(values.isinf().sum())} infinite of {values.numel()} values "
            f"({FLAG} is set)"
        )


@contextlib.contextmanager
def watched_backward():
    """Inside, a gradient that is NaN is an error that names the function whose gradient it is, as torch says it."""
    if not asked:
        yield
        return
    import torch

    try:
        with torch.autograd.set_detect_anomaly(True, check_nan=True):
            yield
    except RuntimeError as error:
        if "returned nan values" not in str(error):
            raise
        raise FailedPreconditionError(f"backward: {error} ({FLAG} is set)") from error
