"""Special functions, and norms of parts of a tensor."""
import torch

from argosy.dynamic.calls import computes, same_names
from argosy.errors import InvalidArgumentError

FUNCTIONS = same_names(torch.special, "i0e i1 i1e")


def _public(function):
    FUNCTIONS[function.__name__] = computes(function)
    return function


@_public
def polygamma(x, n):
    """The n-th derivative of digamma."""
    if not isinstance(n, int) or n < 0:
        raise InvalidArgumentError(f"paddle.polygamma: n is a whole number, 0 or more; found {n!r}")
    return torch.polygamma(n, x)


@_public
def multigammaln(x, p):
    """The logarithm of the gamma function of p variables."""
    if p < 1:
        raise InvalidArgumentError(f"paddle.multigammaln: p is 1 or more; found {p}")
    return torch.mvlgamma(x, p)


@_public
def renorm(x, p, axis, max_norm):
    """The parts along an axis, each scaled to a p-norm of at most max_norm."""
    if not -x.dim() <= axis < x.dim():
        raise InvalidArgumentError(f"paddle.renorm: axis is one of {x.dim()}; found {axis}")
    return torch.renorm(x, p, axis, max_norm)


@_public
def fill_diagonal_tensor(x, y, offset=0, dim1=0, dim2=1):
    """x with y on its diagonals."""
    return torch.diagonal_scatter(x, y, offset, dim1, dim2)
