"""Memory for time: what lies between checkpoints is computed once more in the backward, with the numbers of a run that keeps it."""

import os
import subprocess
import sys

import numpy as np
import pytest

import paddle
from argosy import _core
from paddle.distributed import fleet

X = np.random.RandomState(3).rand(16, 8).astype("float32")
IDS = np.random.RandomState(4).randint(0, 30, (16, 3)).astype("int64")


@pytest.fixture
def job(monkeypatch):
    monkeypatch.setattr(fleet.fleet, "_core", _core.Fleet())  # the process is in no job behind the test
    monkeypatch.setattr(fleet.fleet, "_programs", None)  # a job has one program, and a test is a job
    monkeypatch.setattr(fleet.fleet, "_optimizer", None)
    monkeypatch.setattr(fleet.fleet, "_model", None)


def network(fluid, sparse):
    """(loss, hidden layers): every kind of operator that a segment has to mind."""
    L = fluid.layers
    x, ids = fluid.data("x", [None, 8]), fluid.data("ids", [None, 3], "int64")
    rows = fluid.embedding(ids, [30, 8], is_sparse=sparse, param_attr="table")
    hidden, kept = L.elementwise_add(x, L.reduce_sum(rows, dim=1)), []
    for i in range(6):
        before = hidden
        hidden = L.fc(hidden, 8, act="relu" if i % 2 else "tanh")
        hidden = L.batch_norm(hidden) if i % 2 else L.layer_norm(hidden)
        hidden = L.dropout(hidden, 0.3)
        mask = L.cast(L.greater_than(before, L.fill_constant([1], "float32", 0.1)), "float32")
        hidden = L.elementwise_add(hidden, L.elementwise_mul(before, mask))
        kept.append(hidden)
    kept.append(L.fc(rows, 8, num_flatten_dims=2))  # a second way from the table to the loss
    return L.mean(L.square(hidden)) + L.mean(kept[-1]), kept


def trained(fluid, chosen, sparse=True, steps=4):
    """Losses, and everything that outlives a run, of a program with these hidden layers as checkpoints."""
    main, startup = fluid.Program(), fluid.Program()
    main.random_seed = startup.random_seed = 9
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        loss, kept = network(fluid, sparse)
        optimizer = fluid.optimizer.Adam(0.05)
        if chosen is not None:
            optimizer = fluid.optimizer.RecomputeOptimizer(optimizer)
            optimizer._set_checkpoints([kept[i] for i in chosen])
        optimizer.minimize(loss)
    with fluid.scope_guard(fluid.Scope()):
        exe = fluid.Executor()
        exe.run(startup)
        losses = [np.array(exe.run(main, feed={"x": X, "ids": IDS}, fetch_list=[loss, kept[2]])[0]) for _ in range(steps)]
        names = sorted(v.name for v in main.list_vars() if v.persistable)
        return losses, {name: np.array(fluid.global_scope().find_var(name).get_tensor()) for name in names}


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("chosen", [(1, 3), (0, 1, 2, 3, 4, 5), (5,), (2, 6)])
def test_numbers_are_those_of_a_run_that_keeps_everything(fluid, chosen, sparse):
    losses, values = trained(fluid, None, sparse)
    again, others = trained(fluid, chosen, sparse)
    assert losses == again
    assert values.keys() == others.keys() and all((values[name] == others[name]).all() for name in values)


def test_random_numbers_without_a_seed_are_the_same_in_both_computations(fluid):
    L = fluid.layers
    x = fluid.data("x", [None, 8])
    x.stop_gradient = False
    out = L.dropout(L.scale(x, 2.0), 0.5, dropout_implementation="upscale_in_train")
    weights = L.create_parameter([8], "float32", name="weights", default_initializer=fluid.initializer.Constant(1.0))
    kept = L.elementwise_mul(L.scale(out, 1.0), weights)
    pairs = fluid.backward.append_backward(L.reduce_sum(kept), checkpoints=[kept])
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    for _ in range(5):
        found, gradient = exe.run(feed={"x": X}, fetch_list=[kept, pairs[0][1]])
        assert np.array(gradient) == pytest.approx(np.array(found).sum(0), abs=1e-5)  # the mask of the forward


PROGRAM = """
import re, sys
import numpy as np, paddle, paddle.fluid as fluid
paddle.enable_static()
hidden, kept = fluid.data("x", [None, 512]), []
for i in range(40):
    hidden = fluid.layers.layer_norm(fluid.layers.fc(hidden, 512, act="tanh"))
    if i % 5 == 4:
        kept.append(hidden)
loss = fluid.layers.mean(fluid.layers.square(hidden))
fluid.backward.append_backward(loss, checkpoints=kept if sys.argv[1] == "recompute" else None)
exe = fluid.Executor()
exe.run(fluid.default_startup_program())
def peak():  # of this program alone: getrusage's ru_maxrss begins with the size of the process that started it
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
before = peak()
exe.run(feed={"x": np.ones([4096, 512], "float32")}, fetch_list=[loss])
print(peak() - before)
"""


def test_memory_falls():
    def kilobytes(how):
        given_back = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "1048576"}  # what is freed, so that the process's size says what it holds
        run = subprocess.run([sys.executable, "-c", PROGRAM, how], env=given_back, capture_output=True, text=True, timeout=300, check=True)
        return int(run.stdout.split()[-1])

    assert kilobytes("recompute") < 0.5 * kilobytes("plain")  # 5 of 40 layers at a time, and 8 checkpoints


