"""After `make build`, the checkout's own environment has the front end and the programs; a borrowed one is left alone."""

import os
import shutil
import subprocess
import venv

import pytest


@pytest.fixture
def checkout(tmp_path, root):
    """A checkout with an empty environment and a build of one package and one program."""
    (tmp_path / "tools").mkdir()
    shutil.copy(root / "tools/link_venv.sh", tmp_path / "tools")
    package = tmp_path / "build/release/python/argosy"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("WHERE = 'here'\n")
    program = tmp_path / "build/release/bin/fleetrun"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho sailing\n")
    program.chmod(0o755)
    venv.create(tmp_path / "environment", symlinks=True)
    return tmp_path


def run(*command, cwd):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return subprocess.run(command, cwd=cwd, env=environment, check=True, capture_output=True, text=True).stdout


def test_the_environment_sees_packages_and_programs(checkout):
    (checkout / "environment").rename(checkout / ".venv")
    for _ in range(2):  # every build does it again
        run("tools/link_venv.sh", "build/release", cwd=checkout)
        assert run(".venv/bin/python", "-c", "import argosy; print(argosy.WHERE)", cwd=checkout) == "here\n"
        assert run(".venv/bin/fleetrun", cwd=checkout) == "sailing\n"


def test_an_environment_of_another_checkout_is_left_alone(checkout):
    (checkout / ".venv").symlink_to("environment")
    before = sorted(checkout.joinpath("environment").rglob("*"))
    run("tools/link_venv.sh", "build/release", cwd=checkout)
    assert sorted(checkout.joinpath("environment").rglob("*")) == before
