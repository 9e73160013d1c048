"""Both graphs beside each other: functions look at their arguments, and the mode decides where there is none."""

import subprocess
import sys

import numpy as np
import pytest

import paddle
import paddle.nn.functional as F
from argosy import _core, errors


def test_a_script_starts_in_dynamic_mode_and_fluid_builds(fluid):
    assert paddle.in_dynamic_mode()
    x = fluid.layers.data("x", [4])
    assert isinstance(fluid.layers.fc(x, 2), paddle.static.Variable) and isinstance(paddle.zeros([2]), paddle.Tensor)


def test_arguments_decide_before_the_mode(fluid):
    x, tensor = fluid.layers.data("x", [4]), paddle.ones([2, 4])
    for function in (paddle.tanh, paddle.sum, F.relu, lambda value: paddle.concat([value, value], axis=1), lambda value: F.mse_loss(input=value, label=value)):
        assert isinstance(function(x), paddle.static.Variable) and isinstance(function(tensor), paddle.Tensor)
    paddle.enable_static()
    assert isinstance(paddle.tanh(tensor), paddle.Tensor) and isinstance(paddle.zeros([2]), paddle.static.Variable)


def test_the_guard_of_fluid_is_left_as_it_was():
    paddle.enable_static()
    with paddle.fluid.dygraph.guard():
        value = paddle.fluid.dygraph.to_variable(np.ones((2, 2), "float32"), name="v")
        assert paddle.fluid.in_dygraph_mode() and value.name == "v" and isinstance(paddle.zeros([1]), paddle.Tensor)
    assert not paddle.in_dynamic_mode() and not paddle.fluid.in_dygraph_mode()


def test_one_class_of_optimizer_serves_both(fluid, exe):
    loss = fluid.layers.mean(fluid.layers.fc(fluid.layers.data("x", [4]), 1))
    ops, _ = paddle.optimizer.Adam(0.1).minimize(loss)
    assert ops
    layer = paddle.nn.Linear(4, 1)
    layer(paddle.ones([1, 4])).mean().backward()
    optimizer = paddle.optimizer.Adam(0.1, parameters=layer.parameters())
    before = layer.bias.item()
    optimizer.step()
    assert abs(before - layer.bias.item() - 0.1) < 1e-5
    with pytest.raises(errors.UnavailableError, match="give parameters=layer.parameters"):
        paddle.optimizer.Adam(0.1).step()


def test_devices_by_name(monkeypatch):
    assert paddle.set_device("cpu") == paddle.CPUPlace() and paddle.get_device() == "cpu"
    monkeypatch.setenv("ARGOSY_DEVICE", "cpu")
    paddle.set_device("gpu")
    assert paddle.get_device() == "cpu" and paddle.ones([1]).place == paddle.CPUPlace()
    with pytest.raises(errors.InvalidArgumentError, match="takes 'cpu', 'gpu' or 'gpu:<number>'"):
        paddle.set_device("tpu")


@pytest.fixture
def no_job():
    """A process that has met nobody yet, before and after."""
    from argosy.distributed import job

    job.leave()
    yield
    job.leave()


def test_one_process_is_a_job_of_its_own(monkeypatch, no_job):
    for name in ("PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM", "RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    import paddle.distributed as dist

    assert dist.get_rank() == 0 and dist.get_world_size() == 1
    dist.init_parallel_env()
    tensor, gathered = paddle.ones([2]), []
    dist.all_reduce(tensor)
    dist.all_gather(gathered, tensor)
    model = paddle.DataParallel(paddle.nn.Linear(2, 1))
    assert tensor.tolist() == [1, 1] and len(gathered) == 1 and isinstance(model, paddle.nn.Layer)
    assert list(model.state_dict()) == ["weight", "bias"] and model(tensor.unsqueeze(0)).shape == [1, 1] and len(model.parameters()) == 2


def test_calls_of_the_dynamic_graph_say_so_in_static_mode(no_job):
    from paddle.distributed import fleet

    made, layer = fleet.Fleet(_core.Fleet()), paddle.nn.Linear(2, 1)
    with pytest.raises(errors.FailedPreconditionError, match="before fleet.init"):
        made.distributed_model(layer)
    made.init(is_collective=True)
    optimizer = made.distributed_optimizer(paddle.optimizer.SGD(0.1, parameters=layer.parameters()))
    assert isinstance(made.distributed_model(layer), paddle.nn.Layer) and made.get_lr() == 0.1
    paddle.enable_static()
    try:
        for call, what in (
            (lambda: made.distributed_model(layer), "distributed_model"),
            (lambda: paddle.DataParallel(layer), "DataParallel"),
            (lambda: paddle.distributed.broadcast(layer.weight, 0), "broadcast"),
        ):
            with pytest.raises(errors.FailedPreconditionError, match=f"{what} is of the dynamic graph"):
                call()
    finally:
        paddle.disable_static()
    optimizer.step()


def test_places_in_a_job_come_from_the_environment(monkeypatch, no_job):
    monkeypatch.setenv("PADDLE_TRAINER_ID", "1")
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    monkeypatch.setenv("PADDLE_TRAINER_ENDPOINTS", "127.0.0.1:1,127.0.0.1:2")
    place = paddle.distributed.ParallelEnv()
    assert (place.rank, place.nranks, place.trainer_endpoints) == (1, 2, ["127.0.0.1:1", "127.0.0.1:2"])
    assert (place.current_endpoint, place.device_type, place.device_id) == ("127.0.0.1:2", "cpu", 1)
    with pytest.raises(errors.FailedPreconditionError, match="the 2 processes of this job have not met"):
        paddle.distributed.all_reduce(paddle.ones([1]))
    monkeypatch.setenv("PADDLE_TRAINER_ID", "2")
    with pytest.raises(errors.InvalidArgumentError, match="PADDLE_TRAINER_ID"):
        paddle.distributed.get_rank()


def rank_of(factor):
    """Of a process that has met the others."""
    paddle.distributed.init_parallel_env()
    total = paddle.ones([1])
    paddle.distributed.all_reduce(total)
    assert total.item() == 2
    return paddle.distributed.get_rank() * factor


def failing():
    paddle.distributed.init_parallel_env()
    if paddle.distributed.get_rank() == 1:
        raise ValueError("this one fails")
    paddle.distributed.barrier()


def test_spawn_gives_every_process_its_number_and_tells_which_failed():
    assert paddle.distributed.spawn(rank_of, (10,), nprocs=2).return_values == [0, 10]
    with pytest.raises(RuntimeError, match="rank 1 of 2 ended with 1:\n(.|\n)*this one fails"):
        paddle.distributed.spawn(failing, nprocs=2)


def test_a_tensor_has_its_methods_whatever_made_it():
    script = "import paddle; w = paddle.nn.Linear(2, 1).weight; print((w.square().mean() + 1).shape)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "[]\n"


STATIC_SCRIPT = """
import sys
import numpy as np
import paddle
import paddle.fluid as fluid
paddle.seed(1)
paddle.enable_static()
x = paddle.static.data("x", [None, 4])
loss = paddle.mean(paddle.nn.functional.relu(paddle.static.nn.fc(x, 2)))
paddle.optimizer.Adam(0.1, grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0)).minimize(loss)
exe = paddle.static.Executor(paddle.CPUPlace())
exe.run(paddle.static.default_startup_program())
exe.run(feed={"x": np.ones((2, 4), "float32")}, fetch_list=[loss])
assert "torch" not in sys.modules
"""


def test_a_static_program_does_without_torchs_python():
    subprocess.run([sys.executable, "-c", STATIC_SCRIPT], check=True, timeout=120)
