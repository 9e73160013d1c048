"""ExponentialMovingAverage, ModelAverage and LookAhead; the numbers are those that PaddlePaddle 2.6.2 gives for the same."""

import numpy as np
import pytest

import paddle

STEPS = 9
EMA = [0.36537, 0.1457, 0.66448, 0.38036]
MEANS = [[0.16368, -0.069, 0.51639, 0.21176], [0.20877, -0.02662, 0.57527, 0.261], [0.20877, -0.02662, 0.57527, 0.261]]
LOOK_AHEAD = [
    [0.92864, 0.88917, 0.98562, 0.92983],
    [0.8202, 0.64456, 0.90163, 0.6911],
    [0.83497, 0.74028, 0.93716, 0.81006],
    [0.68223, 0.49803, 0.91231, 0.75259],
    [0.4104, 0.28042, 0.78594, 0.58627],
    [0.6658, 0.55901, 0.85213, 0.70288],
    [0.62821, 0.52935, 0.814, 0.64745],
    [0.53806, 0.46299, 0.65565, 0.50525],
    [0.58518, 0.48924, 0.73479, 0.62266],
]


def constant():
    return paddle.nn.initializer.Constant(1.0)


def rows():
    draw = np.random.RandomState(1)
    return [draw.rand(2, 4).astype("float32") for _ in range(STEPS)]


class Program:
    """A weight `w` of four ones that SGD trains, with what `add` adds to the program."""

    def __init__(self, add):
        x = paddle.static.data("x", [2, 4])
        out = paddle.static.nn.fc(x, 1, weight_attr=paddle.ParamAttr(name="w", initializer=constant()), bias_attr=False)
        self.loss = paddle.mean(out * out)
        self.added = add(self.loss)
        self.exe = paddle.static.Executor()
        self.exe.run(paddle.static.default_startup_program())

    def run(self):
        """The weight after each step."""
        return [self.exe.run(feed={"x": one}, fetch_list=[self.loss]) and self.weight() for one in rows()]

    def weight(self):
        return np.array(paddle.static.global_scope().find_var("w").get_tensor()).reshape(-1)


def trained(make):
    """The weight after each step of an optimizer in the dynamic graph, and what make(parameters) gave, a pair of it and what is called after step()."""
    layer = paddle.nn.Linear(4, 1, weight_attr=constant(), bias_attr=False)
    optimizer, after = make(layer.parameters())
    found = []
    for one in rows():
        layer(paddle.to_tensor(one)).square().mean().backward()
        optimizer.step()
        if after is not None:
            after.step()
        optimizer.clear_grad()
        found.append(layer.weight.numpy().reshape(-1))
    return layer, after, found


def sgd(parameters=None):
    return paddle.optimizer.SGD(0.1, parameters=parameters)


def close(found, expected):
    return np.allclose(found, expected, atol=2e-5)


def moving(loss):
    sgd().minimize(loss)
    average = paddle.static.ExponentialMovingAverage(0.9)
    average.update()
    return average


def test_a_moving_average_is_there_inside_of_apply_and_gone_behind(static):
    program = Program(moving)
    last = program.run()[-1]
    with program.added.apply(program.exe):
        assert close(program.weight(), EMA)
    assert (program.weight() == last).all()
    with program.added.apply(program.exe, need_restore=False):
        pass
    assert close(program.weight(), EMA)
    program.added.restore(program.exe)
    assert (program.weight() == last).all()


def test_steps_make_the_decay_smaller_at_first(static):
    """At step t the decay is at most (1 + t) / (10 + t): with t = 0 throughout it is 0.1."""

    def add(loss):
        sgd().minimize(loss)
        average = paddle.static.ExponentialMovingAverage(0.999, thres_steps=paddle.static.create_global_var([1], 0, "int64", persistable=True))
        average.update()
        return average

    program, mean = Program(add), np.zeros(4)
    for value in program.run():
        mean = 0.1 * mean + 0.9 * value
    with program.added.apply(program.exe):
        assert close(program.weight(), mean / (1 - 0.1**STEPS))


def test_wrong_use_of_a_moving_average(static):
    with pytest.raises(RuntimeError, match="no parameters to average"):
        paddle.static.ExponentialMovingAverage().update()
    program = Program(moving)
    with pytest.raises(RuntimeError, match="called before"):
        program.added.update()
    with pytest.raises(RuntimeError, match="before update"), paddle.static.ExponentialMovingAverage().apply(program.exe):
        pass
    with pytest.raises(ValueError, match="decay is 0 or more and less than 1; found 1.5"):
        paddle.static.ExponentialMovingAverage(1.5)


WINDOWS = [(0.15, 2, 10), (0.5, 2, 4), (1.0, 1, 3)]


def averaged(window):
    rate, least, most = window
    return lambda parameters: (sgd(parameters), paddle.incubate.ModelAverage(rate, parameters=parameters, min_average_window=least, max_average_window=most))


@pytest.mark.parametrize("window, expected", list(zip(WINDOWS, MEANS)), ids=str)
def test_a_plain_average_over_a_window(window, expected):
    layer, average, found = trained(averaged(window))
    with average.apply():
        assert close(layer.weight.numpy().reshape(-1), expected)
    assert (layer.weight.numpy().reshape(-1) == found[-1]).all()


@pytest.mark.parametrize("window, expected", list(zip(WINDOWS, MEANS)), ids=str)
def test_a_plain_average_of_a_program_is_that_of_tensors(static, window, expected):
    def add(loss):
        sgd().minimize(loss)
        return paddle.incubate.ModelAverage(window[0], min_average_window=window[1], max_average_window=window[2])

    program = Program(add)
    last = program.run()[-1]
    with program.added.apply(program.exe):
        assert close(program.weight(), expected)
    assert (program.weight() == last).all()


def look_ahead(parameters=None):
    return paddle.incubate.LookAhead(sgd(parameters), alpha=0.3, k=3)


def test_look_ahead_goes_a_part_of_the_way():
    assert close(trained(lambda parameters: (look_ahead(parameters), None))[2], LOOK_AHEAD)


def test_look_ahead_of_a_program_goes_the_same_way(static):
    assert close(Program(lambda loss: look_ahead().minimize(loss)).run(), LOOK_AHEAD)


def test_look_ahead_refuses_what_does_not_fit():
    for arguments, message in (
        ((3,), "takes an optimizer.*found int"),
        ((sgd([]), 1.5), "alpha is 0 to 1; found 1.5"),
        ((sgd([]), 0.5, 0), "k is a number of steps"),
    ):
        with pytest.raises(ValueError, match=message):
            paddle.incubate.LookAhead(*arguments)


def test_names_of_1_8(fluid):
    assert fluid.optimizer.LookaheadOptimizer is paddle.incubate.LookAhead is paddle.incubate.optimizer.LookAhead
    assert fluid.optimizer.ExponentialMovingAverage is paddle.static.ExponentialMovingAverage
    assert fluid.optimizer.ModelAverage is paddle.incubate.ModelAverage
