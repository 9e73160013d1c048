"""paddle.linalg on tensors."""
import torch

from argosy.dynamic.calls import computes
from argosy.dynamic.search import cholesky, inverse, matmul, norm

__all__ = ["cholesky", "cond", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "matmul", "matrix_power", "matrix_rank", "multi_dot", "norm",
           "pinv", "qr", "slogdet", "solve", "svd", "triangular_solve"]

inv = inverse


@computes
def det(x, name=None):
    return torch.linalg.det(x)


@computes
def slogdet(x, name=None):
    return tuple(torch.linalg.slogdet(x))


@computes
def matrix_power(x, n, name=None):
    return torch.linalg.matrix_power(x, n)


@computes
def matrix_rank(x, tol=None, hermitian=False, name=None):
    return torch.linalg.matrix_rank(x, tol, hermitian)


@computes
def pinv(x, rcond=None, hermitian=False, name=None):
    return torch.linalg.pinv(x, rtol=rcond, hermitian=hermitian)


@computes
def solve(x, y, name=None):
    return torch.linalg.solve(x, y)


@computes
def eig(x, name=None):
    return tuple(torch.linalg.eig(x))


@computes
def eigh(x, UPLO="L", name=None):
    return tuple(torch.linalg.eigh(x, UPLO))


@computes
def eigvals(x, name=None):
    return torch.linalg.eigvals(x)


@computes
def eigvalsh(x, UPLO="L", name=None):
    return torch.linalg.eigvalsh(x, UPLO)


@computes
def qr(x, mode="reduced", name=None):
    return torch.linalg.qr(x, mode).R if mode == "r" else tuple(torch.linalg.qr(x, mode))


@computes
def cond(x, p=None, name=None):
    return torch.linalg.cond(x, p)


@computes
def multi_dot(x, name=None):
    return torch.linalg.multi_dot(list(x))


@computes
def lstsq(x, y, rcond=None, driver=None, name=None):
    return tuple(torch.linalg.lstsq(x, y, rcond, driver=driver))


@computes
def svd(x, full_matrices=False, name=None):
    return tuple(torch.linalg.svd(x, full_matrices))


@computes
def triangular_solve(x, y, upper=True, transpose=False, unitriangular=False, name=None):
    """The z for which x @ z = y, or x.T @ z = y."""
    return torch.linalg.solve_triangular(x.mT if transpose else x, y, upper=upper != transpose, unitriangular=unitriangular)