def test_a_strategy_names_the_checkpoints_of_a_program(fluid, job):
    paddle.enable_static()
    fleet.init(is_collective=True)
    hidden = [fluid.layers.fc(fluid.data("x", [None, 8]), 8, act="tanh")]
    hidden.append(fluid.layers.fc(hidden[0], 8, act="tanh"))
    strategy = fleet.DistributedStrategy()
    strategy.recompute, strategy.recompute_configs = True, {"checkpoints": [hidden[0].name, hidden[1]]}
    loss = fluid.layers.mean(hidden[1])
    fleet.distributed_optimizer(paddle.optimizer.SGD(0.1), strategy).minimize(loss)
    backward = next(op for op in loss.block.ops if op.type == "backward")
    assert backward.attr("checkpoints") == [one.name for one in hidden]
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    first, last = [exe.run(feed={"x": X}, fetch_list=[loss])[0][0] for _ in range(2)]
    assert last < first


def test_the_older_strategy_names_them_too(fluid, monkeypatch):
    from paddle.fluid.incubate.fleet.collective import DistributedStrategy
    from paddle.fluid.incubate.fleet.collective import fleet as older

    monkeypatch.setattr(older, "_programs", None)
    older.init()
    hidden = fluid.layers.fc(fluid.data("x", [None, 8]), 8, act="tanh")
    strategy = DistributedStrategy()
    strategy.forward_recompute, strategy.recompute_checkpoints = True, [hidden]
    loss = fluid.layers.mean(hidden)
    older.distributed_optimizer(fluid.optimizer.SGD(0.1), strategy).minimize(loss)
    assert next(op for op in loss.block.ops if op.type == "backward").attr("checkpoints") == [hidden.name]


class Blocks(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.second = (paddle.nn.Sequential(paddle.nn.Linear(8, 8), paddle.nn.Tanh(), paddle.nn.Dropout(0.5)) for _ in range(2))

    def forward(self, x):
        return self.second(self.first(x))


def test_a_strategy_names_sublayers_in_the_dynamic_graph(job):
    paddle.disable_static()

    def gradients(recompute):
        paddle.seed(5)
        fleet.init(is_collective=True)
        fleet.fleet._optimizer = fleet.fleet._model = None
        strategy, layer, calls = fleet.DistributedStrategy(), Blocks(), []
        if recompute:
            strategy.recompute, strategy.recompute_configs = True, {"checkpoints": ["first"]}
        layer.first[0].register_forward_post_hook(lambda *rest: calls.append(1))
        fleet.distributed_optimizer(paddle.optimizer.SGD(0.1, layer.parameters()), strategy)
        model = fleet.distributed_model(layer)
        paddle.seed(6)
        model(paddle.to_tensor(X)).sum().backward()
        model.eval()
        model(paddle.to_tensor(X))
        return [one.grad.numpy() for one in layer.parameters()], len(calls)

    (plain, once), (again, twice) = gradients(False), gradients(True)
    assert (once, twice) == (2, 3)
    assert all((one == other).all() for one, other in zip(plain, again, strict=True))


def test_a_sequence_in_segments_has_the_gradients_of_the_plain_call():
    paddle.disable_static()
    layers = paddle.nn.Sequential(*(paddle.nn.Linear(8, 8) for _ in range(5)))
    layers(paddle.to_tensor(X)).sum().backward()
    plain = [one.grad.numpy().copy() for one in layers.parameters()]
    layers.clear_gradients()
    fleet.utils.recompute_sequential({"segments": 2}, layers, paddle.to_tensor(X)).sum().backward()
    assert all((one == other.grad.numpy()).all() for one, other in zip(plain, layers.parameters(), strict=True))
    with pytest.raises(ValueError, match="segments=6 of 5 layers"):
        fleet.utils.recompute_sequential({"segments": 6}, layers, paddle.to_tensor(X))


def test_what_does_not_fit_says_so(fluid, job):
    hidden = fluid.layers.fc(fluid.data("x", [None, 8]), 8)
    loss = fluid.layers.mean(hidden)
    optimizer = fluid.optimizer.RecomputeOptimizer(fluid.optimizer.SGD(0.1))
    with pytest.raises(RuntimeError, match=r"call _set_checkpoints\(\[…\]\) first"):
        optimizer.minimize(loss)
    with pytest.raises(ValueError, match="a list of variables"):
        optimizer._set_checkpoints(hidden)
    with pytest.raises(ValueError, match="checkpoints name 'x', which no operator of the program makes"):
        fluid.backward.append_backward(loss, checkpoints=["x"])
    with pytest.raises(ValueError, match="takes an optimizer"):
        fluid.optimizer.RecomputeOptimizer(3)
    strategy = fleet.DistributedStrategy()
    with pytest.raises(ValueError, match="enable_offload = True is not there; use more checkpoints"):
        strategy.recompute_configs = {"enable_offload": True}
    strategy.recompute = True
    with pytest.raises(ValueError, match="say between what"):
        fleet.init(is_collective=True, strategy=strategy)
    strategy.recompute_configs = {"checkpoints": ["third"]}
    paddle.disable_static()
    fleet.init(is_collective=True, strategy=strategy)
    with pytest.raises(ValueError, match="no sublayer 'third'; it has first, first.0"):
        fleet.distributed_model(Blocks())
