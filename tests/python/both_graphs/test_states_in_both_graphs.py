"""States of layers and programs: seeds, saving, loading, and what needs the startup program."""

import io

import numpy as np
import pytest
from comparing import IDS, ROWS, declared

import paddle
import paddle.nn.functional as F
from argosy import _core, errors
from paddle import nn


def test_a_program_has_a_state(static, tmp_path):
    (x,) = declared([ROWS])
    layer = nn.Linear(6, 1)
    paddle.optimizer.Adam(0.1).minimize(paddle.mean(layer(x)))
    paddle.static.Executor().run(paddle.static.default_startup_program())
    program = paddle.static.default_main_program()
    assert set(program.state_dict("param")) == {layer.weight.name, layer.bias.name} and len(program.state_dict("opt")) >= 4
    weight = np.array(layer.weight.get_value())
    paddle.save(program.state_dict(), str(tmp_path / "state"))
    layer.weight.set_value(np.zeros([6, 1], "float32"))
    program.set_state_dict(paddle.load(str(tmp_path / "state")))
    assert np.array_equal(np.array(layer.weight.get_value()), weight)
    with pytest.warns(UserWarning, match="has no persistable variables nobody"):
        program.set_state_dict({"nobody": weight})
    with pytest.raises(errors.InvalidArgumentError, match="mode is one of all, param, opt; found 'most'"):
        program.state_dict("most")


def test_a_layer_of_a_program_stays_as_it_is(static):
    with pytest.raises(errors.UnimplementedError, match="'linear_0.w_0' is a variable of a program, which keeps its type"):
        nn.Linear(2, 1).astype("float64")


def test_a_layer_makes_variables_without_values(static):
    made = nn.Layer().create_tensor(name="later", dtype="int64")
    assert isinstance(made, _core.Variable) and made.name == "later" and made.dtype == paddle.int64


def trained(steps=4):
    """A small model after some steps, in the graph of the mode: its state."""
    paddle.seed(11)
    with paddle.utils.unique_name.guard():
        net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.BatchNorm1D(8), nn.Linear(8, 1))
        optimizer = paddle.optimizer.SGD(0.05, parameters=net.parameters() if paddle.in_dynamic_mode() else None)
    if not paddle.in_dynamic_mode():
        x, y = declared([ROWS, ROWS[:, :1]])
        loss = F.mse_loss(net(x), y)
        optimizer.minimize(loss)
        exe = paddle.static.Executor()
        exe.run(paddle.static.default_startup_program())
        for _ in range(steps):
            exe.run(feed={"in0": ROWS, "in1": ROWS[:, :1].copy()}, fetch_list=[loss])
        return net, {key: np.array(value.get_value()) for key, value in net.state_dict().items()}
    for _ in range(steps):
        F.mse_loss(net(paddle.to_tensor(ROWS)), paddle.to_tensor(ROWS[:, :1])).backward()
        optimizer.step()
        optimizer.clear_grad()
    return net, {key: value.numpy() for key, value in net.state_dict().items()}


def test_a_seed_trains_both_graphs_alike(fluid):
    _, computed = trained()
    paddle.enable_static()
    _, built = trained()
    assert computed.keys() == built.keys()
    for key, value in computed.items():
        assert np.allclose(value, built[key], atol=1e-5), key


def test_states_go_round_in_static_mode(static, tmp_path):
    net, state = trained()
    path = str(tmp_path / "net.pdparams")
    paddle.save(net.state_dict(), path)
    for parameter in net.parameters():
        parameter.set_value(np.zeros(parameter.shape, "float32"))
    assert not np.array(net[0].weight.get_value()).any()
    assert net.set_state_dict(paddle.load(path)) == ([], [])
    assert all(np.array_equal(np.array(value.get_value()), state[key]) for key, value in net.state_dict().items())
    paddle.static.save(paddle.static.default_main_program(), str(tmp_path / "program"))
    net[0].weight.set_value(np.zeros([6, 8], "float32"))
    paddle.static.load(paddle.static.default_main_program(), str(tmp_path / "program"), paddle.static.Executor())
    assert np.array_equal(np.array(net[0].weight.get_value()), state["0.weight"])
    stream = io.BytesIO()
    paddle.save(net.state_dict(), stream)
    paddle.disable_static()
    stream.seek(0)
    same = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.BatchNorm1D(8), nn.Linear(8, 1))
    assert same.set_state_dict(paddle.load(stream)) == ([], [])
    assert np.array_equal(same[0].weight.numpy(), state["0.weight"])


def test_values_need_the_startup_program(static):
    layer = nn.Linear(2, 1)
    with pytest.raises(errors.FailedPreconditionError, match="'linear_0.w_0' has no value yet; run the startup program first"):
        layer.weight.set_value(np.ones([2, 1], "float32"))
    paddle.static.Executor().run(paddle.static.default_startup_program())
    with pytest.raises(errors.InvalidArgumentError, match=r"shape \[2, 1\]; found \[3\]"):
        layer.weight.set_value(np.ones([3], "float32"))


def test_a_test_program_drops_nothing_and_uses_running_values(static):
    (x,) = declared([ROWS])
    layer = nn.BatchNorm1D(6)
    out = nn.Dropout(0.5)(layer(x))
    exe, test = paddle.static.Executor(), paddle.static.default_main_program().clone(for_test=True)
    exe.run(paddle.static.default_startup_program())
    (found,) = exe.run(test, feed={"in0": ROWS}, fetch_list=[out.name])
    assert np.allclose(found, ROWS / np.sqrt(1 + 1e-5), atol=1e-5)


def test_sparse_layers_train_their_rows(static):
    (ids,) = declared([IDS])
    layer = nn.Embedding(7, 2, sparse=True, weight_attr=paddle.ParamAttr(name="table", initializer=nn.initializer.Constant(1.0)))
    loss = paddle.sum(layer(ids))
    paddle.optimizer.SGD(0.5).minimize(loss)
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    exe.run(feed={"in0": IDS}, fetch_list=[loss])
    assert np.allclose(np.array(layer.weight.get_value())[:, 0], 1 - 0.5 * np.bincount(IDS.ravel(), minlength=7))
