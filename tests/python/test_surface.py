"""Modules that scripts of 1.x and 2.x import: each is here, works, or says what to use instead."""

import importlib
import json
import os
import stat
import subprocess
import sys

import numpy as np
import pytest

import paddle
from paddle import fluid
from paddle.distributed.fleet.utils import HDFSClient, LocalFS, fs, recompute

MODULES = """
    paddle.compat paddle.distributed.fleet.launch paddle.distributed.fleet.utils paddle.distributed.fleet.utils.fs paddle.distributed.utils
    paddle.distributed.utils.log_utils paddle.distributed.utils.launch_utils paddle.fluid.average paddle.fluid.communicator paddle.fluid.contrib
    paddle.fluid.contrib.layers paddle.fluid.contrib.mixed_precision paddle.fluid.contrib.model_stat paddle.fluid.entry_attr paddle.fluid.evaluator
    paddle.fluid.incubate.fleet.utils paddle.fluid.incubate.fleet.utils.fleet_util paddle.fluid.incubate.fleet.utils.hdfs
    paddle.fluid.incubate.fleet.utils.utils paddle.fluid.install_check paddle.fluid.learning_rate_decay paddle.fluid.profiler
""".split()

# What the client needs of `hadoop fs`, on files under $ROOT. Each command is noted; $ROOT/fail has how many of the next ones fail.
HADOOP = r"""#!/usr/bin/env python3
import os, pathlib, shutil, sys
root = pathlib.Path(os.environ["ROOT"])
with open(root / "commands", "a") as file:
    file.write(" ".join(sys.argv[1:]) + "\n")
left = root / "fail"
if left.exists() and int(left.read_text()):
    left.write_text(str(int(left.read_text()) - 1))
    sys.exit("the name node is busy") if os.environ.get("STATUS", "255") == "255" else sys.exit(int(os.environ["STATUS"]))
words = sys.argv[2:]  # after fs
while words[0] == "-D":
    words = words[2:]
order, options, paths = words[0], [w for w in words[1:] if w.startswith("-")], [w for w in words[1:] if not w.startswith("-")]
at = lambda path: root / "files" / path.lstrip("/")
if order == "-test":
    sys.exit(0 if (at(paths[0]).is_dir() if "-d" in options else at(paths[0]).exists()) else 1)
if order == "-ls":
    print("Found some items")
    for path in paths:
        for one in sorted(at(path).rglob("*") if "-R" in options else at(path).iterdir()):
            name = path.rstrip("/") + "/" + str(one.relative_to(at(path)))
            print("%s 1 user group %d 2024-01-01 10:00 %s" % ("drwxr-xr-x" if one.is_dir() else "-rw-r--r--", one.stat().st_size, name))
elif order == "-mkdir":
    at(paths[0]).mkdir(parents="-p" in options)
elif order == "-rm":
    shutil.rmtree(at(paths[0])) if "-r" in options else at(paths[0]).unlink()
elif order == "-touchz":
    at(paths[0]).touch()
elif order == "-cat":
    print(at(paths[0]).read_text(), end="")
elif order == "-mv":
    at(paths[0]).rename(at(paths[1]))
elif order in ("-put", "-get"):
    source, target = (pathlib.Path(paths[0]), at(paths[1])) if order == "-put" else (at(paths[0]), pathlib.Path(paths[1]))
    target = target / source.name if target.is_dir() else target
    (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
else:
    sys.exit("unknown order " + order)
"""


@pytest.fixture
def hadoop(tmp_path, monkeypatch):
    """(folder of the fake, a client of it)."""
    root = tmp_path / "hadoop"
    (root / "bin").mkdir(parents=True)
    (root / "files").mkdir()
    script = root / "bin" / "hadoop"
    script.write_text(HADOOP, encoding="utf-8")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("ROOT", str(root))
    return root, HDFSClient(str(root), {"fs.default.name": "hdfs://host", "hadoop.job.ugi": "user,secret"}, sleep_inter=1)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_here_and_offers_what_it_says(name):
    module = importlib.import_module(name)
    assert all(hasattr(module, one) for one in getattr(module, "__all__", ()))


