"""Programs and the dynamic graph on a GPU, where there is one; where there is none, what says so."""

import os
import subprocess
import sys

import numpy
import pytest

import paddle
from argosy import device

needs_gpu = pytest.mark.skipif(device._gpu_count() == 0, reason="libtorch sees no GPU on this machine")


def test_without_a_gpu_the_functions_say_so(monkeypatch):
    monkeypatch.setattr(device, "_gpu_count", lambda: 0)
    monkeypatch.delenv("ARGOSY_DEVICE", raising=False)
    assert paddle.device.cuda.device_count() == 0
    paddle.device.cuda.empty_cache()
    for ask in (paddle.device.cuda.synchronize, paddle.device.cuda.memory_allocated, paddle.device.cuda.get_device_name):
        with pytest.raises(ValueError, match=r"CUDAPlace\(0\): libtorch sees no GPU on this machine"):
            ask()
    with pytest.raises(ValueError, match="'cpu' is no GPU"):
        paddle.device.cuda.synchronize("cpu")
    paddle.device.synchronize()


def mlp(fluid, optimizer):
    x, label = fluid.layers.data("x", [8]), fluid.layers.data("label", [1], dtype="int64")
    hidden = fluid.layers.fc(x, 16, act="relu")
    predict = fluid.layers.fc(hidden, 3, act="softmax")
    loss = fluid.layers.mean(fluid.layers.cross_entropy(predict, label))
    accuracy = fluid.layers.accuracy(predict, label)
    optimizer.minimize(loss)
    return predict, loss, accuracy


def losses(fluid, place, make, steps=5):
    """The losses of a model at its first steps, from the same first values, in a scope of its own."""
    numbers = numpy.random.default_rng(3)
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard(), fluid.scope_guard(fluid.Scope()):
        fluid.default_startup_program().random_seed = 7
        _, loss, accuracy = mlp(fluid, make())
        exe = fluid.Executor(place)
        exe.run(fluid.default_startup_program())
        found = []
        for _ in range(steps):
            x = numbers.standard_normal([32, 8]).astype("float32")
            label = (x.sum(1, keepdims=True) > 0).astype("int64")
            found.append([float(value.item()) for value in exe.run(feed={"x": x, "label": label}, fetch_list=[loss, accuracy])])
        return found


OPTIMIZERS = {
    "sgd": lambda fluid: fluid.optimizer.SGD(0.1),
    "momentum": lambda fluid: fluid.optimizer.Momentum(0.1, 0.9),
    "adam": lambda fluid: fluid.optimizer.Adam(0.01),
    "clipped": lambda fluid: fluid.optimizer.SGD(0.1, grad_clip=fluid.clip.GradientClipByGlobalNorm(0.5), regularization=fluid.regularizer.L2Decay(0.01)),
}


@needs_gpu
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_program_trains_as_on_the_cpu(fluid, name):
    cpu, gpu = (losses(fluid, place, lambda: OPTIMIZERS[name](fluid)) for place in (fluid.CPUPlace(), fluid.CUDAPlace(0)))
    numpy.testing.assert_allclose(gpu, cpu, rtol=2e-4, atol=1e-5)


def ctr(fluid):
    ids = [fluid.layers.data(f"C{i}", [1], dtype="int64", lod_level=1) for i in range(3)]
    label = fluid.layers.data("label", [1], dtype="int64")
    pooled = [fluid.layers.sequence_pool(fluid.layers.embedding(one, [50, 4], is_sparse=True, param_attr="table"), "sum") for one in ids]
    predict = fluid.layers.fc(fluid.layers.concat(pooled, axis=1), 2, act="softmax")
    loss = fluid.layers.mean(fluid.layers.cross_entropy(predict, label))
    auc, _, _ = fluid.layers.auc(predict, label)
    fluid.optimizer.Adam(0.01, lazy_mode=True).minimize(loss)
    return [*ids, label], loss, auc


