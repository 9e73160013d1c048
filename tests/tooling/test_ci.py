"""The checkout stands alone: continuous integration says that the documents' own code is absent, and goes on; where it is there, it counts."""

import os
import shutil
import subprocess
import sys

import pytest


@pytest.fixture
def checkout(tmp_path, root):
    """A checkout in which `make` does nothing, with one case of the documents."""
    folder = tmp_path / "checkout"
    shutil.copytree(root / ".ci", folder / ".ci")
    (folder / ".ci/seeds-cases.txt").write_text("# a comment\nfirst\n")
    (folder / ".venv/bin").mkdir(parents=True)
    (folder / ".venv/bin/python").symlink_to(sys.executable)
    make = tmp_path / "bin/make"
    make.parent.mkdir()
    make.write_text("#!/bin/sh\n")
    make.chmod(0o755)
    return folder


def run(checkout):
    path = f"{checkout.parent / 'bin'}:{os.environ['PATH']}"
    return subprocess.run([checkout / ".ci/run"], env=dict(os.environ, PATH=path), capture_output=True, text=True)


def documents(checkout, status):
    script = checkout.parent / "shared/seeds/check.py"
    script.parent.mkdir(parents=True)
    script.write_text(f"import sys\nprint('first')\nsys.exit(0 if '--list' in sys.argv else {status})\n")


def test_absent_documents_are_said_and_no_failure(checkout):
    done = run(checkout)
    assert done.returncode == 0, done.stderr
    assert "check.py is absent: the documents' own code is not checked" in done.stdout and "== done" in done.stdout


@pytest.mark.parametrize("status", [0, 4])
def test_the_documents_count_where_they_are(checkout, status):
    documents(checkout, status)
    assert run(checkout).returncode == status


def test_a_case_that_the_documents_do_not_have_is_named(checkout):
    documents(checkout, 0)
    (checkout / ".ci/seeds-cases.txt").write_text("second\n")
    done = run(checkout)
    assert done.returncode == 1 and "'second' is no case" in done.stderr
