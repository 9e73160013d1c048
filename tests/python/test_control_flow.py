"""cond, while_loop, case, Switch, While and lists of tensors in programs: values and gradients against the same in Python and torch, and what is refused."""

import numpy as np
import pytest
import torch

import paddle
import paddle.fluid as fluid
from paddle.fluid import layers


@pytest.fixture(autouse=True)
def programs():
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard(), fluid.scope_guard(fluid.Scope()):
        yield


def run(fetch, **feed):
    executor = fluid.Executor(fluid.CPUPlace())
    executor.run(fluid.default_startup_program())
    return executor.run(feed={name: np.asarray(value) for name, value in feed.items()}, fetch_list=fetch)


def floats(*values):
    return np.array(values, "float32")


@pytest.mark.parametrize("value", [3.0, -3.0])
def test_cond_runs_one_branch_only(value, capfd):
    x = fluid.data("x", [1])
    y = layers.cond(x > 0, lambda: layers.Print(x * 2, message="then"), lambda: layers.Print(x - 1, message="else"))
    assert run([y], x=floats(value))[0].tolist() == [value * 2 if value > 0 else value - 1]
    printed = capfd.readouterr().out
    assert ("then" in printed, "else" in printed) == (value > 0, value <= 0)


def test_cond_keeps_the_shape_of_what_branches_give():
    x = fluid.data("x", [2])
    flag = fluid.data("flag", [1], "bool")
    a, (b, rest) = layers.cond(flag, lambda: (x + 1, [x, {"k": x * 3}]), lambda: (x - 1, [x * 2, {"k": x}]))
    for holds, expected in [(True, ([2, 3], [1, 2], [3, 6])), (False, ([0, 1], [2, 4], [1, 2]))]:
        assert tuple(each.tolist() for each in run([a, b, rest["k"]], x=floats(1, 2), flag=[holds])) == expected


@pytest.mark.parametrize("value", [2.0, -2.0])
def test_gradients_flow_through_the_branch_that_ran(value):
    x = fluid.data("x", [1, 4])
    used, other = (layers.fc(x, 3, param_attr=name, bias_attr=False) for name in ("a", "b"))
    flag = layers.reduce_sum(x) > 0
    loss = layers.mean(layers.cond(flag, lambda: used * used, lambda: layers.exp(other)))
    gradients = dict(fluid.backward.append_backward(loss))
    by_name = {parameter.name: gradient for parameter, gradient in gradients.items()}
    data = floats(*[value] * 4)[None]
    a, b, ga, gb = run(["a", "b", by_name["a"], by_name["b"]], x=data)
    ta, tb = (torch.tensor(each, requires_grad=True) for each in (a, b))
    product = torch.tensor(data) @ ta if value > 0 else torch.tensor(data) @ tb
    (product.square() if value > 0 else product.exp()).mean().backward()
    for found, parameter in ((ga, ta), (gb, tb)):
        expected = parameter.grad.numpy() if parameter.grad is not None else np.zeros_like(found)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


def test_parameters_inside_of_a_branch_train():
    x = fluid.data("x", [None, 4])
    flag = fluid.data("flag", [1], "bool")
    y = layers.cond(flag, lambda: layers.fc(x, 2, param_attr="inside"), lambda: layers.fc(x, 2, param_attr="elsewhere"))
    loss = layers.mean(y)
    fluid.optimizer.SGD(0.5).minimize(loss)
    executor = fluid.Executor()
    executor.run(fluid.default_startup_program())
    data = np.ones((3, 4), "float32")
    before = executor.run(feed={"x": data, "flag": np.array([True])}, fetch_list=["inside", "elsewhere"])
    after = executor.run(feed={"x": data, "flag": np.array([False])}, fetch_list=["inside", "elsewhere"])
    first_step = fluid.global_scope().find_var("inside").get_tensor()
    np.testing.assert_allclose(np.array(first_step), after[0])
    assert not np.allclose(before[1], after[1]), "the second run trained the other branch"


