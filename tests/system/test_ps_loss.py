"""A worker that dies for good: it is named in time, and the job does what on_worker_loss says.

The job runs on two machines, as its launchers see it: the servers and worker 0 belong to 127.0.0.1, worker 1 to 127.0.0.2.
"""

import re
import signal
import sys
import time

import pytest

from ports import free_range
from ps_job import until
from ps_scripts import ENDLESS

LEASE = "--lease-seconds=5"  # a machine that stands still for a moment must not cost the other worker its lease


def steps(job, worker):
    file = job.folder / f"steps.{worker}"
    return int(file.read_text() or 0) if file.exists() else 0


class TwoMachines:
    def __init__(self, job, *flags):
        self.job, self.flags = job, flags
        first = free_range(4)
        self.lists = [f"--servers=127.0.0.1:{first},127.0.0.1:{first + 1}", f"--workers=127.0.0.1:{first + 2},127.0.0.2:{first + 3}"]
        job.write("train.py", ENDLESS)
        self.first, self.second = self.launch(1), self.launch(2)
        until(lambda: min(self.steps(0), self.steps(1)) > 5, job.logs)

    def launch(self, machine):
        return self.job.start("fleetrun", *self.lists, f"--node_ip=127.0.0.{machine}", *self.flags, "train.py", "sync", ARGOSY_PYTHON=sys.executable)

    def steps(self, worker):
        return steps(self.job, worker)

    def kill(self):
        """kill -9 of worker 1, of which its launcher tells."""
        self.job.signal(self.second, "worker 1", signal.SIGKILL)
        assert "worker 1: killed by signal 9" in self.job.end(self.second, 137)
        return time.monotonic()

    def end(self):
        (self.job.folder / "end").touch()
        self.job.end(self.first)


def test_a_dead_worker_is_named_within_15_seconds_and_fails_the_job(job):
    """With the default settings: a lease of 10 seconds, on_worker_loss=fail."""
    machines = TwoMachines(job)
    killed = machines.kill()
    out = job.end(machines.first, 1)
    assert time.monotonic() - killed < 60  # a call alone would wait for 600
    assert "lost: worker 1 (" in out and "this call waits for it" in out, out
    silent = re.search(r"lost worker 1 \(.*\), silent for ([\d.]+) s; on_worker_loss is fail", job.log("server 0"))
    assert silent and 10 <= float(silent.group(1)) <= 15, job.log("server 0")


def test_a_job_that_waits_goes_on_when_the_worker_is_back(job):
    machines = TwoMachines(job, "--on-worker-loss=wait", LEASE)
    machines.kill()
    job.wait_for_line("server 1", "lost worker 1")
    held = machines.steps(0)
    machines.second = machines.launch(2)
    job.wait_for_line("server 1", "incarnation 2")
    until(lambda: machines.steps(0) > held + 10, job.logs)
    machines.end()
    job.end(machines.second)


def test_a_job_that_shrinks_goes_on_without_the_worker(job):
    machines = TwoMachines(job, "--on-worker-loss=shrink", LEASE)
    machines.kill()
    job.wait_for_line("server 0", "lost worker 1")
    held = machines.steps(0)
    until(lambda: machines.steps(0) > held + 10, job.logs)
    machines.end()


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_one_launcher_goes_on_without_the_worker(job, mode):
    job.write("train.py", ENDLESS)
    launcher = job.fleetrun("--on-worker-loss=shrink", LEASE, "train.py", mode)
    until(lambda: min(steps(job, 0), steps(job, 1)) > 5, job.logs)
    job.signal(launcher, "worker 1", signal.SIGKILL)
    job.wait_for_line("server 0", "lost worker 1")
    held = steps(job, 0)
    until(lambda: steps(job, 0) > held + 10, job.logs)
    (job.folder / "end").touch()
    assert "the job has ended well, without worker 1" in job.end(launcher)
