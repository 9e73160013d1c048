"""DataFeeder: the shapes, types and LoD that PaddlePaddle 1.8.5 gives for the same samples."""

import numpy as np
import pytest


def fed(fluid, variables, samples):
    """(shape, sequence lengths, values) by name."""
    feed = fluid.DataFeeder(feed_list=variables, place=fluid.CPUPlace()).feed(samples)
    return {name: (t.shape(), t.recursive_sequence_lengths(), np.array(t).tolist()) for name, t in feed.items()}


def test_dense_variables(fluid):
    x, y = fluid.layers.data("x", [2]), fluid.layers.data("y", [1], dtype="int64")
    assert fed(fluid, [x, y], [([1, 2], 3), (np.array([4, 5]), 6)]) == {"x": ([2, 2], [], [[1.0, 2.0], [4.0, 5.0]]), "y": ([2, 1], [], [[3], [6]])}
    assert fed(fluid, [y], [([6],), ([7],)])["y"] == ([2, 1], [], [[6], [7]])


def test_a_flat_sample_takes_the_declared_shape(fluid):
    image = fluid.layers.data("image", [1, 2, 2])
    shape, _, values = fed(fluid, [image], [([1, 2, 3, 4],), (np.ones(4),)])["image"]
    assert shape == [2, 1, 2, 2] and values[0] == [[[1.0, 2.0], [3.0, 4.0]]]


@pytest.mark.parametrize(
    "samples, expected",
    [
        ([([1, 2],), ([3],), ([],)], ([3, 1], [[2, 1, 0]], [[1], [2], [3]])),
        ([(np.array([1, 2]),), (np.array([3]),)], ([3, 1], [[2, 1]], [[1], [2], [3]])),
        ([([[1], [2]],), ([[3]],)], ([3, 1], [[2, 1]], [[1], [2], [3]])),
    ],
)
def test_sequences(fluid, samples, expected):
    words = fluid.layers.data("words", [1], dtype="int64", lod_level=1)
    assert fed(fluid, [words], samples)["words"] == expected


def test_sequences_of_sequences(fluid):
    words = fluid.layers.data("words", [1], dtype="int64", lod_level=2)
    assert fed(fluid, [words], [([[1, 2], [3]],), ([[4]],)])["words"] == ([4, 1], [[2, 1], [2, 1, 1]], [[1], [2], [3], [4]])


def test_sequences_of_vectors_and_without_an_inner_size(fluid):
    points = fluid.layers.data("points", [2], lod_level=1)
    assert fed(fluid, [points], [([[1, 2], [3, 4]],), ([[5, 6]],)])["points"][:2] == ([3, 2], [[2, 1]])
    ids = fluid.data("ids", [None], dtype="int64", lod_level=1)
    assert fed(fluid, [ids], [([1, 2],), ([3],)])["ids"] == ([3], [[2, 1]], [1, 2, 3])


def test_open_sizes_and_no_sizes(fluid):
    wide, number = fluid.data("wide", [None, None]), fluid.data("number", [None], dtype="int64")
    assert fed(fluid, [wide, number], [([1, 2], 1), ([3, 4], 2)]) == {"wide": ([2, 2], [], [[1.0, 2.0], [3.0, 4.0]]), "number": ([2], [], [1, 2])}


def test_no_samples_and_samples_from_a_generator(fluid):
    x, y = fluid.layers.data("x", [2]), fluid.layers.data("y", [1], dtype="int64")
    assert fed(fluid, [x, y], []) == {"x": ([0, 2], [], []), "y": ([0, 1], [], [])}
    assert fed(fluid, [y], ((i,) for i in range(3)))["y"][2] == [[0], [1], [2]]


def test_values_take_the_declared_type(fluid):
    feed = fluid.DataFeeder([fluid.layers.data("x", [1]), fluid.layers.data("y", [1], dtype="int64")], None).feed([(1, 2), (3.5, 4)])
    assert np.array(feed["x"]).dtype == np.float32 and np.array(feed["y"]).dtype == np.int64


