"""Special functions, and norms of parts of a tensor."""
import torch

from argosy.dynamic.calls import computes
from argosy.errors import InvalidArgumentError


@computes
def polygamma(x, n, name=None):
    """The n-th derivative of digamma at each element of x; n is a whole number, 0 or more.

    >>> print(paddle.polygamma(paddle.to_tensor([1.0]), 1).numpy())
    [1.644934]
    """
    if not isinstance(n, int) or n < 0:
        raise InvalidArgumentError(f"paddle.polygamma: n is a whole number, 0 or more; found {n!r}")
    return torch.polygamma(n, x)


@computes
def multigammaln(x, p, name=None):
    """The logarithm of the gamma function of p variables at each element of x.

    >>> print(paddle.multigammaln(paddle.to_tensor([2.0]), 2).numpy())
    [0.4515827]
    """
    if p < 1:
        raise InvalidArgumentError(f"paddle.multigammaln: p is 1 or more; found {p}")
    return torch.mvlgamma(x, p)


@computes
def renorm(x, p, axis, max_norm, name=None):
    """x with the parts along `axis` scaled down to a p-norm of at most max_norm.

    >>> print(paddle.renorm(paddle.to_tensor([[3.0, 4.0], [0.3, 0.4]]), p=2.0, axis=0, max_norm=1.0).numpy())
    [[0.6 0.8]
     [0.3 0.4]]
    """
    if not -x.dim() <= axis < x.dim():
        raise InvalidArgumentError(f"paddle.renorm: axis is one of {x.dim()}; found {axis}")
    return torch.renorm(x, p, axis, max_norm)


@computes
def fill_diagonal_tensor(x, y, offset=0, dim1=0, dim2=1, name=None):
    """x with the elements of y on its diagonal between axes dim1 and dim2, `offset` places above the main one.

    >>> paddle.fill_diagonal_tensor(paddle.zeros([2, 2]), paddle.to_tensor([1.0, 2.0])).tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    return torch.diagonal_scatter(x, y, offset, dim1, dim2)


@computes
def i0e(x, name=None):
    """i0(x) * exp(-|x|): the modified Bessel function of order 0, scaled so that it does not overflow.

    >>> print(paddle.i0e(paddle.to_tensor([1.0, 2.0])).numpy())
    [0.46575963 0.3085083 ]
    """
    return torch.special.i0e(x)


@computes
def i1(x, name=None):
    """The modified Bessel function of the first kind, of order 1, at each element of x.

    >>> print(paddle.i1(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.        0.5651591]
    """
    return torch.special.i1(x)


@computes
def i1e(x, name=None):
    """i1(x) * exp(-|x|): the modified Bessel function of order 1, scaled so that it does not overflow.

    >>> print(paddle.i1e(paddle.to_tensor([0.0, 1.0])).numpy())
    [0.         0.20791042]
    """
    return torch.special.i1e(x)
