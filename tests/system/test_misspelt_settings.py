"""An ARGOSY_* variable that does not exist ends every program before it has done anything, and the nearest name is said."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = """
import paddle.fluid as fluid
exe = fluid.Executor(fluid.CPUPlace())
open('ran', 'w').close()
"""
MODEL = "model"  # is not there: nobody looks for it
COMMANDS = {
    "argosy inspect": ["argosy", "inspect", MODEL],
    "argosy inspect of what Python writes": ["argosy", "inspect", "model.pdparams"],
    "argosy convert": ["argosy", "convert", "--from", "criteo", "a.gz", "a.parquet"],
    "argosy convert of a model": ["argosy", "convert", MODEL, "model.onnx"],
    "argosy status": ["argosy", "status", "logs"],
    "argosy rows": ["argosy", "rows", "127.0.0.1:1"],
    "argosy serve": ["argosy", "serve", MODEL],
    "argosy-predict": ["argosy-predict", "check-online", MODEL, MODEL],
    "argosy-server": ["argosy-server", "--address=127.0.0.1:0"],
}


def run(command, cwd, **variables):
    environment = dict(os.environ, ARGOSY_PYTHON=sys.executable, **variables)
    return subprocess.run([str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_program_names_the_nearest_variable(tmp_path, name):
    done = run(COMMANDS[name], tmp_path, ARGOSY_DEVCE="cpu")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "there is no environment variable ARGOSY_DEVCE, did you mean ARGOSY_DEVICE?" in done.stderr, done.stderr


def test_help_is_shown_all_the_same(tmp_path):
    done = run(["argosy", "status", "--help"], tmp_path, ARGOSY_DEVCE="cpu")
    assert done.returncode == 0 and "usage" in done.stdout.lower(), done.stdout + done.stderr


def test_a_plain_script_says_it_where_it_first_uses_the_package(tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT)
    done = run([sys.executable, "train.py"], tmp_path, ARGOSY_DEVCE="cpu")
    assert done.returncode == 1 and not (tmp_path / "ran").exists()
    assert done.stderr.strip().splitlines()[-1].startswith("ImportError: there is no environment variable ARGOSY_DEVCE, did you mean ARGOSY_DEVICE?")
    assert run([sys.executable, "train.py"], tmp_path, ARGOSY_DEVICE="cpu").returncode == 0


def test_a_program_in_cpp_says_it_as_well(tmp_path):
    done = run([ROOT / "build" / "release" / "examples" / "ranking", "deepfm", tmp_path], tmp_path, ARGOSY_DEVCE="cpu")
    assert done.returncode != 0 and "did you mean ARGOSY_DEVICE?" in done.stdout + done.stderr, done.stdout + done.stderr


FLAGS = """
import warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    import paddle.fluid as fluid
    fluid.Executor(fluid.CPUPlace())
print([str(one.message) for one in told])
"""


def test_a_flag_of_paddle_that_nobody_knows_is_a_warning_with_the_nearest(tmp_path):
    """Paddle passes over it, and so did this package."""
    (tmp_path / "train.py").write_text(FLAGS)
    done = run([sys.executable, "train.py"], tmp_path, FLAGS_chek_nan_inf="1", FLAGS_quite_another="1", FLAGS_check_nan_inf="1", FLAGS_START_PORT="6170")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(
        [
            "environment variable FLAGS_chek_nan_inf is no flag that is known here, did you mean FLAGS_check_nan_inf? Setting it changes nothing",
            "environment variable FLAGS_quite_another is no flag that is known here; setting it changes nothing",
        ]
    ), done.stdout
    done = run([sys.executable, "train.py"], tmp_path, FLAGS_communicator_send_queue_size="20", FLAGS_eager_delete_tensor_gb="0")
    assert done.stdout == "[]\n", done.stdout + done.stderr
