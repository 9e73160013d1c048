"""Special functions, and norms of parts of a tensor."""
import torch

from argosy.dynamic.calls import computes
from argosy.errors import InvalidArgumentError


@computes
def polygamma(x, n, name=None):
    """The n-th derivative of digamma."""
    if not isinstance(n, int) or n < 0:
        raise InvalidArgumentError(f"paddle.polygamma: n is a whole number, 0 or more; found {n!r}")
    return torch.polygamma(n, x)


@computes
def multigammaln(x, p, name=None):
    """The logarithm of the gamma function of p variables."""
    if p < 1:
        raise InvalidArgumentError(f"paddle.multigammaln: p is 1 or more; found {p}")
    return torch.mvlgamma(x, p)


@computes
def renorm(x, p, axis, max_norm, name=None):
    """The parts along an axis, each scaled to a p-norm of at most max_norm."""
    if not -x.dim() <= axis < x.dim():
        raise InvalidArgumentError(f"paddle.renorm: axis is one of {x.dim()}; found {axis}")
    return torch.renorm(x, p, axis, max_norm)


@computes
def fill_diagonal_tensor(x, y, offset=0, dim1=0, dim2=1, name=None):
    """x with y on its diagonals."""
    return torch.diagonal_scatter(x, y, offset, dim1, dim2)


@computes
def i0e(x, name=None):
    return torch.special.i0e(x)


@computes
def i1(x, name=None):
    return torch.special.i1(x)


@computes
def i1e(x, name=None):
    return torch.special.i1e(x)
