"""Programs of paddle.nn layers on parameter servers, and alone."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

PROGRAM = pathlib.Path(__file__).parent / "programs" / "layers_on_servers.py"
TWO_OPTIMIZERS = PROGRAM.with_name("two_optimizers.py")
NOT_SET = ("TRAINING_ROLE", "PADDLE_TRAINING_ROLE", "PADDLE_PSERVERS_IP_PORT_LIST", "PADDLE_PSERVER_IPS", "PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM")


def numbers(what, text):
    found = re.search(rf"{what} (.*)", text)
    assert found, text
    return [float(one) for one in found[1].split()]


def ran(folder, *command):
    environment = {name: value for name, value in os.environ.items() if name not in NOT_SET}
    return subprocess.run(list(command), cwd=folder, env=environment, capture_output=True, text=True, timeout=180)


@pytest.mark.parametrize("rule", ["sgd", "lamb", "lars"])
def test_layers_train_on_a_server_as_alone(build, tmp_path, rule):
    """By the optimizer's own rule, and by that which strategy.lamb and strategy.lars make of it."""
    alone = ran(tmp_path, sys.executable, str(PROGRAM), rule)
    assert alone.returncode == 0, alone.stderr
    assert "this process trains alone" in alone.stderr
    job = ran(tmp_path, str(build / "bin/fleetrun"), "--server_num", "1", "--worker_num", "1", "--log_dir", "logs", str(PROGRAM), rule)
    log = (tmp_path / "logs/workerlog.0").read_text(encoding="utf-8")
    assert job.returncode == 0, job.stderr + log
    first, second = numbers("losses", alone.stdout), numbers("losses", log)
    assert first[-1] < first[0] and max(abs(a - b) for a, b in zip(first, second, strict=True)) < 2e-4, (first, second)
    first, second = numbers("means", alone.stdout), numbers("means", log)  # BatchNorm1D's running ones, which servers hold
    assert min(first) > 0.3 and max(abs(a - b) for a, b in zip(first, second, strict=True)) < 2e-4, (first, second)


def test_two_optimizers_of_one_program_train_on_a_server_as_alone(build, tmp_path):
    """Each moves its own parameters by its own rule and rate, as in a script of two adversaries."""
    alone = ran(tmp_path, sys.executable, str(TWO_OPTIMIZERS))
    assert alone.returncode == 0, alone.stderr
    job = ran(tmp_path, str(build / "bin/fleetrun"), "--server_num", "1", "--worker_num", "1", "--log_dir", "logs", str(TWO_OPTIMIZERS))
    log = (tmp_path / "logs/workerlog.0").read_text(encoding="utf-8")
    assert job.returncode == 0, job.stderr + log
    first, second = numbers("values", alone.stdout), numbers("values", log)
    assert len(first) == 20 and max(abs(a - b) for a, b in zip(first, second, strict=True)) < 1e-5, (first, second)
    assert "the rate is another" in alone.stdout and re.search(r"refused: the learning rate 'learning_rate_0' has changed from 0.1 to 0.01", log)
