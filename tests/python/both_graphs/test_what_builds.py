"""Which public functions work in one graph only."""

import pytest
from comparing import ROWS, declared
from test_functional_in_both_graphs import FUNCTIONAL
from test_functions_in_both_graphs import FUNCTIONS

import paddle
from argosy import dispatch, errors
from argosy.dynamic import functional as of_tensors
from argosy.dynamic import functions


def test_what_programs_have_no_operators_for_says_so(static):
    (x,) = declared([ROWS])
    with pytest.raises(errors.UnimplementedError, match="histogram has no operators for Variables of programs"):
        paddle.histogram(x)


def test_public_functions_build_or_are_known_not_to():
    """What is missing is a list: a function that is new in the dynamic graph gets operators, or a place here."""
    tensors = {name for name in functions._TABLE if dispatch.building("argosy.dynamic.x", name) is None}
    layers = {name for name in of_tensors._TABLE if dispatch.building("argosy.dynamic.functional.x", name) is None and not name.endswith("_")}
    assert sorted(tensors) == NOT_BUILT.split()
    assert sorted(layers) == NO_LAYERS_BUILT.split()


def test_every_function_that_builds_is_compared():
    """Each has a row, but those that draw at random."""
    assert set(functions._TABLE) - set(NOT_BUILT.split()) - set(FUNCTIONS) - {"real", "conj"} == set()  # these two are for complex numbers
    assert {name for name in of_tensors._TABLE if not name.endswith("_")} - set(NO_LAYERS_BUILT.split()) - set(FUNCTIONAL) == {"gumbel_softmax"}


NOT_BUILT = """angle as_strided atan2 bincount cholesky cummax cummin digamma erfinv fill_diagonal_tensor gcd histogram i0 i0e i1 i1e imag index_put inverse lcm lgamma mode
multigammaln nextafter polygamma renorm unfold unique unique_consecutive"""
NO_LAYERS_BUILT = """adaptive_avg_pool3d adaptive_max_pool3d affine_grid avg_pool3d conv3d conv3d_transpose ctc_loss fold gather_tree grid_sample hsigmoid_loss max_pool3d
max_unpool1d max_unpool2d max_unpool3d temporal_shift"""
