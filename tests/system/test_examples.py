"""The examples run, and a C++ program and its Python twin are the same training."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
EXAMPLES = BUILD / "examples"


def output_of(command, cwd):
    environment = dict(os.environ, OMP_NUM_THREADS="1")
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


@pytest.mark.parametrize("example", ["mlp", "ctr_dnn"])
def test_a_cpp_program_needs_no_python(example):
    assert "libpython" not in subprocess.run(["ldd", EXAMPLES / example], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("program", ["argosy", "fleetrun"])
def test_small_programs_need_no_torch(program):
    libraries = subprocess.run(["ldd", BUILD / "bin" / program], capture_output=True, text=True, check=True).stdout
    assert "libtorch" not in libraries and "libc10" not in libraries


@pytest.mark.parametrize("example", sorted(p.name for p in (ROOT / "examples").glob("*.cc")))
def test_examples_stay_short(example):
    assert len((ROOT / "examples" / example).read_text().splitlines()) < 100
