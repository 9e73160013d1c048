"""Runs of equal elements."""

import paddle


def test_runs_have_flat_places_and_lengths_of_the_wanted_type():
    values, places, lengths = paddle.unique_consecutive(paddle.to_tensor([[1, 1, 2], [2, 3, 3]]), True, True, dtype="int32")
    assert values.tolist() == [1, 2, 3]
    assert places.tolist() == [0, 0, 1, 1, 2, 2] and places.dtype == paddle.int32
    assert lengths.tolist() == [2, 2, 2] and lengths.dtype == paddle.int32
    assert paddle.unique_consecutive(paddle.to_tensor([4, 4])).tolist() == [4]