def test_while_loop_computes_what_python_does():
    i, n = layers.fill_constant([1], "int64", 0), fluid.data("n", [1], "int64")
    total = layers.fill_constant([1], "float32", 0.0)
    i, total = layers.while_loop(lambda i, total: i < n, lambda i, total: [i + 1, total + layers.cast(i, "float32")], [i, total])
    for rounds in (0, 1, 7):
        assert [each.tolist() for each in run([i, total], n=[rounds])] == [[rounds], [float(sum(range(rounds)))]]


def test_loop_variables_change_all_at_once():
    a, b, i = (layers.fill_constant([1], "int64", value) for value in (0, 1, 0))
    a, b, i = layers.while_loop(lambda a, b, i: i < 10, lambda a, b, i: [b, a + b, i + 1], [a, b, i])
    assert [each.tolist() for each in run([a, b])] == [[55], [89]]


def test_gradients_flow_through_all_rounds_of_a_loop():
    w = layers.create_parameter([1], "float32", name="w", default_initializer=fluid.initializer.Constant(1.1))
    i, n = layers.fill_constant([1], "int64", 0), fluid.data("n", [1], "int64")
    x = layers.fill_constant([1], "float32", 2.0)
    x.stop_gradient = False
    _, x = layers.while_loop(lambda i, x: i < n, lambda i, x: [i + 1, x * w], [i, x])
    ((_, gradient),) = fluid.backward.append_backward(layers.mean(x))
    for rounds in (1, 5):
        np.testing.assert_allclose(run([x, gradient], n=[rounds]), [[2 * 1.1**rounds], [2 * rounds * 1.1 ** (rounds - 1)]], rtol=1e-5)


def test_while_of_the_first_fluid_fills_a_list():
    i, n = layers.fill_constant([1], "int64", 0), fluid.data("n", [1], "int64")
    squares = layers.create_array("float32")
    goes_on = layers.less_than(i, n)
    with layers.While(goes_on).block():
        layers.array_write(layers.cast(i * i, "float32"), i, array=squares)
        layers.increment(i, in_place=True)
        layers.less_than(i, n, cond=goes_on)
    last = layers.array_read(squares, n - 1)
    length = layers.array_length(squares)
    assert [each.tolist() for each in run([last, length], n=[5])] == [[16.0], [5]]


def test_loops_and_conditions_nest():
    i, n = layers.fill_constant([1], "int64", 0), fluid.data("n", [1], "int64")
    odd = layers.fill_constant([1], "int64", 0)

    def body(i, odd):
        is_odd = layers.equal(i % 2, layers.fill_constant([1], "int64", 1))
        return [i + 1, layers.cond(is_odd, lambda: odd + i, lambda: odd)]

    _, odd = layers.while_loop(lambda i, odd: i < n, body, [i, odd])
    assert run([odd], n=[10])[0].tolist() == [25]


@pytest.mark.parametrize(("value", "expected"), [(0.5, 1.0), (1.5, 2.0), (9.0, 3.0)])
def test_case_and_switch_take_the_first_that_holds(value, expected):
    x = fluid.data("x", [1])
    chosen = layers.case([(x < 1.0, lambda: x * 0 + 1.0), (x < 2.0, lambda: x * 0 + 2.0)], default=lambda: x * 0 + 3.0)
    kept = layers.create_global_var([1], 0.0, "float32", persistable=True, name="kept")
    with layers.Switch() as switch:
        with switch.case(x < 1.0):
            layers.assign(layers.fill_constant([1], "float32", 1.0), kept)
        with switch.case(x < 2.0):
            layers.assign(layers.fill_constant([1], "float32", 2.0), kept)
        with switch.default():
            layers.assign(layers.fill_constant([1], "float32", 3.0), kept)
    assert [each.tolist() for each in run([chosen, kept], x=floats(value))] == [[expected], [expected]]
    assert np.array(fluid.global_scope().find_var("kept").get_tensor()).tolist() == [expected], "the scope has it"


