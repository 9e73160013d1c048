"""The examples run, and a C++ program and its Python twin are the same training."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

from ports import free_range

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
EXAMPLES = BUILD / "examples"


def output_of(command, cwd, **env):
    environment = dict(os.environ, OMP_NUM_THREADS="1", **env)
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def criteo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("criteo")
    output_of([sys.executable, ROOT / "tools" / "make_criteo.py", folder, "--lines", "6000", "--files", "3"], folder)
    return folder / "train"


def losses(text):
    return [float(value) for value in re.findall(r"loss:? (\d+\.\d+)", text)]


def test_mlp_learns_and_equals_its_twin(tmp_path):
    ours = losses(output_of([EXAMPLES / "mlp"], tmp_path))
    twin = losses(output_of([sys.executable, ROOT / "examples" / "mlp.py"], tmp_path))
    assert len(ours) == 10 and ours[-1] < ours[0] - 0.05
    assert ours == pytest.approx(twin, abs=2e-6)


def test_ctr_dnn_learns_equals_its_twin_and_saves_a_model(criteo, tmp_path):
    ours = output_of([EXAMPLES / "ctr_dnn", f"{criteo}/*", "model-cc"], tmp_path)
    twin = output_of([sys.executable, ROOT / "examples" / "ctr_dnn.py", f"{criteo}/*", "model-py"], tmp_path)
    assert losses(ours) and losses(ours) == pytest.approx(losses(twin), abs=2e-6)
    for model in ("model-cc", "model-py"):
        assert (tmp_path / model / "__model__").is_file() and (tmp_path / model / "SparseFeatFactors").is_file()
    assert (tmp_path / "model-cc" / "fc_0.w_0").read_bytes() == (tmp_path / "model-py" / "fc_0.w_0").read_bytes()
    clicks = output_of([EXAMPLES / "predict", "model-cc"], tmp_path)
    assert re.fullmatch(r"click of sample 0: 0\.\d{6}\nclick of sample 1: 0\.\d{6}\n", clicks)
    assert clicks == output_of([sys.executable, ROOT / "examples" / "predict.py", "model-cc"], tmp_path)


@pytest.mark.parametrize("command", [["--no-python", EXAMPLES / "ctr_fleet"], [ROOT / "examples" / "ctr_fleet.py"]], ids=["cc", "py"])
def test_ctr_fleet_trains_on_all_files_and_saves_a_model(criteo, tmp_path, command):
    """A job of 2 servers and 2 workers, with too few samples to learn much; worker 0 saves the model, and it opens on one machine."""
    port = free_range(4)
    output_of(
        ["fleetrun", f"--start_port={port}", "--server_num=2", "--worker_num=2", *command, f"{criteo}/*", "model"], tmp_path, ARGOSY_PYTHON=sys.executable
    )
    logs = [(tmp_path / "logs" / f"workerlog.{i}").read_text() for i in range(2)]
    assert "saved model" in logs[0] and "saved" not in logs[1]
    for log, samples in zip(logs, ("4,000", "2,000")):
        assert f"{samples} samples in" in log and all(0 < loss < 10 for loss in losses(log)), log
    assert {"__model__", "SparseFeatFactors", "fc_0.w_0"} <= {file.name for file in (tmp_path / "model").iterdir()}
    (tmp_path / "open.py").write_text(
        "import paddle.fluid as fluid\nexe = fluid.Executor(fluid.CPUPlace())\n"
        "program, feeds, targets = fluid.io.load_inference_model('model', exe)\nprint(len(feeds), targets[0].shape)\n"
    )
    assert "27 " in output_of([sys.executable, "open.py"], tmp_path)


def forms(name):
    """An example as fleetrun's arguments, in both languages."""
    return pytest.mark.parametrize("example", [["--no-python", EXAMPLES / name], [ROOT / "examples" / f"{name}.py"]], ids=["cc", "py"])


def on_servers(example, *arguments, cwd):
    """Runs an example on 2 servers and 2 workers; returns what the workers said. An example that learned nothing fails by itself."""
    output_of(["fleetrun", f"--start_port={free_range(4)}", "--server_num=2", "--worker_num=2", *example, *arguments], cwd, ARGOSY_PYTHON=sys.executable)
    return [(cwd / "logs" / f"workerlog.{i}").read_text() for i in range(2)]


@forms("mlp_fleet")
def test_a_perceptron_learns_on_servers(tmp_path, example):
    """A loss of 0.69 is that of a guess."""
    for log in on_servers(example, cwd=tmp_path):
        assert losses(log)[-1] < 0.3 and "test accuracy 0.9" in log


