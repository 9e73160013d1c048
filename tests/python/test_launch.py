"""`python -m paddle.distributed.launch` and `launch_ps`: both become fleetrun."""

import os
import sys

import pytest


@pytest.mark.parametrize("name, first", [("launch", []), ("launch_ps", ["--run_mode=ps"])])
def test_a_launcher_hands_over_to_the_fleetrun_beside_the_interpreter(tmp_path, monkeypatch, name, first):
    import importlib

    (tmp_path / "fleetrun").touch()
    started = []
    monkeypatch.setenv("ARGOSY_PYTHON", "another")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(sys, "argv", [name, "--worker_num", "2", "train.py", "--lr 1"])
    monkeypatch.setattr(os, "execv", lambda path, argv: started.append((path, argv)))
    importlib.import_module("paddle.distributed." + name).main()
    assert started == [(str(tmp_path / "fleetrun"), ["fleetrun", *first, "--worker_num", "2", "train.py", "--lr 1"])]
    assert os.environ["ARGOSY_PYTHON"] == str(tmp_path / "python")


def test_a_launcher_without_fleetrun_says_so(tmp_path, monkeypatch):
    from paddle.distributed import launch

    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match="fleetrun is neither beside"):
        launch.launcher()