def test_files_of_hadoop(hadoop, tmp_path):
    root, client = hadoop
    client.mkdirs("/data/day")
    client.touch("/data/done")
    assert client.ls_dir("/data") == (["day"], ["done"]) and client.list_dirs("/data") == ["day"] and client.ls_dir("/nowhere") == ([], [])
    assert client.is_dir("/data") and client.is_file("/data/done") and not client.is_exist("/nothing") and client.need_upload_download()
    local = tmp_path / "local"
    local.mkdir()
    for i in range(7):
        (local / f"part-{i}").write_text(f"line {i}\n", encoding="utf-8")
    client.upload(str(local), "/data/day")
    assert client.cat("/data/day/part-3") == "line 3" and client.cat("/data") == ""
    assert client.list_files_info(["/data/day"])[0] == {"path": "/data/day/part-0", "size": 7}
    client.download("/data", str(tmp_path / "back"))
    assert sorted(os.listdir(tmp_path / "back")) == ["day", "done"] and (tmp_path / "back" / "day" / "part-6").read_text() == "line 6\n"
    client.mv("/data/day", "/data/night")
    client.delete("/data/night")
    assert client.ls_dir("/data") == ([], ["done"])
    assert (root / "commands").read_text().splitlines()[0].startswith("fs -D fs.default.name=hdfs://host -D hadoop.job.ugi=user,secret -test")


def test_a_command_that_fails_is_tried_again_and_an_error_at_the_end(hadoop, monkeypatch):
    root, client = hadoop
    (root / "fail").write_text("3")
    client._run("-mkdir", "-p", "/data")
    assert (root / "files" / "data").is_dir()
    (root / "fail").write_text("6")
    with pytest.raises(fs.ExecuteError, match="-touchz /data/x: exit status 1 6 times; it says: the name node is busy") as caught:
        client._create("/data/x")
    assert "secret" not in str(caught.value)
    monkeypatch.setenv("STATUS", "7")
    (root / "fail").write_text("2")
    with pytest.raises(fs.ExecuteError, match="-test -e /data: exit status 7"):  # a question without an answer is not "no"
        client.is_exist("/data")
    monkeypatch.setenv("STATUS", "134")
    (root / "fail").write_text("2")
    with pytest.raises(fs.FSShellCmdAborted):
        client.is_exist("/data")


def test_errors_of_files(hadoop, tmp_path, monkeypatch):
    _, client = hadoop
    client.touch("/a")
    client.touch("/b")
    with pytest.raises(fs.FSFileExistsError, match="/a is there"):
        client.touch("/a", exist_ok=False)
    with pytest.raises(fs.FSFileExistsError, match="/b is there already; overwrite=True"):
        client.mv("/a", "/b")
    client.mv("/a", "/b", overwrite=True)
    with pytest.raises(fs.FSFileNotExistsError, match="/a is not there"):
        client.mv("/a", "/c")
    with pytest.raises(fs.FSFileNotExistsError, match="upload: .*nothing"):
        client.upload(str(tmp_path / "nothing"), "/data")
    with pytest.raises(fs.FSFileNotExistsError, match="download: /none"):
        client.download("/none", str(tmp_path))
    with pytest.raises(fs.ExecuteError, match="there is no /nowhere/bin/hadoop"):
        HDFSClient("/nowhere", None).is_exist("/a")
    monkeypatch.setenv("ARGOSY_FS_COMMAND", "sleep 9")
    with pytest.raises(fs.FSTimeOut, match="not done within 0.2 s"):
        HDFSClient(None, None, time_out=200)._run("5")


def test_the_client_of_1_x_has_its_own_order_of_arguments(hadoop, tmp_path):
    from paddle.fluid.incubate.fleet.utils.hdfs import HDFSClient as Old

    client = Old(str(hadoop[0]), {})
    (tmp_path / "part").write_text("x", encoding="utf-8")
    client.makedirs("/in/deep")
    client.upload("/in/deep/part", str(tmp_path / "part"))
    assert client.ls("/in") == ["/in/deep"] and client.lsr("/in") == ["/in/deep/part"]
    client.rename("/in/deep", "/in/other")
    assert client.lsr("/in") == ["/in/other/part"]
    client._pause = 0
    with pytest.raises(fs.ExecuteError, match="exit status 1 3 times"):
        client.upload("/in/none/deep/part", str(tmp_path / "part"), retry_times=2)
    assert [Old.split_files(list("abcde"), i, 2) for i in range(2)] == [["a", "b", "c"], ["d", "e"]]


