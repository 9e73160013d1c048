"""What every Python test shares. The front end under test is the one that this checkout built."""

import os
import pathlib
import signal
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"

sys.path.insert(0, str(BUILD / "python"))
# A shell ignores Ctrl-C for what it runs in the background, and whatever that starts would inherit it.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Under nohup a launcher ignores a hangup, as it should; the tests send one.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
os.environ["PYTHONPATH"] = str(BUILD / "python")
os.environ["PATH"] = os.pathsep.join([str(BUILD / "bin"), str(ROOT / ".venv" / "bin"), os.environ["PATH"]])


@pytest.fixture(scope="session")
def root():
    """The checkout's root."""
    return ROOT


@pytest.fixture(scope="session")
def build():
    """The build folder, build/release."""
    return BUILD


@pytest.fixture(autouse=True)
def same_graph():
    """A test that turns to the other graph, or fails after it did, leaves the one that it found to the next."""
    from argosy import graph_mode

    before = graph_mode.saved()
    yield
    graph_mode.restored(before)
