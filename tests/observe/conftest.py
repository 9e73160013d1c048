"""Jobs that others look at. The files check_*.py run in `make nightly PART=observe`, which installs Prometheus, Chromium and TensorBoard."""

import pathlib
import subprocess
import sys
import threading

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from ps_job import SECONDS, Job


@pytest.fixture(scope="module")
def clicks(root, tmp_path_factory):
    """Click logs."""
    folder = tmp_path_factory.mktemp("clicks")
    subprocess.run([sys.executable, str(root / "tools" / "make_criteo.py"), str(folder), "--files", "4"], check=True)
    return folder / "train"


@pytest.fixture
def ctr_job(root, clicks, tmp_path):
    """Starts a job of 2 servers and 2 workers that learns clicks; `said` is what its launcher writes, and end() ends it."""
    job = Job(tmp_path)
    job.said = []

    def start(*flags):
        job.launcher = job.fleetrun(*flags, root / "tests" / "observe" / "ctr_job.py", clicks)
        threading.Thread(target=lambda: job.said.extend(iter(job.launcher.stdout.readline, "")), daemon=True).start()
        return job

    def end():
        (job.folder / "end").touch()
        assert job.launcher.wait(SECONDS) == 0, "".join(job.said)

    job.begin, job.finish = start, end
    yield job
    job.kill_all()
