"""16-bit training of programs; the substitute is named."""

from argosy.errors import UnimplementedError

__all__ = ["decorate"]


def decorate(optimizer, *args, **kwargs):
    """An error that names its substitute: programs train in 32 bits.

    >>> try:
    ...     fluid.contrib.mixed_precision.decorate(fluid.optimizer.SGD(0.1))
    ... except NotImplementedError as error:
    ...     print(str(error).split(":")[0])
    fluid.contrib.mixed_precision.decorate
    """
    raise UnimplementedError(
        "fluid.contrib.mixed_precision.decorate: programs train in float32; in the dynamic graph paddle.amp.auto_cast(dtype='bfloat16') computes in 16 bits"
    )
