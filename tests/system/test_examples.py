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


@pytest.mark.parametrize("command", [["--no-python", EXAMPLES / "ctr_fleet"], [ROOT / "examples" / "ctr_fleet.py"]], ids=["cc", "py"])
def test_ctr_fleet_trains_on_all_files_and_saves_a_model(criteo, tmp_path, command):
    """A job of 2 servers and 2 workers, with too few samples to learn much; worker 0 saves the model, and it opens on one machine."""
    port = free_range(4)
    output_of(["fleetrun", f"--start_port={port}", "--server_num=2", "--worker_num=2", *command, f"{criteo}/*", "model"], tmp_path,
              ARGOSY_PYTHON=sys.executable)
    logs = [(tmp_path / "logs" / f"workerlog.{i}").read_text() for i in range(2)]
    assert "saved model" in logs[0] and "saved" not in logs[1]
    for log, samples in zip(logs, ("4,000", "2,000")):
        assert f"{samples} samples in" in log and all(0 < loss < 10 for loss in losses(log)), log
    assert {"__model__", "SparseFeatFactors", "fc_0.w_0"} <= {file.name for file in (tmp_path / "model").iterdir()}
    (tmp_path / "open.py").write_text("import paddle.fluid as fluid\nexe = fluid.Executor(fluid.CPUPlace())\n"
                                      "program, feeds, targets = fluid.io.load_inference_model('model', exe)\nprint(len(feeds), targets[0].shape)\n")
    assert "27 " in output_of([sys.executable, "open.py"], tmp_path)


@pytest.mark.parametrize("example", ["mlp", "ctr_dnn", "ctr_fleet"])
def test_a_cpp_program_needs_no_python(example):
    assert "libpython" not in subprocess.run(["ldd", EXAMPLES / example], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("program", ["argosy", "argosy-server", "fleetrun"])
def test_small_programs_need_no_torch(program):
    libraries = subprocess.run(["ldd", BUILD / "bin" / program], capture_output=True, text=True, check=True).stdout
    assert "libtorch" not in libraries and "libc10" not in libraries and "libpython" not in libraries


@pytest.mark.parametrize("example", sorted(p.name for p in (ROOT / "examples").glob("*.cc")))
def test_examples_stay_short(example):
    assert len((ROOT / "examples" / example).read_text().splitlines()) < 100