@pytest.mark.parametrize("program", [[EXAMPLES / "housing"], [sys.executable, ROOT / "examples" / "housing.py"]], ids=["cc", "py"])
def test_servers_and_workers_are_started_by_hand(tmp_path, program):
    ports = [free_range(1), free_range(1)]
    common = {"PADDLE_PSERVERS_IP_PORT_LIST": ",".join(f"127.0.0.1:{port}" for port in ports), "PADDLE_TRAINERS_NUM": "2"}
    roles = [{"TRAINING_ROLE": "PSERVER", "POD_IP": "127.0.0.1", "PADDLE_PORT": str(port)} for port in ports]
    roles += [{"TRAINING_ROLE": "TRAINER", "PADDLE_TRAINER_ID": str(i)} for i in range(2)]
    processes = [
        subprocess.Popen(
            program, cwd=tmp_path, env=dict(os.environ, OMP_NUM_THREADS="1", **common, **role), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for role in roles
    ]
    try:
        outputs = [process.communicate(timeout=120)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert [process.returncode for process in processes] == [0, 0, 0, 0], outputs
    assert all("squared error of new houses 0.00" in output for output in outputs[2:])


@forms("incremental")
def test_a_second_day_goes_on_from_the_first(tmp_path, example):
    """The second day's job sees only its own keys; without the first day's model it fails."""
    on_servers(example, "1", "day1", cwd=tmp_path)
    for log in on_servers(example, "2", "day2", "day1", cwd=tmp_path):
        assert "day 2: squared error of all keys so far 0.000" in log
    with pytest.raises(AssertionError, match="the keys were not learned, or forgotten"):
        on_servers(example, "2", "day2", cwd=tmp_path)


def test_a_day_of_one_language_goes_on_in_the_other(tmp_path):
    on_servers([ROOT / "examples/incremental.py"], "1", "day1", cwd=tmp_path)
    on_servers(["--no-python", EXAMPLES / "incremental"], "2", "day2", "day1", cwd=tmp_path)


@forms("evaluation")
def test_workers_evaluate_together(criteo, tmp_path, example):
    """The AUC is one number for all workers, and none of theirs."""
    logs = on_servers(example, f"{criteo}/part-0000[01]*", f"{criteo}/part-0000[12]*", cwd=tmp_path)
    of_all = [re.search(r"test auc of all workers (\S+)", log).group(1) for log in logs]
    own = [re.findall(r"auc of this worker: (\S+)", log)[-1] for log in logs]
    assert of_all[0] == of_all[1] and of_all[0] not in own and own[0] != own[1]


@forms("keypoints")
def test_face_keypoints_are_learned_by_two_processes(tmp_path, example):
    output_of(["fleetrun", "--nproc_per_node=2", *example], tmp_path, ARGOSY_PYTHON=sys.executable)
    missed = [re.search(r"missed by (\S+) pixels", (tmp_path / "log" / f"workerlog.{i}").read_text()).group(1) for i in range(2)]
    assert missed[0] == missed[1]  # one model


@pytest.mark.parametrize("example", ["mlp", "ctr_dnn", "ctr_fleet", "predict"])
def test_a_cpp_program_needs_no_python(example):
    assert "libpython" not in subprocess.run(["ldd", EXAMPLES / example], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("program", ["argosy", "argosy-server", "fleetrun"])
def test_small_programs_need_no_torch(program):
    libraries = subprocess.run(["ldd", BUILD / "bin" / program], capture_output=True, text=True, check=True).stdout
    assert "libtorch" not in libraries and "libc10" not in libraries and "libpython" not in libraries


@pytest.mark.parametrize("example", sorted(p.name for p in (ROOT / "examples").glob("*.[cp]*")))
def test_examples_stay_short(example):
    assert len((ROOT / "examples" / example).read_text().splitlines()) < 100


@pytest.mark.parametrize("source", ["messages", "files"])
def test_online_training_learns_while_it_is_served(tmp_path, source):
    words = ["--files"] if source == "files" else []
    said = output_of([sys.executable, ROOT / "examples" / "online" / "run.py", *words, tmp_path], tmp_path, ONLINE_LINES="12000")
    during, end = (sum(map(int, re.search(r"\[(.*)\]", line)[1].split(","))) for line in said.splitlines() if line.startswith("followers have applied"))
    assert 0 < during <= end, said
    assert sum(map(int, re.findall(r"(\d+) samples here", said))) == 12_000, said
    aucs = [(number, float(auc)) for number, auc in re.findall(r"(list \d+): .* progressive AUC (\d\.\d+) of all workers", said)]
    assert len(set(aucs)) == len(aucs) / 2 and max(auc for _, auc in aucs) > 0.55, said
    if source == "messages":
        assert sorted(folder.name for folder in (tmp_path / "models").iterdir()) == [f"12{minute:02}" for minute in range(1, 10)]
        assert re.findall(r"models/(\d+) has the clicks before 2026-01-01 (\d\d):(\d\d)", said)[-1] == ("1209", "12", "09")
        then, now = re.findall(r"a click's probability is (0\.\d+) (?:while the job goes on|in the end)", said)
        assert then != now, said
