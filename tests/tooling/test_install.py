"""What `cmake --install` puts down is enough to build and run a user's program, from another folder."""
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def prefix(build, root, tmp_path_factory):
    prefix = tmp_path_factory.mktemp("prefix")
    install = [root / ".venv/bin/cmake", "--install", build, "--prefix", prefix, "--component", "core"]
    subprocess.run(install, check=True, capture_output=True)
    return prefix


def test_a_consumer_builds_and_runs(prefix, root, tmp_path):
    cmake = root / ".venv/bin/cmake"
    configure = [cmake, "-S", root / "tests/consumer", "-B", tmp_path, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
                 f"-DCMAKE_MAKE_PROGRAM={root}/.venv/bin/ninja", f"-DPython_EXECUTABLE={sys.executable}"]
    for command in (configure, [cmake, "--build", tmp_path]):
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run([tmp_path / "consumer"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "0.0000 0.9242 2.0000\n1.0000 0.7864 0.0000\n"


def test_no_installed_file_names_the_build(prefix, root):
    for path in prefix.rglob("*.cmake"):
        assert str(root / "build") not in path.read_text(), path


def test_headers_of_every_core_room_are_there(prefix, root):
    installed = {path.relative_to(prefix / "include") for path in (prefix / "include").rglob("*.h")}
    ours = {path.relative_to(root) for path in (root / "argosy").rglob("*.h")}
    assert installed == {path for path in ours if path.parts[1] not in ("python", "apps", "testing") and not path.stem.endswith("_test")}