def test_switch_case_by_number():
    i = fluid.data("i", [1], "int64")
    by_dict = layers.switch_case(i, {1: lambda: i * 10, 7: lambda: i * 100}, default=lambda: i - 1)
    by_list = layers.switch_case(i, [lambda: i + 5, lambda: i + 6])
    for number, expected in [(1, [10, 7]), (7, [700, 13]), (3, [2, 9])]:
        assert [each.item() for each in run([by_dict, by_list], i=[number])] == expected


def test_on_tensors_python_decides():
    paddle.disable_static()
    x = paddle.to_tensor([2.0])
    assert paddle.static.nn.cond(x > 1, lambda: x * 2, lambda: x).item() == 4.0
    assert paddle.static.nn.while_loop(lambda i: i < 5, lambda i: [i + 2], [paddle.to_tensor(0)])[0].item() == 6


def test_a_program_with_blocks_is_saved_and_loaded(tmp_path):
    x = fluid.data("x", [None, 2])
    y = layers.cond(layers.reduce_sum(x) > 0, lambda: layers.fc(x, 1, param_attr="w"), lambda: layers.reduce_sum(x, dim=1, keep_dim=True))
    executor = fluid.Executor()
    executor.run(fluid.default_startup_program())
    data = floats(1, 2)[None]
    expected = executor.run(feed={"x": data}, fetch_list=[y])[0]
    fluid.io.save_inference_model(str(tmp_path), ["x"], [y], executor)
    with fluid.scope_guard(fluid.Scope()):
        program, feeds, fetches = fluid.io.load_inference_model(str(tmp_path), executor)
        assert program.num_blocks > 1
        np.testing.assert_allclose(executor.run(program, feed={feeds[0]: data}, fetch_list=fetches)[0], expected)
        assert executor.run(program, feed={feeds[0]: -data}, fetch_list=fetches)[0].tolist() == [[-3.0]]


def test_print_shows_so_many_numbers_so_often(capfd):
    x = fluid.data("x", [3])
    y = layers.Print(x, message="look:", summarize=2, first_n=1)
    executor = fluid.Executor()
    for _ in range(2):
        executor.run(feed={"x": floats(1, 2, 3)}, fetch_list=[y])
    printed = capfd.readouterr().out
    assert printed.count("look:") == 1
    assert "data: [1 2]" in printed


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: layers.cond(layers.fill_constant([1], "float32", 1.0), lambda: None, lambda: None), "expected bool"),
        (lambda: layers.cond(layers.fill_constant([1], "bool", True), lambda: [1.0, 2.0], lambda: [1.0]), "2 and 1 variables"),
        (lambda: layers.cond(layers.fill_constant([1], "bool", True), lambda: 1.0, lambda: 1), "float32 in one and int64 in the other"),
        (lambda: layers.while_loop(lambda i: i < 3, lambda i: [i, i], [layers.fill_constant([1], "int64", 0)]), "2 variables of 1"),
        (lambda: layers.while_loop(lambda i: i < 3, lambda i: layers.cast(i, "float32"), [layers.fill_constant([1], "int64", 0)]), "cast it"),
        (lambda: layers.switch_case(layers.fill_constant([1], "int64", 0), [(1, lambda: 1.0), (1, lambda: 2.0)]), "occurs twice"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(build, message):
    with pytest.raises(paddle.base.core.EnforceNotMet if hasattr(paddle, "base") else Exception, match=message):
        build()
    assert fluid.default_main_program().current_block().idx == 0, "a block that failed is closed"


def test_a_loop_that_never_sets_its_condition_is_refused():
    goes_on = layers.fill_constant([1], "bool", True)
    with pytest.raises(Exception, match="would never end"), layers.While(goes_on).block():
        layers.fill_constant([1], "float32", 1.0)


def test_errors_inside_a_block_name_the_operator_and_the_one_around_it():
    x = fluid.data("x", [None, 2])
    y = layers.cond(layers.reduce_sum(x) > 0, lambda: layers.reshape(x, [4]), lambda: layers.reshape(x, [4]))
    with pytest.raises(Exception, match=r"conditional_block.*reshape"):
        run([y], x=np.ones((3, 2), "float32"))
