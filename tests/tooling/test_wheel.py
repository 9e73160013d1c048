"""The wheels install into an environment that has torch, and what they install runs there without the checkout."""
import fcntl
import os
import pathlib
import subprocess
import sys
import sysconfig
import venv

import pytest


def clean_environment():
    """Without what points at the checkout's build. c++ is the compiler of make build, so that ccache has every file."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return {**environment, "CXX": "c++", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, env=clean_environment(), cwd="/")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def environment(root, tmp_path_factory):
    """A fresh environment with torch and NumPy, and the wheels of `argosy` and of the alias in it."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip"]
    with open(root / "build" / ".wheel-lock", "w") as lock:  # two test processes must not build in one folder at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        run(*pip, "wheel", root, root / "argosy/python/paddle_alias", "--no-build-isolation", "--no-deps", "-w", folder / "dist")
    venv.create(folder / "env", symlinks=True)
    python = folder / "env/bin/python"
    site = pathlib.Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    for entry in pathlib.Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith(("argosy", "paddle", "pip", "__pycache__")):
            (site / entry.name).symlink_to(entry)
    run(*pip, "--python", python, "install", "--no-deps", "--no-index", *(folder / "dist").glob("*.whl"))
    return folder / "env"


def test_both_names_import_from_the_wheels(environment):
    python = environment / "bin/python"
    argosy, paddle = run(python, "-c", "import argosy, paddle; print(argosy.__file__); print(paddle.__file__)").split()
    assert argosy.startswith(str(environment)) and paddle.startswith(str(environment))


def test_the_extension_looks_for_torch_beside_itself(environment):
    extension, = environment.rglob("argosy/_core.*.so")
    assert "RUNPATH" in (dynamic := run("readelf", "-d", extension))
    assert "[$ORIGIN/../torch/lib]" in dynamic


def test_the_programs_run(environment):
    for name in ("argosy", "fleetrun", "argosy-server"):
        assert name in run(environment / "bin" / name, "--help")