def ctr_run(fluid, place, folder=None):
    numbers = numpy.random.default_rng(5)
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard(), fluid.scope_guard(fluid.Scope()):
        fluid.default_startup_program().random_seed = 7
        inputs, loss, auc = ctr(fluid)
        exe = fluid.Executor(place)
        exe.run(fluid.default_startup_program())
        found = []
        for _ in range(5):
            feed = {"label": numbers.integers(0, 2, [16, 1])}
            for one in inputs[:-1]:
                lengths = numbers.integers(1, 4, 16).tolist()
                feed[one.name] = fluid.create_lod_tensor(numbers.integers(0, 50, [sum(lengths), 1]), [lengths], fluid.CPUPlace())
            found.append([float(value.item()) for value in exe.run(feed=feed, fetch_list=[loss, auc])])
        table = numpy.array(fluid.global_scope().find_var("table").get_tensor())
        if folder is not None:
            fluid.io.save_persistables(exe, folder)
            other = fluid.Scope()
            with fluid.scope_guard(other):
                fluid.io.load_persistables(fluid.Executor(fluid.CPUPlace()), folder)
                numpy.testing.assert_array_equal(numpy.array(other.find_var("table").get_tensor()), table)
        return found, table


@needs_gpu
def test_sparse_tables_sequences_and_auc_are_those_of_the_cpu_and_a_model_goes_from_one_to_the_other(fluid, tmp_path):
    cpu, cpu_table = ctr_run(fluid, fluid.CPUPlace())
    gpu, gpu_table = ctr_run(fluid, fluid.CUDAPlace(0), str(tmp_path / "model"))
    numpy.testing.assert_allclose(gpu, cpu, rtol=2e-4, atol=1e-5)
    numpy.testing.assert_allclose(gpu_table, cpu_table, rtol=1e-3, atol=1e-5)


@needs_gpu
def test_an_operator_without_a_kernel_there_is_named(fluid):
    hashed = fluid.layers.hash(fluid.layers.data("x", [2], dtype="int64"), hash_size=10)
    exe = fluid.Executor(fluid.CUDAPlace(0))
    with pytest.raises(
        paddle.framework.errors.UnimplementedError if hasattr(paddle.framework, "errors") else Exception, match="operator 'hash' has no kernel on GPU"
    ):
        exe.run(feed={"x": numpy.ones([2, 2], "int64")}, fetch_list=[hashed])


@needs_gpu
def test_a_label_that_is_no_class_is_an_error_before_the_step(fluid):
    _, loss, _ = mlp(fluid, fluid.optimizer.SGD(0.1))
    exe = fluid.Executor(fluid.CUDAPlace(0))
    exe.run(fluid.default_startup_program())
    with pytest.raises(ValueError, match="class 5 at position 1 is outside the 3 classes"):
        exe.run(feed={"x": numpy.ones([2, 8], "float32"), "label": numpy.array([[0], [5]])}, fetch_list=[loss])
    exe.run(feed={"x": numpy.ones([2, 8], "float32"), "label": numpy.array([[0], [2]])}, fetch_list=[loss])


@needs_gpu
def test_memory_is_counted_and_given_back():
    cuda = paddle.device.cuda
    before = cuda.memory_allocated()
    kept = paddle.ones([1 << 20]).cuda(0)
    assert cuda.memory_allocated(0) > before and cuda.max_memory_allocated() >= cuda.memory_allocated("gpu:0")
    assert cuda.memory_reserved() >= cuda.memory_allocated() and cuda.max_memory_reserved() >= cuda.memory_reserved()
    del kept
    cuda.synchronize()
    cuda.empty_cache()
    assert cuda.memory_allocated(paddle.CUDAPlace(0)) <= before
    assert cuda.get_device_name() == cuda.get_device_properties(0).name and cuda.get_device_capability()[0] >= 7
    with cuda.stream_guard(cuda.Stream(0)):
        assert float((paddle.ones([4]).cuda(0) * 2).sum()) == 8


DYNAMIC = """
import numpy, paddle, paddle.nn as nn
paddle.set_device("gpu:0")
paddle.seed(3)
layer = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = paddle.optimizer.Adam(0.01, parameters=layer.parameters())
scaler = paddle.amp.GradScaler(init_loss_scaling=1024)
x = paddle.to_tensor(numpy.random.default_rng(1).standard_normal([64, 8]).astype("float32"))
y = x.sum(1, keepdim=True)
found = []
for _ in range(60):
    with paddle.amp.auto_cast(dtype=DTYPE):
        loss = nn.functional.mse_loss(layer(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.clear_grad()
    found.append(float(loss))
assert x.place == paddle.CUDAPlace(0) and found[-1] < 0.5 * found[0], found
paddle.save(layer.state_dict(), "layer.pdparams")
paddle.set_device("cpu")
other = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
other.set_state_dict(paddle.load("layer.pdparams"))
numpy.testing.assert_allclose(other(x.cpu()).numpy(), layer(x).numpy(), rtol=1e-3, atol=1e-3)
print("done")
"""