def test_files_of_this_machine(tmp_path):
    client = LocalFS()
    client.mkdirs(str(tmp_path / "a" / "b"))
    client.touch(str(tmp_path / "a" / "c"))
    assert client.ls_dir(str(tmp_path / "a")) == (["b"], ["c"]) and not client.need_upload_download()
    with pytest.raises(FileExistsError):
        client.mv(str(tmp_path / "a" / "c"), str(tmp_path / "a" / "b"))
    with pytest.raises(FileNotFoundError):
        client.mv(str(tmp_path / "none"), str(tmp_path / "x"))
    client.mv(str(tmp_path / "a" / "c"), str(tmp_path / "a" / "d"))
    client.delete(str(tmp_path / "a"))
    client.delete(str(tmp_path / "a"))
    assert not client.is_exist(str(tmp_path / "a"))


# Dropout inside: the second computation has the first one's random numbers, or the gradients would be others.
def test_recompute_gives_the_gradients_of_the_plain_call():
    paddle.disable_static()
    block = paddle.nn.Sequential(paddle.nn.Linear(4, 16), paddle.nn.ReLU(), paddle.nn.Dropout(0.5), paddle.nn.Linear(16, 1))
    calls = []
    block.register_forward_pre_hook(lambda layer, inputs: calls.append(1) and None)

    def gradients(call):
        paddle.seed(5)
        x = paddle.to_tensor(np.random.RandomState(0).rand(8, 4).astype("float32"), stop_gradient=False)
        call(x).sum().backward()
        found = [x.grad.numpy(), *(one.grad.numpy() for one in block.parameters())]
        block.clear_gradients()
        return found

    plain = gradients(block)
    again = gradients(lambda x: recompute(block, x))
    assert len(calls) == 3  # once, and twice
    for one, other in zip(plain, again, strict=True):
        np.testing.assert_array_equal(one, other)


def test_recompute_casts_as_the_first_time():
    paddle.disable_static()
    seen = []

    def block(x):
        found = paddle.tanh(x)
        seen.append(str(found.dtype))
        return paddle.tanh(found)  # the second computation ends with the last value that is needed

    x = paddle.ones([2, 2])
    x.stop_gradient = False
    with paddle.amp.auto_cast(dtype="bfloat16", custom_white_list=["tanh"]):
        y = recompute(block, x)
    y.sum().backward()
    assert seen == ["paddle.bfloat16"] * 2


def test_recompute_refuses_programs():
    paddle.enable_static()
    try:
        with pytest.raises(RuntimeError, match="recompute is of the dynamic graph"):
            recompute(lambda x: x, 1)
    finally:
        paddle.disable_static()


def test_fleet_launch_is_fleetrun(tmp_path):
    (tmp_path / "train.py").write_text("import os; print('rank', os.environ['PADDLE_TRAINER_ID'])", encoding="utf-8")
    command = [sys.executable, "-m", "paddle.distributed.fleet.launch", "--nproc_per_node", "2", "--log_dir", "log", "train.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert sorted((tmp_path / "log" / f"workerlog.{i}").read_text().strip().splitlines()[-1] for i in range(2)) == ["rank 0", "rank 1"]


def test_global_auc_of_a_program_and_zero_again(capsys):
    from paddle.fluid.incubate.fleet.utils.fleet_util import FleetUtil

    util = FleetUtil()
    paddle.distributed.fleet.init(is_collective=True)
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.scope_guard(fluid.Scope()):
        score, label = fluid.data("score", [None, 2]), fluid.data("label", [None, 1], "int64")
        _, _, states = fluid.layers.auc(score, label, slide_steps=0)
        exe = fluid.Executor(fluid.CPUPlace())
        exe.run(fluid.default_startup_program())
        feed = {"score": np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]], "float32"), "label": np.array([[0], [1], [0]], "int64")}
        exe.run(feed=feed, fetch_list=[])
        names = [one.name for one in states[-2:]]
        assert util.get_global_auc(fluid.global_scope(), *names) == pytest.approx(1.0)
        util.print_global_auc(fluid.global_scope(), *names, print_prefix="pass 1")
        assert capsys.readouterr().out == "pass 1 global auc = 1.0\n"
        util.set_zero(names[0], fluid.global_scope())
        assert not np.array(fluid.global_scope().find_var(names[0]).get_tensor()).any()
        with pytest.raises(KeyError, match="'nothing' has no value"):
            util.set_zero("nothing", fluid.global_scope())
    with pytest.raises(AttributeError, match="save_delta_model is for servers and files that are not Argosy's; use fleet.save_persistables"):
        util.save_delta_model
    for name, words in [("get_global_metrics", "ctr_metric_bundle"), ("load_model", "fleet.load_persistables"), ("get_last_save_xbox", "argosy inspect")]:
        with pytest.raises(AttributeError, match=words):
            getattr(util, name)


