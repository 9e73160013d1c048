"""Layers of fluid.layers and paddle.static.nn that functions make up: names and shapes of parameters are those of 2.6.2, values those of the functions."""

import numpy as np
import pytest
from comparing import declared, ran

import paddle
import paddle.nn.functional as F

DRAW = np.random.RandomState(3)
IMAGE = DRAW.uniform(-0.5, 0.5, [2, 4, 3, 3]).astype("float32")
VOLUME = DRAW.uniform(-0.5, 0.5, [2, 2, 3, 3, 3]).astype("float32")
LEFT, RIGHT = DRAW.rand(3, 4).astype("float32"), DRAW.rand(3, 5).astype("float32")
LABEL = np.array([[0], [4], [5]])


def attr(name=None):
    return paddle.ParamAttr(name=name)


CASES = {
    "prelu of one weight": (lambda N, x: N.prelu(x, "all"), [IMAGE], {"prelu_0.w_0": [1]}, lambda x, w: F.prelu(x, w)),
    "prelu of channels": (lambda N, x: N.prelu(x, "channel"), [IMAGE], {"prelu_0.w_0": [1, 4, 1, 1]}, lambda x, w: F.prelu(x, w.reshape([4]))),
    "prelu of elements": (
        lambda N, x: N.prelu(x, "element", param_attr=attr("own")),
        [IMAGE],
        {"own": [1, 4, 3, 3]},
        lambda x, w: paddle.where(x > 0, x, x * w),
    ),
    "group_norm": (
        lambda N, x: N.group_norm(x, 2, param_attr=attr(), bias_attr=attr(), act="tanh"),
        [IMAGE],
        {"group_norm_0.w_0": [4], "group_norm_0.b_0": [4]},
        lambda x, w, b: F.tanh(F.group_norm(x, 2, 1e-5, w, b)),
    ),
    "group_norm without parameters": (lambda N, x: N.group_norm(x, 2), [IMAGE], {}, lambda x: F.group_norm(x, 2)),
    "group_norm of another name": (
        lambda N, x: N.group_norm(x, 4, param_attr=attr(), name="gn", epsilon=0.1),
        [IMAGE],
        {"gn.w_0": [4]},
        lambda x, w: F.group_norm(x, 4, 0.1, w),
    ),
    "instance_norm": (
        lambda N, x: N.instance_norm(x, param_attr=attr(), bias_attr=attr()),
        [IMAGE],
        {"instance_norm_0.w_0": [4], "instance_norm_0.b_0": [4]},
        lambda x, w, b: F.instance_norm(x, weight=w, bias=b),
    ),
    "bilinear_tensor_product": (
        lambda N, x, y: N.bilinear_tensor_product(x, y, 3, act="sigmoid"),
        [LEFT, RIGHT],
        {"bilinear_tensor_product_0.w_0": [3, 4, 5], "bilinear_tensor_product_0.b_0": [1, 3]},
        lambda x, y, w, b: F.sigmoid(F.bilinear(x, y, w, b)),
    ),
    "conv3d": (
        lambda N, x: N.conv3d(x, 3, 2, padding=1, act="relu"),
        [VOLUME],
        {"conv3d_0.w_0": [3, 2, 2, 2, 2], "conv3d_0.b_0": [3]},
        lambda x, w, b: F.relu(F.conv3d(x, w, b, padding=1)),
    ),
}


def run(out, arrays, shapes):
    """The output, and the parameters that it was computed with."""
    exe, draw = paddle.static.Executor(), np.random.RandomState(4)
    exe.run(paddle.static.default_startup_program())
    values = {name: draw.rand(*shape).astype("float32") for name, shape in shapes.items()}
    for name, value in values.items():
        paddle.static.global_scope().find_var(name).get_tensor().set(value)
    return ran([out], arrays, startup=False)[0], list(values.values())


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("where", ["fluid.layers", "paddle.static.nn"])
def test_a_layer_is_its_function_with_parameters(static, case, where):
    build, arrays, shapes, compute = CASES[case]
    out = build(static.layers if where == "fluid.layers" else paddle.static.nn, *declared(arrays))
    assert {one.name: list(one.shape) for one in paddle.static.default_main_program().all_parameters()} == shapes
    found, values = run(out, arrays, shapes)
    paddle.disable_static()
    assert np.allclose(found, compute(*map(paddle.to_tensor, [*arrays, *values])).numpy(), atol=1e-5)


def test_one_attribute_for_two_layers_gives_two_parameters(static):
    shared, (x,) = paddle.ParamAttr(), declared([IMAGE])
    static.layers.prelu(static.layers.prelu(x, "all", param_attr=shared), "all", param_attr=shared)
    assert [one.name for one in paddle.static.default_main_program().all_parameters()] == ["prelu_0.w_0", "prelu_1.w_0"] and shared.name is None


def test_a_tree_of_classes(static):
    x, label = declared([LEFT, LABEL])
    out = static.layers.hsigmoid(x, label, 6)
    shapes = {"hierarchical_sigmoid_0.w_0": [5, 4], "hierarchical_sigmoid_0.b_0": [5, 1]}
    assert {one.name: list(one.shape) for one in paddle.static.default_main_program().all_parameters()} == shapes
    found, values = run(out, [LEFT, LABEL], shapes)
    paddle.disable_static()
    assert np.allclose(found, F.hsigmoid_loss(*map(paddle.to_tensor, (LEFT, LABEL)), 6, *map(paddle.to_tensor, values)).numpy(), atol=1e-5)


def test_what_does_not_fit_is_named(static):
    x, label = declared([LEFT, LABEL])
    with pytest.raises(ValueError, match="prelu: mode is 'all', 'channel' or 'element'; found 'some'"):
        static.layers.prelu(x, "some")
    with pytest.raises(ValueError, match="path_table and path_code go with is_custom=True"):
        static.layers.hsigmoid(x, label, 6, is_custom=True)
