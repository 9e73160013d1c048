"""What scripts for two versions of Python take from paddle.compat."""

import decimal
from typing import Any

__all__ = ["long_type", "to_text", "to_bytes", "round", "floor_division", "get_exception_message"]

long_type = int


def _converted(obj, convert, inplace):
    """`convert` of a text, or of every text in a list or a set."""
    if isinstance(obj, list) and inplace:
        obj[:] = [_converted(one, convert, True) for one in obj]
        return obj
    if isinstance(obj, set) and inplace:
        changed = {_converted(one, convert, True) for one in obj}
        obj.clear()
        obj.update(changed)
        return obj
    if isinstance(obj, (list, set)):
        return type(obj)(_converted(one, convert, False) for one in obj)
    if isinstance(obj, dict):
        changed: Any = {_converted(key, convert, inplace): _converted(value, convert, inplace) for key, value in obj.items()}
        if not inplace:
            return changed
        obj.clear()
        obj.update(changed)
        return obj
    return convert(obj)


def to_text(obj, encoding="utf-8", inplace=False):
    """Bytes as text, also those in lists, sets and dicts; anything else as it is.

    >>> paddle.compat.to_text([b"a", "b", 1])
    ['a', 'b', 1]
    """
    return _converted(obj, lambda one: one.decode(encoding) if isinstance(one, bytes) else one, inplace)


def to_bytes(obj, encoding="utf-8", inplace=False):
    """Texts as bytes, also those in lists, sets and dicts; anything else as it is.

    >>> paddle.compat.to_bytes(["a", b"b"])
    [b'a', b'b']
    """
    return _converted(obj, lambda one: one.encode(encoding) if isinstance(one, str) else one, inplace)


def round(x, d=0):
    """Rounded to d digits, halves away from 0.

    >>> paddle.compat.round(2.5), paddle.compat.round(-0.5)
    (3.0, -1.0)
    """
    return float(decimal.Decimal(repr(x)).quantize(decimal.Decimal(1).scaleb(-d), decimal.ROUND_HALF_UP))


def floor_division(x, y):
    """x // y.

    >>> paddle.compat.floor_division(7, 2)
    3
    """
    return x // y


def get_exception_message(exc):
    """What an exception says.

    >>> paddle.compat.get_exception_message(ValueError("wrong"))
    'wrong'
    """
    return str(exc)