def test_samples_of_the_wrong_size_are_never_cut_anew(fluid):
    # 3 samples of 2 would fill 2 rows of 3
    with pytest.raises(ValueError, match=r"variable 'x': a sample has shape \[2\], expected \[3\] \(declared shape \[-1, 3\]\)"):
        fed(fluid, [fluid.layers.data("x", [3])], [([1, 2],), ([3, 4],), ([5, 6],)])


@pytest.mark.parametrize(
    "samples, message",
    [
        ([([1, 2], 3, 4)], r"sample 0 has 3 values, expected 2 \(x, w\)"),
        ([([1, 2], [3]), ([1, 2],)], r"sample 1 has 1 values, expected 2"),
        ([7], "sample 0 is 7 and not a list of values"),
        ([([1, 2], [3]), ([1], [3])], "variable 'x': the samples are not one array of float32"),
        ([(["a", "b"], [3])], "variable 'x': the samples are not one array of float32: could not convert string"),
        ([([1, 2], 5)], "variable 'w' has lod_level 1; found 5 where a sequence should be"),
    ],
)
def test_samples_that_do_not_fit_are_named(fluid, samples, message):
    variables = [fluid.layers.data("x", [2]), fluid.layers.data("w", [1], dtype="int64", lod_level=1)]
    with pytest.raises(ValueError, match=message):
        fed(fluid, variables, samples)


def test_variables_by_name_and_of_another_program(fluid):
    fluid.layers.data("x", [2])
    assert fed(fluid, ["x"], [([1, 2],)])["x"][0] == [1, 2]
    with pytest.raises(ValueError, match="nothere"):
        fluid.DataFeeder(["nothere"], None)
    with pytest.raises(TypeError, match="found int"):
        fluid.DataFeeder([3], None)
    other = fluid.Program()
    with fluid.program_guard(other, fluid.Program()):
        fluid.layers.data("there", [1])
    feeder = fluid.DataFeeder(["there"], None, program=other)
    assert (feeder.feed_names, feeder.feed_shapes, feeder.feed_dtypes, feeder.feed_lod_level) == (["there"], [(-1, 1)], ["float32"], [0])


def test_batches_for_several_places(fluid):
    feeder = fluid.DataFeeder([fluid.layers.data("x", [1])], None)
    batches = [[(1,)], [(2,), (3,)], [(4,)]]
    assert [feed["x"].shape() for feed in feeder.feed_parallel(batches, 3)] == [[1, 1], [2, 1], [1, 1]]
    with pytest.raises(ValueError, match="3 batches for 2 places"):
        list(feeder.feed_parallel(batches, 2))
    assert [feed["x"].shape() for feed in feeder.decorate_reader(lambda: iter(batches))()] == [[1, 1], [2, 1], [1, 1]]
    assert [len(feeds) for feeds in feeder.decorate_reader(lambda: iter(batches), multi_devices=True, num_places=2)()] == [2]
    with pytest.raises(ValueError, match="1 batches are left for 2 places"):
        list(feeder.decorate_reader(lambda: iter(batches), multi_devices=True, num_places=2, drop_last=False)())


def test_a_run_takes_what_the_feeder_gives(fluid, exe):
    x, words = fluid.layers.data("x", [2]), fluid.layers.data("words", [1], dtype="int64", lod_level=1)
    twice = x * 2.0
    feed = fluid.DataFeeder([x, words], fluid.CPUPlace()).feed([([1, 2], [7, 8]), ([3, 4], [9])])
    value, ids = exe.run(feed=feed, fetch_list=[twice, words], return_numpy=False)
    assert np.array(value).tolist() == [[2.0, 4.0], [6.0, 8.0]] and ids.recursive_sequence_lengths() == [[2, 1]]