def test_online_passes():
    from paddle.fluid.incubate.fleet.utils.fleet_util import FleetUtil

    found = FleetUtil().get_online_pass_interval("{20240101..20240102}", "{0..1}", 30, 2, False)
    assert found == [["0000", "0030"], ["0100", "0130"]]


def test_programs_in_files(tmp_path):
    from paddle.fluid.incubate.fleet.utils import utils

    with fluid.program_guard(fluid.Program(), fluid.Program()):
        fluid.layers.fc(fluid.data("x", [None, 2]), 1)
        program = fluid.default_main_program()
    utils.save_program(program, str(tmp_path / "__model__"))
    loaded = utils.load_program(str(tmp_path / "__model__"))
    assert [op.type for op in loaded.global_block().ops] == [op.type for op in program.global_block().ops]
    utils.parse_program(loaded, str(tmp_path))
    assert program.all_parameters()[0].name in (tmp_path / "vars_all.log").read_text() and (tmp_path / "ops.log").read_text()
    assert utils.check_pruned_program_vars(program, loaded)
    with pytest.raises(ValueError, match="is not in the other one"):
        utils.check_pruned_program_vars(fluid.Program(), loaded)
    with pytest.raises(NotImplementedError, match="binary form"):
        utils.load_program("x", is_text=True)


# Programs are run by the core; torch's profiler sees their operators all the same.
def test_the_profiler_sees_operators_of_programs(tmp_path, capsys):
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.scope_guard(fluid.Scope()):
        y = fluid.layers.fc(fluid.data("x", [None, 2]), 1)
        exe = fluid.Executor(fluid.CPUPlace())
        exe.run(fluid.default_startup_program())
        with fluid.profiler.profiler("CPU", "total", str(tmp_path / "profile")):
            exe.run(feed={"x": np.ones((3, 2), "float32")}, fetch_list=[y])
    assert "aten::" in capsys.readouterr().out
    assert any("mm" in event.get("name", "") for event in json.loads((tmp_path / "profile").read_text())["traceEvents"])
    with pytest.raises(RuntimeError, match="no profiler runs"):
        fluid.profiler.stop_profiler()
    with pytest.raises(ValueError, match="state is one of CPU, GPU, All"):
        fluid.profiler.start_profiler("cpu")


def test_what_is_not_here_names_its_substitute():
    for call, words in [
        (lambda: fluid.communicator.Communicator(None), "fleet.init_worker"),
        (lambda: fluid.DataFeedDesc("x.proto"), "set_use_var"),
        (lambda: fluid.cuda_pinned_places(), "cpu_places"),
        (lambda: fluid.WeightNormParamAttr(dim=0), "ParamAttr"),
    ]:
        with pytest.raises(NotImplementedError, match=words):
            call()
    for module, name, words in [
        (fluid.contrib, "slim", "serving"),
        (fluid.contrib.layers, "shuffle_batch", "local_shuffle"),
        (fluid.evaluator, "ChunkEvaluator", "MetricBase"),
    ]:
        with pytest.raises(AttributeError, match=words):
            getattr(module, name)


def test_contrib_layers_compute():
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        x = fluid.data("x", [None, 3])
        found = [
            fluid.contrib.layers.partial_concat([x, x], 1, 2),
            fluid.contrib.layers.partial_sum([x, x], -2, 1),
            fluid.contrib.layers.fused_elemwise_activation(x, x, ["elementwise_add", "scale"], scale=2.0),
        ]
        values = fluid.Executor(fluid.CPUPlace()).run(feed={"x": np.array([[1, 2, 3]], "float32")}, fetch_list=found)
    assert [one.tolist() for one in values] == [[[2, 3, 2, 3]], [[4]], [[3, 6, 9]]]


