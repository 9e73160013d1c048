"""Special functions, matrices, counts and places: one operator each."""

from argosy import _core
from argosy import tensor as T
from argosy.building.operators import append
from argosy.errors import InvalidArgumentError
from argosy.fluid import layers

__all__ = [
    "angle",
    "digamma",
    "erfinv",
    "lgamma",
    "poisson",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "atan2",
    "nextafter",
    "gcd",
    "lcm",
    "polygamma",
    "multigammaln",
    "inverse",
    "cholesky",
    "imag",
    "bincount",
    "histogram",
    "cummax",
    "cummin",
    "mode",
    "unique",
    "unique_consecutive",
    "as_strided",
    "unfold",
    "renorm",
    "index_put",
    "fill_diagonal_tensor",
]


def _unary(op):
    def function(x, name=None):
        return append(op, {"X": x}, {"Out": x.dtype}, {}, name)[0]

    function.__name__ = op
    return function


angle, digamma, erfinv, lgamma = map(_unary, ("angle", "digamma", "erfinv", "lgamma"))
i0, i0e, i1, i1e = map(_unary, ("i0", "i0e", "i1", "i1e"))


def poisson(x, name=None):
    return append("poisson", {"X": x}, {"Out": x.dtype}, {}, name)[0]


def imag(x, name=None):
    raise InvalidArgumentError(f"imag: takes complex numbers, which programs do not have; '{x.name}' is {_core.dtype_name(x.dtype)}")


def atan2(x, y, name=None):
    x, y = (layers.cast(one, "float64") if _core.dtype_name(one.dtype).startswith("int") else one for one in (x, y))
    return append("atan2", {"X1": x, "X2": y}, {"Out": x.dtype}, {}, name)[0]


def _pair(op):
    def function(x, y, name=None):
        return append(op, {"x": x, "y": y}, {"Out": x.dtype}, {}, name)[0]

    function.__name__ = op
    return function


nextafter, gcd, lcm = map(_pair, ("nextafter", "gcd", "lcm"))


def polygamma(x, n, name=None):
    if not isinstance(n, int) or n < 0:
        raise InvalidArgumentError(f"paddle.polygamma: n is a whole number, 0 or more; found {n!r}")
    return append("polygamma", {"X": x}, {"Out": x.dtype}, {"n": n}, name)[0]


def multigammaln(x, p, name=None):
    import math

    if p < 1:
        raise InvalidArgumentError(f"paddle.multigammaln: p is 1 or more; found {p}")
    p = int(p)
    return T.add_n([lgamma(x - 0.5 * i) for i in range(p)]) + p * (p - 1) / 4 * math.log(math.pi)


def inverse(x, name=None):
    return append("inverse", {"Input": x}, {"Output": x.dtype}, {}, name)[0]


def cholesky(x, upper=False, name=None):
    return append("cholesky", {"X": x}, {"Out": x.dtype}, {"upper": bool(upper)}, name)[0]


def bincount(x, weights=None, minlength=0, name=None):
    given = {} if weights is None else {"Weights": weights}
    return append("bincount", {"X": x, **given}, {"Out": "int64" if weights is None else weights.dtype}, {"minlength": minlength}, name)[0]


def histogram(input, bins=100, min=0, max=0, name=None):
    return append("histogram", {"X": input}, {"Out": "int64"}, {"bins": int(bins), "min": int(min), "max": int(max)}, name)[0]


def _number_of(dtype):
    return int(_core.to_dtype(dtype))  # pyright: ignore[reportArgumentType, reportCallIssue]  # an enumeration


def _running(op):
    def function(x, axis=None, dtype="int64", name=None):
        x, axis = (layers.reshape(x, [-1]), 0) if axis is None else (x, axis)
        return append(op, {"x": x}, {"out": x.dtype, "indices": dtype}, {"axis": axis, "dtype": _number_of(dtype)}, name)

    function.__name__ = op
    return function


cummax, cummin = map(_running, ("cummax", "cummin"))


def mode(x, axis=-1, keepdim=False, name=None):
    return append("mode", {"X": x}, {"Out": x.dtype, "Indices": "int64"}, {"axis": axis, "keepdim": bool(keepdim)}, name)


def _asked(found, wanted):
    chosen = [found[0], *(part for part, asked in zip(found[1:], wanted, strict=True) if asked)]
    return tuple(chosen) if len(chosen) > 1 else chosen[0]


def unique(x, return_index=False, return_inverse=False, return_counts=False, axis=None, dtype="int64", name=None):
    asked = {"return_index": bool(return_index), "return_inverse": bool(return_inverse), "return_counts": bool(return_counts)}
    attrs = {"dtype": _number_of(dtype), "is_sorted": True, "axis": [] if axis is None else [axis], **asked}
    found = append("unique", {"X": x}, {"Out": x.dtype, "Indices": dtype, "Index": dtype, "Counts": dtype}, attrs, name)
    return _asked(found, asked.values())


def unique_consecutive(x, return_inverse=False, return_counts=False, axis=None, dtype="int64", name=None):
    asked = {"return_inverse": bool(return_inverse), "return_counts": bool(return_counts)}
    attrs = {"dtype": _number_of(dtype), "axis": [] if axis is None else [axis], **asked}
    return _asked(append("unique_consecutive", {"X": x}, {"Out": x.dtype, "Index": dtype, "Counts": dtype}, attrs, name), asked.values())


def as_strided(x, shape, stride, offset=0, name=None):
    return append("as_strided", {"input": x}, {"out": x.dtype}, {"dims": list(shape), "stride": list(stride), "offset": offset}, name)[0]


def unfold(x, axis, size, step, name=None):
    return append("tensor_unfold", {"input": x}, {"out": x.dtype}, {"axis": axis, "size": size, "step": step}, name)[0]


def renorm(x, p, axis, max_norm, name=None):
    return append("renorm", {"X": x}, {"Out": x.dtype}, {"p": float(p), "axis": axis, "max_norm": float(max_norm)}, name)[0]


def index_put(x, indices, value, accumulate=False, name=None):
    return append("index_put", {"x": x, "indices": list(indices), "value": value}, {"out": x.dtype}, {"accumulate": bool(accumulate)}, name)[0]


def fill_diagonal_tensor(x, y, offset=0, dim1=0, dim2=1, name=None):
    return append("fill_diagonal_tensor", {"X": x, "Y": y}, {"Out": x.dtype}, {"offset": offset, "dim1": dim1, "dim2": dim2}, name)[0]
