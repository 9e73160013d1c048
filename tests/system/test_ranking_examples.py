"""The ranking models learn what is in the data, alike in both languages, on one machine and on servers.

Here two of them are trained on servers; all are with ARGOSY_EVERY_EXAMPLE=1, at night.
"""

import os
import pathlib
import re
import subprocess
import sys

import pytest

from ports import free_range

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build" / "release" / "examples" / "ranking"
# How far below the best possible AUC each may stay: what it cannot see (logistic regression: everything but single effects), and what 20,000 lines do not show.
MODELS = {
    "logistic_regression": 0.15,
    "wide_deep": 0.12,
    "deepfm": 0.08,
    "dcn_v2": 0.09,
    "xdeepfm": 0.08,
    "din": 0.11,
    "mmoe": 0.1,
    "dssm": 0.13,
    "gru4rec": 0.12,
}
EVERY = bool(os.environ.get("ARGOSY_EVERY_EXAMPLE"))
ON_SERVERS = [(model, form) for model in MODELS for form in ("cc", "py") if EVERY or (model, form) in (("deepfm", "cc"), ("gru4rec", "py"))]


def output_of(command, cwd):
    environment = {name: value for name, value in os.environ.items() if name != "ARGOSY_EVERY_EXAMPLE"}  # nothing of a job
    environment |= {"OMP_NUM_THREADS": "1", "ARGOSY_PYTHON": sys.executable}
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def auc_of(text):
    return float(re.search(r"test auc (\d\.\d+)", text).group(1))


@pytest.fixture(scope="module")
def clicks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clicks")
    said = output_of([sys.executable, ROOT / "examples" / "ranking" / "clicks.py", folder], folder)
    best = float((folder / "best_auc").read_text())
    assert f"the best possible test auc is {best:.4f}" in said and 0.85 < best < 0.9
    return folder, best


@pytest.mark.parametrize("model", MODELS)
def test_a_model_learns_and_equals_its_twin(clicks, tmp_path, model):
    folder, best = clicks
    ours = auc_of(output_of([PROGRAM, model, folder], tmp_path))
    twin = auc_of(output_of([sys.executable, ROOT / "examples" / "ranking" / f"{model}.py", folder], tmp_path))
    assert best - MODELS[model] < twin < best
    assert ours == pytest.approx(twin, abs=2e-4)


@pytest.mark.parametrize("model, form", ON_SERVERS)
def test_a_model_learns_on_servers(clicks, tmp_path, model, form):
    """Two workers read a file each; the AUC is that over both, and nearly that of one machine."""
    folder, best = clicks
    command = ["--no-python", PROGRAM, model] if form == "cc" else [ROOT / "examples" / "ranking" / f"{model}.py"]
    output_of(["fleetrun", f"--start_port={free_range(4)}", "--server_num=2", "--worker_num=2", *command, folder], tmp_path)
    found = [auc_of((tmp_path / "logs" / f"workerlog.{i}").read_text()) for i in range(2)]
    assert found[0] == found[1] and best - MODELS[model] - 0.02 < found[0] < best


def test_a_model_that_is_not_there_is_named(tmp_path):
    done = subprocess.run([PROGRAM, "deepmf", tmp_path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "models: dcn_v2 deepfm din" in done.stderr
