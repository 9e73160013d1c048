"""Layer functions whose arguments may be numbers, lists or variables, or go together."""

import numpy
import pytest


def run(fluid, exe, feed, fetch):
    exe.run(fluid.default_startup_program())
    return exe.run(feed=feed, fetch_list=fetch)


def test_lengths_and_boundaries_may_be_numbers_lists_or_variables(fluid, exe):
    layers = fluid.layers
    length = fluid.data("length", [None], "int64")
    masks = [layers.sequence_mask(length, maxlen) for maxlen in (None, 3, layers.fill_constant([1], "int64", 3))]
    x = fluid.data("x", [None, 2])
    nested = layers.lod_append(layers.lod_reset(x, target_lod=[0, 1, 4]), [0, 1, 2, 3, 4])
    sums = layers.sequence_pool(layers.sequence_pool(nested, "last"), "sum")
    fed = {"length": numpy.array([3, 1], "int64"), "x": numpy.arange(8, dtype="float32").reshape(4, 2)}
    *found, pooled = run(fluid, exe, fed, masks + [sums])
    for mask in found:
        numpy.testing.assert_array_equal(mask, [[1, 1, 1], [1, 0, 0]])
    numpy.testing.assert_array_equal(pooled, [[0, 1], [12, 15]])
    with pytest.raises(ValueError, match="y or target_lod must be given"):
        layers.lod_reset(x)


def test_options_that_go_together_are_asked_for(fluid):
    x, label = fluid.data("x", [None, 4]), fluid.data("label", [None, 1], "int64")
    with pytest.raises(ValueError, match="needs customized_samples and customized_probabilities"):
        fluid.layers.sampled_softmax_with_cross_entropy(x, label, 2, use_customized_samples=True)
    with pytest.raises(ValueError, match="custom_dist has 1 probabilities for 5 classes"):
        fluid.layers.nce(x, label, 5, sampler="custom_dist", custom_dist=[1.0])
    with pytest.raises(ValueError, match="dtype is int64, expected float32 or float64"):
        fluid.layers.label_smooth(x, dtype="int64")
