"""The comparison behind `make parity` must see what it is there to see: these tests take agreeing results apart, one thing at a time."""

import copy

import numpy as np
import pytest

import compare

DESCRIPTION = {
    "function": "fc",
    "call": "L.fc(x, 3)",
    "inputs": ["x[5, 4]"],
    "random": False,
    "program": True,
    "dialect": "fluid",
    "differs": None,
    "outputs": ["fc_0.tmp_1"],
    "gradients": {"x": "x@GRAD"},
    "lod": [[[]]],
    "main": {
        "variables": {"fc_0.w_0": {"shape": [4, 3], "persistable": True}},
        "operators": [{"type": "mul", "inputs": {"X": ["x"]}, "outputs": {"Out": ["fc_0.tmp_0"]}, "attributes": {"x_num_col_dims": 1}}],
    },
    "startup": {"variables": {}, "operators": []},
}
ARRAYS = {"output|0|0": np.arange(6, dtype="float32"), "gradient|x|0": np.ones(4, "float32"), "state|fc_0.w_0|1": np.zeros(3, "float32")}


def problems(change_description=None, change_arrays=None):
    theirs = (copy.deepcopy(DESCRIPTION), dict(ARRAYS))
    ours = (copy.deepcopy(DESCRIPTION), {name: array.copy() for name, array in ARRAYS.items()})
    if change_description:
        change_description(ours[0])
    if change_arrays:
        change_arrays(ours[1])
    return compare.Row("case", theirs, ours).problems


def test_equal_results_agree():
    assert problems() == []


@pytest.mark.parametrize(
    "change",
    [
        lambda ours: ours.update(outputs=["fc_0.tmp_2"]),
        lambda ours: ours.update(gradients={"x": None}),
        lambda ours: ours.update(lod=[[[[0, 5]]]]),
        lambda ours: ours["main"]["variables"].update(extra={"shape": [], "persistable": False}),
        lambda ours: ours["main"]["variables"]["fc_0.w_0"].update(shape=[3, 4]),
        lambda ours: ours["main"]["operators"][0].update(type="matmul"),
        lambda ours: ours["main"]["operators"][0]["attributes"].update(x_num_col_dims=2),
        lambda ours: ours.update(error="RuntimeError: no such op"),
    ],
)
def test_a_difference_in_names_shapes_or_operators_is_seen(change):
    assert len(problems(change_description=change)) == 1


@pytest.mark.parametrize("name", sorted(ARRAYS))
def test_an_element_off_by_more_than_the_tolerance_is_seen(name):
    assert problems(change_arrays=lambda arrays: arrays[name].__setitem__(1, arrays[name][1] + 5e-6)) == []
    assert len(problems(change_arrays=lambda arrays: arrays[name].__setitem__(1, arrays[name][1] + 5e-5))) == 1
    assert len(problems(change_arrays=lambda arrays: arrays[name].__setitem__(1, np.nan))) == 1
    assert len(problems(change_arrays=lambda arrays: arrays.pop(name))) == 1
    assert len(problems(change_arrays=lambda arrays: arrays.update({name: arrays[name].astype("float64")}))) == 1


def test_a_case_that_is_meant_to_differ_has_to():
    theirs = (dict(DESCRIPTION, differs="because"), ARRAYS)
    other = dict(ARRAYS, **{"gradient|x|0": np.zeros(4, "float32")})
    row = compare.Row("case", theirs, (DESCRIPTION, other))
    assert (row.problems, row.meant, row.agrees()) == ([], "because", False)
    assert len(compare.Row("case", theirs, (DESCRIPTION, ARRAYS)).problems) == 1


def test_samples_of_one_distribution_agree_and_others_do_not():
    generator = np.random.RandomState(3)
    first, second = generator.normal(0, 1, 20000), generator.normal(0, 1, 20000)
    assert compare.ks_distance(first, second) < 1
    assert compare.ks_distance(first, second + 0.05) > 1
    assert compare.ks_distance(first, second * 1.1) > 1


def test_a_case_that_was_not_run_is_a_difference():
    rows = compare.compare({"case": (DESCRIPTION, ARRAYS)}, {})
    assert compare.any_problem(rows, [])
    assert rows[0].problems == ["not run"]
