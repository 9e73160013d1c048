"""paddle.linalg on tensors."""

import torch

from argosy.dynamic.calls import computes
from argosy.dynamic.search import cholesky, inverse, matmul, norm

__all__ = [
    "cholesky",
    "cond",
    "det",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "triangular_solve",
]

inv = inverse


@computes
def det(x, name=None):
    """The determinant of a square matrix, or of each of several.

    >>> print(paddle.linalg.det(paddle.to_tensor([[2.0, 0.0], [0.0, 3.0]])).numpy())
    6.0
    """
    return torch.linalg.det(x)


@computes
def slogdet(x, name=None):
    """(sign, logarithm of the absolute value) of the determinant.

    >>> sign, logarithm = paddle.linalg.slogdet(paddle.to_tensor([[-1.0, 0.0], [0.0, 1.0]]))
    >>> sign.item(), logarithm.item()
    (-1.0, 0.0)
    """
    return tuple(torch.linalg.slogdet(x))


@computes
def matrix_power(x, n, name=None):
    """A square matrix times itself, n factors; of its inverse where n is below 0.

    >>> paddle.linalg.matrix_power(paddle.to_tensor([[2.0, 0.0], [0.0, 3.0]]), 2).tolist()
    [[4.0, 0.0], [0.0, 9.0]]
    """
    return torch.linalg.matrix_power(x, n)


@computes
def matrix_rank(x, tol=None, hermitian=False, name=None):
    """The number of singular values above `tol`; hermitian: of absolute eigenvalues.

    >>> paddle.linalg.matrix_rank(paddle.to_tensor([[1.0, 1.0], [1.0, 1.0]])).item()
    1
    """
    return torch.linalg.matrix_rank(x, atol=tol, hermitian=hermitian)


@computes
def pinv(x, rcond=None, hermitian=False, name=None):
    """The pseudo-inverse of a matrix; singular values below rcond times the largest count as 0. hermitian: by its eigenvalues.

    >>> print(paddle.linalg.pinv(paddle.to_tensor([[2.0], [0.0]])).numpy())
    [[0.5 0. ]]
    """
    return torch.linalg.pinv(x, rtol=rcond, hermitian=hermitian)


@computes
def solve(x, y, name=None):
    """The z for which x @ z = y, of a square matrix x.

    >>> paddle.linalg.solve(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]]), paddle.to_tensor([[2.0], [2.0]])).tolist()
    [[1.0], [0.5]]
    """
    return torch.linalg.solve(x, y)


@computes
def eig(x, name=None):
    """(eigenvalues, eigenvectors as columns) of a square matrix; both are complex.

    >>> values, vectors = paddle.linalg.eig(paddle.to_tensor([[2.0, 0.0], [0.0, 3.0]]))
    >>> print(values.numpy())
    [2.+0.j 3.+0.j]
    """
    return tuple(torch.linalg.eig(x))


@computes
def eigh(x, UPLO="L", name=None):
    """(eigenvalues upwards, eigenvectors as columns) of a symmetric matrix, of which the lower triangle counts, or the upper one where UPLO is 'U'.

    >>> values, vectors = paddle.linalg.eigh(paddle.to_tensor([[2.0, 0.0], [0.0, 3.0]]))
    >>> print(values.numpy())
    [2. 3.]
    """
    return tuple(torch.linalg.eigh(x, UPLO))


@computes
def eigvals(x, name=None):
    """The eigenvalues of a square matrix, which are complex.

    >>> print(paddle.linalg.eigvals(paddle.to_tensor([[2.0, 0.0], [0.0, 3.0]])).numpy())
    [2.+0.j 3.+0.j]
    """
    return torch.linalg.eigvals(x)


@computes
def eigvalsh(x, UPLO="L", name=None):
    """The eigenvalues, upwards, of a symmetric matrix, of which the lower triangle counts, or the upper one where UPLO is 'U'.

    >>> print(paddle.linalg.eigvalsh(paddle.to_tensor([[2.0, 0.0], [0.0, 3.0]])).numpy())
    [2. 3.]
    """
    return torch.linalg.eigvalsh(x, UPLO)


@computes
def qr(x, mode="reduced", name=None):
    """(Q, R) of a matrix: columns at right angles and an upper triangle, whose product it is. mode is reduced, complete or r, which gives R alone.

    >>> q, r = paddle.linalg.qr(paddle.ones([3, 2]))
    >>> q.shape, r.shape
    ([3, 2], [2, 2])
    """
    return torch.linalg.qr(x, mode).R if mode == "r" else tuple(torch.linalg.qr(x, mode))


@computes
def cond(x, p=None, name=None):
    """The condition number of a matrix by the norm p: 2 where None; 'fro', 'nuc', inf, -inf, 1, -1, 2 or -2.

    >>> print(paddle.linalg.cond(paddle.to_tensor([[2.0, 0.0], [0.0, 1.0]])).numpy())
    2.0
    """
    return torch.linalg.cond(x, p)


@computes
def multi_dot(x, name=None):
    """The product of several matrices, in the order that takes least work.

    >>> paddle.linalg.multi_dot([paddle.ones([2, 3]), paddle.ones([3, 4]), paddle.ones([4, 5])]).shape
    [2, 5]
    """
    return torch.linalg.multi_dot(list(x))


@computes
def lstsq(x, y, rcond=None, driver=None, name=None):
    """(solution, residuals, rank, singular values) of the least squares problem min |x @ solution - y|.

    >>> solution = paddle.linalg.lstsq(paddle.to_tensor([[1.0], [1.0]]), paddle.to_tensor([[1.0], [3.0]]))[0]
    >>> print(solution.numpy())
    [[1.9999999]]
    """
    return tuple(torch.linalg.lstsq(x, y, rcond, driver=driver))


@computes
def svd(x, full_matrices=False, name=None):
    """(U, S, V transposed) with U @ diag(S) @ V transposed the matrix, S downwards; full_matrices makes U and V square.

    >>> u, s, vh = paddle.linalg.svd(paddle.to_tensor([[3.0, 0.0], [0.0, 2.0]]))
    >>> print(s.numpy())
    [3. 2.]
    """
    return tuple(torch.linalg.svd(x, full_matrices))


@computes
def triangular_solve(x, y, upper=True, transpose=False, unitriangular=False, name=None):
    """The z for which x @ z = y, or x.T @ z = y where transpose, of an upper triangle x, or a lower one; unitriangular takes its diagonal as ones.

    >>> x, y = paddle.to_tensor([[1.0, 1.0], [0.0, 2.0]]), paddle.to_tensor([[3.0], [4.0]])
    >>> paddle.linalg.triangular_solve(x, y).tolist()
    [[1.0], [2.0]]
    """
    return torch.linalg.solve_triangular(x.mT if transpose else x, y, upper=upper != transpose, unitriangular=unitriangular)
