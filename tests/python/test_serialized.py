"""Parameters as bytes: those that PaddlePaddle 2.6.2 gives for the same program and values, which its MD5 stands for."""

import hashlib

import numpy as np
import pytest

import paddle

SIZE, MD5 = 192, "8f728757c094c38c2d2e56062cf96ee8"


@pytest.fixture
def program(fluid):
    """(inputs, outputs, executor, parameters) of a trained program, whose outputs do not need the last of its layers."""
    paddle.enable_static()
    x = paddle.static.data("x", [None, 4])
    y = paddle.static.nn.fc(paddle.static.nn.fc(x, 3), 2)
    paddle.optimizer.Adam(0.1).minimize(paddle.mean(paddle.static.nn.fc(y, 5)))
    exe, draw = paddle.static.Executor(), np.random.RandomState(1)
    exe.run(paddle.static.default_startup_program())
    parameters = paddle.static.default_main_program().all_parameters()
    for one in parameters:
        tensor(one).set(draw.rand(*one.shape).astype("float32"), paddle.CPUPlace())
    yield [x], [y], exe, parameters
    paddle.disable_static()


def tensor(parameter):
    return paddle.static.global_scope().find_var(parameter.name).get_tensor()


def test_bytes_are_paddles_and_give_the_values_back(program):
    inputs, outputs, exe, parameters = program
    content = paddle.static.serialize_persistables(inputs, outputs, exe)
    assert (len(content), hashlib.md5(content).hexdigest()) == (SIZE, MD5)
    before = [np.array(tensor(one)) for one in parameters]
    for one in parameters:
        tensor(one).set(np.zeros(one.shape, "float32"), paddle.CPUPlace())
    part = paddle.static.deserialize_program(paddle.static.serialize_program(inputs, outputs))
    paddle.static.deserialize_persistables(part, content, exe)
    assert [bool((np.array(tensor(one)) == value).all()) for one, value in zip(parameters, before)] == [True] * 4 + [False] * 2


def test_a_program_without_parameters_has_no_bytes(program):
    inputs, _, exe, _ = program
    assert paddle.static.serialize_persistables(inputs, [paddle.mean(inputs[0])], exe) is None


def test_wrong_bytes_are_refused(program):
    inputs, outputs, exe, _ = program
    content = paddle.static.serialize_persistables(inputs, outputs, exe)
    main = paddle.static.default_main_program()
    with pytest.raises(TypeError, match="takes bytes of serialize_persistables; found str"):
        paddle.static.deserialize_persistables(main, "text", exe)
    part = paddle.static.deserialize_program(paddle.static.serialize_program(inputs, outputs))
    with pytest.raises(paddle.errors.Error):
        paddle.static.deserialize_persistables(part, content[: len(content) // 2], exe)
