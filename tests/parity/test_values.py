"""Every call that is recorded of PaddlePaddle 2.6.2 gives the same here, in both graphs, or is in values-differ.txt with the reason."""

import numpy as np
import pytest

import paddle
import values
import values_file


@pytest.fixture(scope="module")
def found():
    """What differs, in either graph, and how many calls were compared in each."""
    made = paddle.nn.Layer.create_parameter
    values.with_known_parameters(paddle)
    try:
        (dynamic, differs), (programs, differs_built) = values.compared(paddle, False), values.compared(paddle, True)
    finally:
        paddle.nn.Layer.create_parameter = made
        paddle.disable_static()
    return {"differs": {**differs_built, **differs}, "counts": (dynamic, programs)}


def test_calls_give_what_they_give_in_paddle(found):
    assert found["counts"] > (2900, 2600)
    assert {call: what for call, what in found["differs"].items() if call not in values.meant_to_differ()} == {}


def test_what_is_meant_to_differ_does(found):
    """A line of a call that agrees by now is taken out."""
    assert sorted(call for call in values.meant_to_differ() if call not in found["differs"]) == []


def test_every_reason_is_said():
    assert all(len(why) > 20 for why in values.meant_to_differ().values())


@pytest.mark.parametrize(
    "ours",
    [
        np.array([1.0, 2.1], "float32"),
        np.array([1.0, 2.0], "float64"),
        np.array([[1.0, 2.0]], "float32"),
        [1.0, 2.0],
    ],
    ids=["value", "type", "shape", "kind"],
)
def test_a_difference_is_seen(ours):
    assert values.same(np.array([1.0, 2.0], "float32"), ours)
    assert not values.same(np.array([1.0, 2.0], "float32"), np.array([1.0, 2.00001], "float32"))


def test_records_go_through_a_file(tmp_path):
    calls = [{"call": "paddle.f(x)", "parts": [np.arange(6).reshape(2, 3), 7, None], "gradients": {"x": wave()}, "drawn": False, "program": True}]
    values_file.save(tmp_path / "made.npz", {"paddle.f": calls, "paddle.g": calls})
    read = values_file.load(tmp_path / "made.npz")
    assert list(read) == ["paddle.f", "paddle.g"]
    for call in (read["paddle.f"][0], read["paddle.g"][0]):
        assert call["parts"][0].tolist() == [[0, 1, 2], [3, 4, 5]] and call["parts"][1:] == [7, None] and call["gradients"]["x"].tolist() == wave().tolist()


def wave():
    return values.wave([2, 2])
