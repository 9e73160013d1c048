"""What 2.6.2 does in its own way, measured there, in both graphs."""

import numpy as np
import pytest
from comparing import declared, ran

import paddle

SINGLE = np.array([[1.0, -2.0, 3.0]], "float32")


def test_batch_norm_lets_one_value_per_channel_through():
    """2.6.2: y is x, x has the gradient of y, scale and bias have 0, and the running statistics stay."""
    layer, x = paddle.nn.BatchNorm1D(3), paddle.to_tensor(SINGLE, stop_gradient=False)
    layer.weight.set_value(np.full(3, 2, "float32"))
    layer.bias.set_value(np.full(3, 5, "float32"))
    y = layer(x)
    (y * paddle.to_tensor([[1.0, 10.0, 100.0]])).sum().backward()
    assert y.numpy().tolist() == SINGLE.tolist() and x.grad.numpy().tolist() == [[1.0, 10.0, 100.0]]
    assert layer.weight.grad.numpy().tolist() == layer.bias.grad.numpy().tolist() == [0.0] * 3
    assert layer._mean.numpy().tolist() == [0.0] * 3 and layer._variance.numpy().tolist() == [1.0] * 3
    images = paddle.to_tensor(SINGLE.reshape(1, 3, 1, 1))
    assert paddle.nn.BatchNorm2D(3)(images).numpy().tolist() == images.numpy().tolist()
    assert paddle.nn.BatchNorm2D(3, weight_attr=False, bias_attr=False)(images).numpy().tolist() == images.numpy().tolist()


def test_batch_norm_lets_one_value_per_channel_through_in_programs(static):
    (x,) = declared([SINGLE])
    layer = paddle.nn.BatchNorm1D(3)
    y = layer(x)
    paddle.optimizer.SGD(1.0).minimize(paddle.sum(y * y))
    value, weight, bias, mean, variance = ran([y, *layer.state_dict().values()], [SINGLE])
    assert value.tolist() == SINGLE.tolist()
    assert weight.tolist() == [1.0] * 3 and bias.tolist() == [0.0] * 3, "their gradients are 0"
    assert mean.tolist() == [0.0] * 3 and variance.tolist() == [1.0] * 3


GRADIENT = np.full([1, 2], 1e-8, "float32")


def moved_tensor(optimizer, **options):
    w = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
    made = optimizer(0.1, parameters=[w], **options)
    for _ in range(3):
        (w * paddle.to_tensor(GRADIENT[0])).sum().backward()
        made.step()
        made.clear_grad()
    return w.numpy()


def moved_variable(optimizer, **options):
    (g,) = declared([GRADIENT])
    w = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
    optimizer(0.1, **options).minimize(paddle.sum(w * g))
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    for _ in range(3):
        exe.run(feed={"in0": GRADIENT})
    return np.array(paddle.static.global_scope().find_var(w.name).get_tensor())


def test_adam_adds_epsilon_to_the_corrected_root_in_programs_too(static, fluid):
    """Half the rate where a gradient is as large as epsilon, as 2.6.2 has it in both graphs; 1.8's optimizer adds it to the root as it is."""
    assert moved_variable(paddle.optimizer.Adam) == pytest.approx([0.85, 0.85], abs=1e-4)
    paddle.disable_static()
    assert moved_tensor(paddle.optimizer.Adam) == pytest.approx([0.85, 0.85], abs=1e-4)
    paddle.enable_static()


def test_adam_of_fluid_adds_epsilon_to_the_root_as_it_is(static, fluid):
    assert (moved_variable(fluid.optimizer.Adam) > 0.95).all()


def test_labels_that_are_floats_are_refused(static, fluid):
    """1.8.5 and 2.6.2: a TypeError of auc and one_hot, and an error of accuracy."""
    score, label = fluid.data("score", [None, 2]), fluid.data("label", [None, 1], "float32")
    for call in (lambda: fluid.layers.auc(score, label), lambda: paddle.static.auc(score, label), lambda: fluid.layers.accuracy(score, label)):
        with pytest.raises(TypeError, match="argument 'label' must be int64 or int32, not float32: variable 'label'"):
            call()
    with pytest.raises(TypeError, match="argument 'input' must be int64 or int32, not float32: variable 'label'"):
        fluid.layers.one_hot(label, 4)


WHOLE = np.array([-7, 7, -7, 7]), np.array([2, 2, -2, -2])
DIVIDED = [(paddle.divide, [-3, 3, 3, -3]), (paddle.floor_divide, [-4, 3, 3, -4]), (lambda x, y: x // y, [-4, 3, 3, -4])]  # as in 2.6.2: towards 0, down, down


@pytest.mark.parametrize("function, expected", [*DIVIDED, (lambda x, y: x / y, [-3.5, 3.5, 3.5, -3.5])])
def test_whole_numbers_are_divided_as_in_paddle(function, expected):
    assert function(*map(paddle.to_tensor, WHOLE)).tolist() == expected


@pytest.mark.parametrize("function, expected", DIVIDED)
def test_whole_numbers_are_divided_as_in_paddle_in_programs(static, function, expected):
    assert ran([function(*declared(list(WHOLE)))], list(WHOLE))[0].tolist() == expected


def test_scripts_of_1_8_round_towards_zero(fluid):
    """1.8.5: x // y of whole numbers is [-3, 3, 3, -3]."""
    x, y = (fluid.data(name, [4], "int64") for name in "xy")
    assert fluid.Executor().run(feed=dict(zip("xy", WHOLE, strict=True)), fetch_list=[x // y])[0].tolist() == [-3, 3, 3, -3]


def test_a_variable_has_no_list(static):
    with pytest.raises(ValueError, match="found the variable 'in0', and a variable has values only in a run"):
        paddle.tolist(declared([SINGLE])[0])
