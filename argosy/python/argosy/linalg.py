"""paddle.linalg on tensors."""
import torch

from argosy.dynamic.calls import computes, same_names
from argosy.dynamic.search import FUNCTIONS as _SEARCH

_SAME = same_names(torch.linalg, "det slogdet matrix_power matrix_rank pinv solve eig eigh eigvals eigvalsh qr cond multi_dot lstsq")
globals().update(_SAME)
norm, matmul, cholesky, inv = _SEARCH["norm"], _SEARCH["matmul"], _SEARCH["cholesky"], _SEARCH["inverse"]
__all__ = sorted([*_SAME, "norm", "matmul", "cholesky", "inv", "svd", "triangular_solve"])


@computes
def svd(x, full_matrices=False):
    return tuple(torch.linalg.svd(x, full_matrices))


@computes
def triangular_solve(x, y, upper=True, transpose=False, unitriangular=False):
    """The z for which x @ z = y, or x.T @ z = y."""
    return torch.linalg.solve_triangular(x.mT if transpose else x, y, upper=upper != transpose, unitriangular=unitriangular)