def test_the_bundle_of_ctr_metrics_is_that_of_static():
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.scope_guard(fluid.Scope()):
        score, label = fluid.data("score", [None, 1]), fluid.data("label", [None, 1], "int64")
        found = fluid.contrib.layers.ctr_metric_bundle(score, label)
        exe = fluid.Executor(fluid.CPUPlace())
        exe.run(fluid.default_startup_program())
        feed = {"score": np.array([[0.75], [0.5]], "float32"), "label": np.array([[1], [0]])}
        for _ in range(2):
            values = [float(one) for one in exe.run(feed=feed, fetch_list=list(found))]
    assert values[:3] == pytest.approx([0.625, 1.5, 2.5]) and values[4:] == [2.0, 4.0]  # squared and absolute errors, predictions, clicks, samples


def test_compat():
    from paddle import compat

    nest = [b"a", {b"k": b"v"}]
    assert compat.to_text(nest) == ["a", {"k": "v"}] and nest == [b"a", {b"k": b"v"}]
    assert compat.to_text(nest, inplace=True) is nest and nest == ["a", {"k": "v"}]
    assert compat.to_bytes({"a"}) == {b"a"} and compat.round(1.25, 1) == 1.3 and compat.long_type is int


INFER = """
import numpy as np
import paddle
from paddle import fluid
from paddle.distributed import fleet
from paddle.distributed.fleet.utils import DistributedInfer

paddle.enable_static()
fleet.init()
ids, y = fluid.data("ids", [None, 1], "int64"), fluid.data("y", [None, 1])
rows = paddle.static.nn.sparse_embedding(ids, [1000, 4], param_attr=fluid.ParamAttr(name="table", initializer=fluid.initializer.Constant(0.5)))
score = fluid.layers.fc(fluid.layers.reshape(rows, [-1, 4]), 1, param_attr=fluid.initializer.Constant(0.1))
loss = fluid.layers.mean(fluid.layers.square_error_cost(score, y))
infer = DistributedInfer(main_program=fluid.default_main_program(), startup_program=fluid.default_startup_program())
strategy = fleet.DistributedStrategy()
strategy.a_sync = False
fleet.distributed_optimizer(paddle.optimizer.SGD(0.1), strategy).minimize(loss)
if fleet.is_server():
    fleet.init_server()
    fleet.run_server()
else:
    exe = paddle.static.Executor(paddle.CPUPlace())
    exe.run(fluid.default_startup_program())
    fleet.init_worker()
    feed = {"ids": np.array([[1], [2]], "int64"), "y": np.ones((2, 1), "float32")}
    for _ in range(40):
        exe.run(feed=feed, fetch_list=[loss])
    fleet.save_persistables(exe, "model")
    for _ in range(40):
        exe.run(feed=dict(feed, y=np.full((2, 1), 5, "float32")), fetch_list=[loss])
    infer.init_distributed_infer_env(exe, loss, dirname="model")
    program = infer.get_dist_infer_program()
    first, second = (exe.run(program, feed=feed, fetch_list=[score.name, loss.name]) for _ in range(2))
    print("same", bool((first[0] == second[0]).all()), "loss", float(first[1]), [op.type for op in program.global_block().ops if op.type == "sgd"])
    fleet.stop_worker()
"""


# The rows that training has moved lie on the server alone: a loss near 0 has been computed from them, and from those of the folder.
def test_distributed_infer_reads_the_servers_and_trains_nothing(build, tmp_path):
    (tmp_path / "job.py").write_text(INFER, encoding="utf-8")
    command = [str(build / "bin/fleetrun"), "--server_num", "1", "--worker_num", "1", "--log_dir", "logs", "job.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=90)
    log = (tmp_path / "logs/workerlog.0").read_text(encoding="utf-8")
    assert done.returncode == 0, done.stderr + log
    words = next(line for line in log.splitlines() if line.startswith("same")).split()
    assert words[1] == "True" and float(words[3]) < 0.01 and words[4] == "[]"
    assert "80 runs" in done.stderr + done.stdout + log


def test_distributed_infer_is_for_workers_with_servers():
    from paddle.distributed.fleet.utils import DistributedInfer

    with pytest.raises(RuntimeError, match="init_distributed_infer_env\\(exe, loss\\) comes first"):
        DistributedInfer().get_dist_infer_program()