@needs_gpu
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_the_dynamic_graph_trains_in_16_bits_and_its_state_loads_on_the_cpu(tmp_path, dtype):
    done = subprocess.run([sys.executable, "-c", DYNAMIC.replace("DTYPE", repr(dtype))], capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert done.stdout.strip() == "done", done.stderr[-3000:]


@needs_gpu
def test_the_launcher_gives_a_process_its_gpu(tmp_path):
    (tmp_path / "who.py").write_text(
        "import paddle\nfrom paddle.distributed import init_parallel_env\ninit_parallel_env()\nprint('on', paddle.get_device(), paddle.ones([1]).place)\n"
    )
    command = ["fleetrun", "--gpus=0", f"--log_dir={tmp_path}/log", "who.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300, env={**os.environ, "ARGOSY_PYTHON": sys.executable})
    logs = "".join(path.read_text() for path in (tmp_path / "log").rglob("*") if path.is_file())
    assert done.returncode == 0 and "on gpu:0" in done.stdout + logs, done.stdout + done.stderr + logs


def captured(fluid, program):
    strategy = fluid.BuildStrategy()
    strategy.allow_cuda_graph_capture = True
    return fluid.CompiledProgram(program, build_strategy=strategy)


def captured_losses(fluid, place, capture, steps=9, seed=0):
    """The losses of an MLP whose last batch is smaller, and the executor's report."""
    numbers = numpy.random.default_rng(3)
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard(), fluid.scope_guard(fluid.Scope()):
        fluid.default_startup_program().random_seed = 7
        fluid.default_main_program().random_seed = seed
        _, loss, accuracy = mlp(fluid, fluid.optimizer.Adam(0.01))
        program = captured(fluid, fluid.default_main_program()) if capture else fluid.default_main_program()
        exe = fluid.Executor(place)
        exe.run(fluid.default_startup_program())
        found = []
        for step in range(steps):
            x = numbers.standard_normal([32 if step < steps - 1 else 5, 8]).astype("float32")
            label = (x.sum(1, keepdims=True) > 0).astype("int64")
            found.append([float(value.item()) for value in exe.run(program, feed={"x": x, "label": label}, fetch_list=[loss, accuracy])])
        return found, exe.capture_report(program)


def test_without_a_gpu_a_program_that_may_be_captured_runs_as_it_is_and_says_why(fluid):
    plain, nothing = captured_losses(fluid, fluid.CPUPlace(), False)
    found, (replays, why) = captured_losses(fluid, fluid.CPUPlace(), True)
    assert found == plain and nothing == (0, "")
    assert replays == 0 and "work is recorded on a GPU, and this is for cpu" in why


def test_a_strategy_of_a_job_says_where_capture_is_set(fluid):
    from argosy.fluid.incubate.fleet.collective import DistributedStrategy

    with pytest.raises(ValueError, match=r"CompiledProgram\(fleet.main_program, build_strategy\)"):
        DistributedStrategy().allow_cuda_graph_capture = True
    strategy = paddle.distributed.fleet.DistributedStrategy()
    strategy.build_strategy.allow_cuda_graph_capture = True
    with pytest.raises(ValueError, match=r"CompiledProgram\(program, build_strategy\)"):
        strategy._collective_options()


@needs_gpu
def test_a_captured_program_trains_as_one_that_is_not(fluid):
    plain, _ = captured_losses(fluid, fluid.CUDAPlace(0), False)
    found, (replays, why) = captured_losses(fluid, fluid.CUDAPlace(0), True)
    numpy.testing.assert_allclose(found, plain, rtol=2e-4, atol=1e-5)
    assert (replays, why) == (5, "")


@needs_gpu
def test_a_captured_click_model_trains_as_one_that_is_not(fluid):
    def run(capture):
        numbers = numpy.random.default_rng(5)
        with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard(), fluid.scope_guard(fluid.Scope()):
            fluid.default_startup_program().random_seed = 7
            inputs, loss, auc = ctr(fluid)
            program = captured(fluid, fluid.default_main_program()) if capture else fluid.default_main_program()
            exe = fluid.Executor(fluid.CUDAPlace(0))
            exe.run(fluid.default_startup_program())
            found = []
            for _ in range(10):
                feed = {"label": numbers.integers(0, 2, [16, 1])}
                for one in inputs[:-1]:
                    feed[one.name] = fluid.create_lod_tensor(numbers.integers(0, 50, [16, 1]), [[1] * 16], fluid.CPUPlace())
                found.append([float(value.item()) for value in exe.run(program, feed=feed, fetch_list=[loss, auc])])
            return found, exe.capture_report(program)

    plain, _ = run(False)
    found, (replays, why) = run(True)
    numpy.testing.assert_allclose(found, plain, rtol=2e-4, atol=1e-5)
    assert (replays, why) == (7, "")


STATIC_JOB = """
import numpy, paddle
from paddle.distributed import fleet
paddle.enable_static()
fleet.init(is_collective=True)
static = paddle.static
x, y = static.data("x", [None, 8]), static.data("y", [None, 1])
loss = paddle.mean(paddle.nn.functional.square_error_cost(static.nn.fc(x, 1), y))
fleet.distributed_optimizer(paddle.optimizer.Adam(0.05)).minimize(loss)
strategy = static.BuildStrategy()
strategy.allow_cuda_graph_capture = True
program = static.CompiledProgram(static.default_main_program(), build_strategy=strategy)
exe = static.Executor(paddle.CUDAPlace(0))
exe.run(static.default_startup_program())
numbers, found = numpy.random.default_rng(1), []
for _ in range(100):
    given = numbers.standard_normal([32, 8]).astype("float32")
    found.append(exe.run(program, feed={"x": given, "y": given.sum(1, keepdims=True)}, fetch_list=[loss])[0].item())
assert found[-1] < 0.2 * found[0], found
print("processes", fleet.worker_num(), "on", exe.place, "report", exe.capture_report(program))
"""


def launched(folder, build, script, asked, *options, arguments=()):
    """What the processes of a job of `script` have printed; the job has ended well."""
    (folder / "job.py").write_text(script)
    command = [str(build / "bin/fleetrun"), *options, f"--log_dir={folder}/log", "job.py", *arguments]
    environment = {**os.environ, "ARGOSY_PYTHON": sys.executable} | ({"ARGOSY_DEVICE": "cpu"} if asked == "cpu" else {})
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=300, env=environment)
    logs = done.stdout + "".join(path.read_text() for path in (folder / "log").rglob("*") if path.is_file())
    assert done.returncode == 0, logs + done.stderr
    return logs


@pytest.mark.parametrize("asked", ["cpu", pytest.param("gpu", marks=needs_gpu)])
def test_a_static_collective_job_of_one_process_trains(tmp_path, build, asked):
    logs = launched(tmp_path, build, STATIC_JOB, asked, "--gpus=0")
    expected = "on CUDAPlace(0) report (97, '')" if asked == "gpu" else "work is recorded on a GPU, and this is for cpu"
    assert "processes 1 on" in logs and expected in logs, logs


SHARED_GPU_JOB = """
import sys
import numpy, paddle
from paddle.distributed import fleet
fleet.init(is_collective=True)
rank, ranks = fleet.worker_index(), fleet.worker_num()
paddle.seed(1)
net = paddle.nn.Sequential(paddle.nn.Linear(8, 16), paddle.nn.ReLU(), paddle.nn.Linear(16, 1))
own = numpy.concatenate([value.numpy().ravel() for value in net.parameters()])
model = fleet.distributed_model(net)
optimizer = fleet.distributed_optimizer(paddle.optimizer.Adam(0.01, parameters=net.parameters()))
given = numpy.random.default_rng(1).standard_normal([20, 32, 8]).astype("float32")
for batch in given:
    mine = paddle.to_tensor(batch[rank::ranks])
    loss = ((model(mine) - mine.sum(axis=1, keepdim=True)) ** 2).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
values = numpy.concatenate([value.numpy().ravel() for value in net.parameters()])
assert abs(values - own).max() > 0.01, "nothing was trained"
every = []
paddle.distributed.all_gather(every, paddle.to_tensor(values))
assert all((one.numpy() == values).all() for one in every), every
numpy.save(sys.argv[0] + f".{ranks}.{rank}.npy", values)
print("rank", rank, "of", ranks, "on", net[0].weight.place)
"""


# NCCL refuses two processes on one GPU; by Gloo a machine with one GPU can try what several processes do.
@pytest.mark.parametrize("asked", ["cpu", pytest.param("gpu", marks=needs_gpu)])
def test_two_processes_on_one_device_train_as_one_does(tmp_path, build, asked):
    shared = launched(tmp_path, build, SHARED_GPU_JOB, asked, "--gpus=0,0", "--collective_backend=gloo")
    alone = launched(tmp_path, build, SHARED_GPU_JOB, asked, "--gpus=0", "--collective_backend=gloo")
    for ranks, logs in ((2, shared), (1, alone)):
        assert f"rank 0 of {ranks} on {'CPUPlace' if asked == 'cpu' else 'CUDAPlace(0)'}" in logs, logs
    of_two, of_one = (numpy.load(tmp_path / f"job.py.{ranks}.0.npy") for ranks in (2, 1))
    numpy.testing.assert_allclose(of_two, of_one, rtol=1e-4, atol=1e-5)


SERVER_JOB = """
import sys
import numpy, paddle.fluid as fluid
from paddle.fluid.incubate.fleet.base.role_maker import PaddleCloudRoleMaker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler.distributed_strategy import StrategyFactory
place, mode = sys.argv[1:]
fleet.init(PaddleCloudRoleMaker())
fluid.default_startup_program().random_seed = 7
ids, x, label = fluid.layers.data("ids", [1], dtype="int64", lod_level=1), fluid.layers.data("x", [4]), fluid.layers.data("label", [1], dtype="int64")
rows = fluid.layers.embedding(ids, [1000, 8], is_sparse=True, param_attr=fluid.ParamAttr(name="rows", initializer=fluid.initializer.Uniform(-0.1, 0.1)))
hidden = fluid.layers.fc(fluid.layers.concat([fluid.layers.sequence_pool(rows, "sum"), x], axis=1), 16, act="relu")
predict = fluid.layers.fc(hidden, 2, act="softmax")
loss = fluid.layers.mean(fluid.layers.cross_entropy(predict, label))
auc = fluid.layers.auc(predict, label)[0]
strategy = StrategyFactory.create_geo_strategy(10) if mode == "geo" else getattr(StrategyFactory, f"create_{mode}_strategy")()
optimizer = fluid.optimizer.SGD(0.5) if mode == "geo" else fluid.optimizer.Adam(0.01)
fleet.distributed_optimizer(optimizer, strategy).minimize(loss)
if fleet.is_server():
    fleet.init_server()
    fleet.run_server()
    sys.exit()
fleet.init_worker()
numbers = numpy.random.default_rng(3)
with open(f"{place}-{mode}.txt", "w") as file:
    for _ in range(2000):
        some, value = numbers.integers(0, 1000, numbers.integers(1, 5)), numbers.standard_normal(4)
        print(len(some), *some, 4, *value.round(3), 1, int(value.sum() + (some % 3 - 1).sum() > 0), file=file)
exe = fluid.Executor(fluid.CPUPlace() if place == "cpu" else fluid.CUDAPlace(0))
exe.run(fluid.default_startup_program())
dataset = fluid.DatasetFactory().create_dataset("QueueDataset")
dataset.set_use_var([ids, x, label])
dataset.set_pipe_command("cat")
dataset.set_batch_size(50)
dataset.set_thread(1)
dataset.set_filelist([f"{place}-{mode}.txt"])
for _ in range(5):
    exe.train_from_dataset(fluid.default_main_program(), dataset)
feed = {"ids": fluid.create_lod_tensor(numpy.arange(90).reshape(-1, 1), [[3] * 30], fluid.CPUPlace()), "x": numpy.eye(30, 4, dtype="float32"), "label": numpy.zeros([30, 1], "int64")}
found = exe.run(fluid.default_main_program().clone(for_test=True), feed=feed, fetch_list=[predict, auc])
numpy.save(f"{place}-{mode}.npy", found[0])
print("on", exe.place, "auc", found[1].item())
fleet.stop_worker()
"""


# Servers are on the CPU in any case; rows come to the worker by way of pinned memory, and gradients go back together.
@pytest.mark.parametrize("mode", ["sync", "half_async", "async", "geo"])
@pytest.mark.parametrize("asked", ["cpu", pytest.param("gpu", marks=needs_gpu)])
def test_a_worker_of_servers_trains_as_on_the_cpu(tmp_path, build, asked, mode):
    if not (build / "bin/argosy-server").exists():
        pytest.skip("a build without parameter servers")
    predictions = {}
    for place in ("cpu", "gpu"):
        logs = launched(tmp_path, build, SERVER_JOB, asked, "--server_num=1", "--worker_num=1", arguments=[place, mode])
        assert f"on {'CUDAPlace(0)' if (place, asked) == ('gpu', 'gpu') else 'CPUPlace'} auc 0.9" in logs, logs
        predictions[place] = numpy.load(tmp_path / f"{place}-{mode}.npy")
    assert predictions["cpu"].std() > 0.1, "it has learned something"
    numpy.testing.assert_allclose(predictions["gpu"], predictions["cpu"], atol=0.15 if mode == "async" else 1e-3)
