"""Special functions, common divisors, and norms of parts of a tensor."""

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
    return torch.mvlgamma(x, int(p))


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


@computes
def digamma(x, name=None):
    """The derivative of lgamma at each element of x.

    >>> print(paddle.digamma(paddle.to_tensor([1.0, 2.0])).numpy())
    [-0.5772159  0.4227842]
    """
    return torch.digamma(x)


@computes
def erfinv(x, name=None):
    """The inverse of erf: the y for which erf(y) is the element, which lies in (-1, 1).

    >>> print(paddle.erfinv(paddle.to_tensor([0.0, 0.5])).numpy())
    [0.         0.47693628]
    """
    return torch.erfinv(x)


@computes
def i0(x, name=None):
    """The modified Bessel function of the first kind, of order 0, at each element of x.

    >>> print(paddle.i0(paddle.to_tensor([1.0, 2.0])).numpy())
    [1.266066  2.2795851]
    """
    return torch.i0(x)


@computes
def lgamma(x, name=None):
    """The logarithm of the absolute value of the gamma function at each element of x.

    >>> print(paddle.lgamma(paddle.to_tensor([1.0, 4.0])).numpy())
    [0.        1.7917595]
    """
    return torch.lgamma(x)


@computes
def gcd(x, y, name=None):
    """The greatest common divisor of each pair of whole numbers.

    >>> paddle.gcd(paddle.to_tensor([12, 7]), paddle.to_tensor([18, 5])).tolist()
    [6, 1]
    """
    return torch.gcd(x, y)


@computes
def lcm(x, y, name=None):
    """The least common multiple of each pair of whole numbers.

    >>> paddle.lcm(paddle.to_tensor([4, 7]), paddle.to_tensor([6, 5])).tolist()
    [12, 35]
    """
    return torch.lcm(x, y)


@computes
def nextafter(x, y, name=None):
    """The next number of the type after x in the direction of y.

    >>> bool(paddle.nextafter(paddle.to_tensor([1.0]), paddle.to_tensor([2.0])) > 1.0)
    True
    """
    return torch.nextafter(x, y)
