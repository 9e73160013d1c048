"""Which public functions work in one graph only."""

import pytest
from comparing import ROWS, declared
from test_functional_in_both_graphs import FUNCTIONAL
from test_functions_in_both_graphs import FUNCTIONS

from argosy import dispatch, errors
from argosy.dynamic import functional as of_tensors
from argosy.dynamic import functions


def test_what_programs_have_no_operators_for_says_so(static):
    def nothing_like_it(x):
        return x

    (x,) = declared([ROWS])
    with pytest.raises(errors.UnimplementedError, match="nothing_like_it has no operators for Variables of programs"):
        dispatch.built(nothing_like_it, x)


def test_public_functions_build_or_are_known_not_to():
    """What is missing is a list: a function that is new in the dynamic graph gets operators, or a place here."""
    tensors = {name for name in functions._TABLE if dispatch.building("argosy.dynamic.x", name) is None}
    layers = {name for name in of_tensors._TABLE if dispatch.building("argosy.dynamic.functional.x", name) is None and not name.endswith("_")}
    assert sorted(tensors) == NOT_BUILT.split()
    assert sorted(layers) == NO_LAYERS_BUILT.split()


def test_every_function_that_builds_is_compared():
    """Each has a row, but those that draw at random."""
    assert (
        set(functions._TABLE) - set(NOT_BUILT.split()) - set(FUNCTIONS) - {"real", "conj", "imag", "index_put"} == set()
    )  # three are for complex numbers, one has a test of its own
    assert {name for name in of_tensors._TABLE if not name.endswith("_")} - set(NO_LAYERS_BUILT.split()) - set(FUNCTIONAL) == {"gumbel_softmax"}


NOT_BUILT = ""
NO_LAYERS_BUILT = ""
