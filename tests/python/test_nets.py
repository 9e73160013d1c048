"""fluid.nets: groups of layers."""

import numpy
import pytest


def ops(fluid):
    return [op.type for op in fluid.default_main_program().global_block().ops]


def test_a_convolution_and_a_pooling(fluid, exe):
    image = fluid.layers.data("image", [1, 6, 6])
    out = fluid.nets.simple_img_conv_pool(image, 2, 3, pool_size=2, pool_stride=2, act="relu")
    assert ops(fluid) == ["conv2d", "elementwise_add", "relu", "pool2d"] and out.shape == (-1, 2, 2, 2)
    exe.run(fluid.default_startup_program())
    assert exe.run(feed={"image": numpy.ones((3, 1, 6, 6), "float32")}, fetch_list=[out])[0].shape == (3, 2, 2, 2)


def test_a_group_of_convolutions(fluid):
    image = fluid.layers.data("image", [1, 8, 8])
    out = fluid.nets.img_conv_group(
        image, [2, 4], pool_size=2, pool_stride=2, conv_act="relu", conv_with_batchnorm=[True, False], conv_batchnorm_drop_rate=[0.3, 0.0]
    )
    assert ops(fluid) == ["conv2d", "elementwise_add", "batch_norm", "relu", "dropout", "conv2d", "elementwise_add", "relu", "pool2d"]
    assert out.shape == (-1, 4, 4, 4)
    with pytest.raises(ValueError, match="conv_with_batchnorm has 1 entries for 2 convolutions"):
        fluid.nets.img_conv_group(image, [2, 4], pool_size=2, conv_with_batchnorm=[True])


def test_a_gate_of_one_half(fluid, exe):
    out = fluid.nets.glu(fluid.layers.data("x", [4]))
    (found,) = exe.run(feed={"x": [[1.0, 2.0, 0.0, 0.0]]}, fetch_list=[out])
    assert found.tolist() == [[0.5, 1.0]]


def test_sequences_are_convolved_and_pooled(fluid, exe):
    words = fluid.layers.data("words", [1], dtype="int64", lod_level=1)
    out = fluid.nets.sequence_conv_pool(fluid.layers.embedding(words, [10, 4]), 3, 2)
    exe.run(fluid.default_startup_program())
    tensor = fluid.create_lod_tensor([[1, 2, 3], [4]], [[3, 1]], fluid.CPUPlace())
    assert exe.run(feed={"words": tensor}, fetch_list=[out])[0].shape == (2, 3)
