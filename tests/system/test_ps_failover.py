"""Servers of two processes (replicas=1): how long workers wait when one dies or stops, that nothing is lost, and what is refused. The fault
suite has the rest (tests/fault/test_failover_cases.py)."""

import contextlib
import itertools
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
import urllib.request

import pytest

from ports import free_range
from ps_job import until
from ps_scripts import SERVE, STRATEGY

TOKEN = "open sesame"
MOST_SECONDS = 3  # without a step, whichever process dies

# The value of row 0 is the number of steps. Says when each step was acknowledged; sync mode waits for each.
COUNT = (
    STRATEGY
    + """
import time
zero = fluid.initializer.Constant(0.0)
ids = fluid.layers.data('ids', [1], dtype='int64')
rows = fluid.layers.embedding(ids, [8, 1], is_sparse=True, param_attr=fluid.ParamAttr(name='counts', initializer=zero))
loss = -fluid.layers.reduce_sum(rows)
fleet.distributed_optimizer(fluid.optimizer.SGD(1.0), strategy).minimize(loss)
"""
    + SERVE
    + """
stamps = open('stamps', 'a', buffering=1)
while not os.path.exists('end'):
    exe.run(feed={'ids': np.zeros((1, 1), 'int64')})
    print(time.monotonic(), file=stamps)
    time.sleep(0.002)
fleet.barrier_worker()
open('trained', 'w').close()
while not os.path.exists('over'): time.sleep(0.02)
fleet.stop_worker()
"""
)


class Pair:
    """A job of one server of two processes, and one worker that counts its steps."""

    def __init__(self, job, *flags, restarts=3):
        self.job = job
        self.port = free_range(3)
        self.endpoints = {"server 0": f"127.0.0.1:{self.port}", "follower 0": f"127.0.0.1:{self.port + 2}"}
        job.write("count.py", COUNT)
        self.launcher = job.start(
            "fleetrun",
            f"--start_port={self.port}",
            "--server_num=1",
            "--worker_num=1",
            f"--max_restart={restarts}",
            f"--token={TOKEN}",
            "--directory=kept",
            "--replicas=1",
            *flags,
            "count.py",
            "sync",
            ARGOSY_PYTHON=sys.executable,
        )

    def log(self, name):
        return self.job.log(name)

    def wait_for(self, name, text, times=1):
        until(lambda: self.log(name).count(text) >= times, lambda: f"'{text}' in the log of {name}\n{self.job.logs()}")

    def wait_whole(self, follower, times=1):
        """Until this process, which follows, could take over."""
        self.wait_for(follower, "has everything that its primary at", times)

    def stamps(self):
        file = self.job.folder / "stamps"
        return [float(line) for line in file.read_text().splitlines()] if file.exists() else []

    def train(self, steps=50):
        target = len(self.stamps()) + steps
        until(lambda: len(self.stamps()) >= target or self.launcher.poll() is not None, self.job.logs)

    def longest_wait(self, since):
        """Seconds without a step after a moment."""
        self.train()
        stamps = [since, *(stamp for stamp in self.stamps() if stamp > since)]
        return max(after - before for before, after in itertools.pairwise(stamps))

    def counted(self, name):
        rows = self.job.end(self.job.start("argosy", "rows", self.endpoints[name], f"--token={TOKEN}", "--table=counts", "--keys=0"))
        return float(re.search(r"^0\t(\S+)", rows, re.M).group(1))

    def finish(self, primary):
        (self.job.folder / "end").touch()
        until(lambda: (self.job.folder / "trained").exists() or self.launcher.poll() is not None, self.job.logs)
        steps = len(self.stamps())
        assert self.counted(primary) == steps
        (self.job.folder / "over").touch()
        self.job.end(self.launcher)
        return steps


def hit(job, pair, name, number):
    """Sends a signal; returns the moment."""
    now = time.monotonic()
    job.signal(pair.launcher, name, number)
    return now


def test_each_process_in_turn_is_killed_and_nothing_is_lost(job, record_property):
    pair = Pair(job)
    pair.wait_whole("follower 0")
    pair.train()
    waits = {}
    waits["the primary killed"] = pair.longest_wait(hit(job, pair, "server 0", signal.SIGKILL))
    pair.wait_whole("server 0")
    waits["the primary killed again"] = pair.longest_wait(hit(job, pair, "follower 0", signal.SIGKILL))
    pair.wait_whole("follower 0", 2)
    waits["the follower killed"] = pair.longest_wait(hit(job, pair, "follower 0", signal.SIGKILL))
    pair.wait_whole("follower 0", 3)
    pair.finish("server 0")
    for what, seconds in waits.items():
        record_property(what, seconds)
        print(f"{what}: no step for {seconds:.2f} s")
    assert max(waits.values()) < MOST_SECONDS, waits


def test_a_primary_that_was_stopped_is_fenced_when_it_goes_on(job):
    pair = Pair(job)
    pair.wait_whole("follower 0")
    pair.train()
    stopped = hit(job, pair, "server 0", signal.SIGSTOP)
    waited = pair.longest_wait(stopped)
    print(f"the primary stopped: no step for {waited:.2f} s")
    assert waited < 2 * MOST_SECONDS
    pair.wait_for("follower 0", "has taken over from the process at")
    job.signal(pair.launcher, "server 0", signal.SIGCONT)
    pair.wait_for("server 0", "is fenced: epoch")
    pair.wait_whole("server 0")
    pair.finish("follower 0")


def test_without_restarts_the_job_goes_on_with_one_process_and_ends_when_that_is_lost(job):
    pair = Pair(job, restarts=0)
    pair.wait_whole("follower 0")
    pair.train()
    job.signal(pair.launcher, "server 0", signal.SIGKILL)
    pair.wait_for("follower 0", "has taken over from the process at")
    pair.train()
    assert pair.counted("follower 0") > 50
    job.signal(pair.launcher, "follower 0", signal.SIGKILL)
    out, _ = pair.launcher.communicate(timeout=60)
    assert pair.launcher.returncode != 0
    assert "going on with the other process of its server alone (replicas=1)" in out, out
    assert re.search(r"follower 0: .*; stopping the job", out), out


def test_what_both_processes_have_lost_is_reported_as_lost(job):
    """Both folders are gone, as with their disks, and both processes are started again with nothing."""
    pair = Pair(job)
    pair.wait_whole("follower 0")
    pair.train()
    shutil.rmtree(job.folder / "kept")
    for name in pair.endpoints:
        job.signal(pair.launcher, name, signal.SIGKILL)
    out, _ = pair.launcher.communicate(timeout=120)
    assert pair.launcher.returncode != 0
    assert re.search(r"what was acknowledged in epoch \d+ is lost", out), out


def test_servers_and_their_arbiter_are_started_by_hand(job):
    port = free_range(2)
    ends = [f"127.0.0.1:{port}", f"127.0.0.1:{port + 1}"]
    common = ["--workers=1", "--replicas=1", f"--token={TOKEN}"]
    servers = [job.start("argosy-server", f"--address={end}", f"--directory=kept{i}", *common) for i, end in enumerate(ends)]
    metrics = free_range(1)
    arbiter = job.start("argosy", "arbiter", f"--servers={ends[0]}", f"--followers={ends[1]}", f"--token={TOKEN}", ARGOSY_METRICS_PORT=metrics)
    job.write("count.py", COUNT)
    worker = {"TRAINING_ROLE": "TRAINER", "PADDLE_PSERVERS_IP_PORT_LIST": ends[0], "PADDLE_TRAINERS_NUM": 1, "PADDLE_TRAINER_ID": 0}
    trainer = job.python("count.py", "sync", **worker, ARGOSY_TOKEN=TOKEN, ARGOSY_REPLICAS=1, ARGOSY_FOLLOWERS=ends[1])
    epoch = job.folder / "kept1" / "server-0" / "EPOCH"
    until(lambda: epoch.exists() and "whole yes" in epoch.read_text(), "the follower is not whole")
    for page in ("healthz", "readyz"):
        assert urllib.request.urlopen(f"http://127.0.0.1:{metrics}/{page}", timeout=30).read() == b"ok\n"
    os.kill(servers[0].pid, signal.SIGKILL)
    until(lambda: "role primary" in epoch.read_text(), "the follower has not taken over")
    (job.folder / "end").touch()
    until(lambda: (job.folder / "trained").exists() or trainer.poll() is not None, lambda: "the worker has not ended")
    (job.folder / "over").touch()
    job.end(trainer)
    job.end(servers[1])
    arbiter.send_signal(signal.SIGTERM)
    assert arbiter.wait(timeout=30) == 0


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--replicas=2"], "expected 0, 1"),
        (["--replicas=1"], "give a directory"),
        (["--replicas=1", "--directory=kept", "--durability=snapshot"], "durability=wal or wal_sync"),
    ],
)
def test_what_a_server_of_two_processes_is_refused(job, flags, says):
    said = job.end(job.start("argosy-server", "--address=127.0.0.1:0", *flags), 2)
    assert says in said, said


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--replicas=1"], "replicas is 1 with durability=none and no directory; each of"),
        (["--replicas=1", "--directory=kept", "--durability=snapshot"], "replicas is 1 with durability=snapshot; each of"),
        (["--wire_format_tables=counts=half"], "found 'counts=half', expected NAME=CHOICE"),
        (["--wire_format_tables=counts=int8,counts=bfloat16"], "found 'counts' twice"),
    ],
)
def test_what_cannot_be_is_found_before_anything_starts(job, flags, says):
    job.write("count.py", COUNT)
    said = job.end(job.start("fleetrun", "--server_num=1", "--worker_num=1", *flags, "count.py", "sync", ARGOSY_PYTHON=sys.executable), 2)
    assert says in said, said
    assert not list(job.folder.glob("log*")) and not (job.folder / "kept").exists()


def test_a_job_ends_soon_after_its_follower_was_started_again(job):
    pair = Pair(job)
    pair.wait_whole("follower 0")
    pair.train()
    job.signal(pair.launcher, "follower 0", signal.SIGKILL)
    pair.wait_whole("follower 0", 2)
    pair.train()
    (job.folder / "end").touch()
    until(lambda: (job.folder / "trained").exists(), job.logs)
    since = time.monotonic()
    (job.folder / "over").touch()
    out = job.end(pair.launcher)
    assert time.monotonic() - since < 4, out
    assert "has not answered" not in out and "was left behind" not in job.log("server 0"), out + job.logs()


@pytest.mark.parametrize("victim", ["server 0", "follower 0"])
def test_a_job_whose_server_loses_a_process_after_its_end_waits_for_nobody(job, victim):
    """Nobody is there to be told what only a process that has ended would want to know."""
    pair = Pair(job)
    pair.wait_whole("follower 0")
    pair.train()
    (job.folder / "end").touch()
    until(lambda: (job.folder / "trained").exists(), job.logs)
    pid = job.pid_of(pair.launcher, victim)
    (job.folder / "over").touch()
    pair.wait_for("server 0", "worker 0 is done")
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    out = job.end(pair.launcher)
    assert "could not be told" not in out, out
    assert "was left behind" not in job.log("server 0") + job.log("follower 0"), out + job.logs()


def test_what_a_server_refuses_is_what_the_launcher_shows(job):
    """And not that its follower, which waits for it, has nothing."""
    pair = Pair(job)
    pair.wait_whole("follower 0")
    pair.train()
    pair.finish("server 0")
    for name in ("end", "trained", "over", "stamps"):
        (job.folder / name).unlink()
    out, _ = Pair(job, "--resume", "--job=another", restarts=0).launcher.communicate(timeout=60)
    assert re.search(r"server 0: exit status 1; stopping the job", out), out
    assert "is lost" not in out and "job 'another'" in out, out


class Attached:
    """Those who only read a server of two processes, and know both: a follower, and a publisher into Redis."""

    def __init__(self, job, pair):
        self.job, self.redis = job, free_range(1)
        self.both = "+".join(pair.endpoints.values())
        job.start("redis-server", "--port", self.redis, "--bind", "127.0.0.1", "--save", "")
        until(lambda: self.redis_says("ping") == b"PONG\n")
        self.copy = f"127.0.0.1:{free_range(1)}"
        self.follower = job.start("argosy-server", f"--address={self.copy}", f"--follow={self.both}", f"--token={TOKEN}")
        self.publisher = job.start("argosy", "publish", self.both, f"--redis=127.0.0.1:{self.redis}", "--name=c", f"--token={TOKEN}", "--every=0.05")
        self.said = {process: drained(process) for process in (self.follower, self.publisher)}

    def redis_says(self, *words, **options):
        return subprocess.run(["redis-cli", "-p", str(self.redis), *words], capture_output=True, check=False, **options).stdout

    def row(self, of):
        """The value of row 0 at a follower or server, or 0 where it does not answer."""
        asked = self.job.start("argosy", "rows", of, f"--token={TOKEN}", "--table=counts", "--keys=0", "--wait=1")
        found = re.search(r"^0\t(\S+)", asked.communicate(timeout=60)[0], re.M)
        return float(found.group(1)) if found else 0

    def published(self):
        generation = self.redis_says("HGET", "argosy:{c}:head", "generation").decode().strip()
        value = self.redis_says("-x", "HGET", f"argosy:{{c}}:{generation}:rows:counts", input=b"\0" * 8)
        return struct.unpack("<f", value[:4])[0] if len(value) > 4 else 0

    def all_have(self, count):
        def all_said():
            return "\n".join("".join(lines) for lines in self.said.values())

        until(lambda: self.row(self.copy) >= count, lambda: f"the follower has {self.row(self.copy)} of {count}\n{all_said()}")
        until(lambda: self.published() >= count, lambda: f"Redis has {self.published()} of {count}\n{all_said()}")
        assert self.row(self.both) >= count

    def run_still(self):
        return self.follower.poll() is None and self.publisher.poll() is None


def drained(process):
    """The lines of a process, read by a thread."""
    lines = []
    threading.Thread(target=lambda: lines.extend(process.stdout), daemon=True).start()
    return lines


def test_followers_and_publishers_go_on_with_the_promoted_process(job):
    """Each process of the pair is the primary once, is killed, and what is read is what was trained since."""
    pair = Pair(job)
    pair.wait_whole("follower 0")
    attached = Attached(job, pair)
    pair.train()
    attached.all_have(len(pair.stamps()) - 1)
    for victim, other, times in (("server 0", "follower 0", 1), ("follower 0", "server 0", 1)):
        job.signal(pair.launcher, victim, signal.SIGKILL)
        pair.wait_for(other, "has taken over from the process at", times)
        pair.train()
        attached.all_have(len(pair.stamps()) - 1)
        pair.wait_whole(victim)
        assert attached.run_still()
    assert sum("begins anew: " in line for line in attached.said[attached.follower]) == 2
    assert not any(" error " in line for line in attached.said[attached.follower]), attached.said[attached.follower]
    (job.folder / "end").touch()
    until(lambda: (job.folder / "trained").exists(), job.logs)
    steps = len(pair.stamps())
    attached.all_have(steps)
    assert attached.row(attached.copy) == attached.published() == steps  # and not more
    (job.folder / "over").touch()
    job.end(pair.launcher)


def test_a_launcher_with_lists_wants_the_followers_too(job):
    job.write("count.py", COUNT)
    words = ["--servers=127.0.0.1:6170", "--workers=127.0.0.1:6171", "--replicas=1", "--directory=kept"]
    said = job.end(job.start("fleetrun", *words, "count.py", "sync", ARGOSY_PYTHON=sys.executable), 2)
    assert "list the followers' host:port too" in said, said
    said = job.end(job.start("fleetrun", *words, "--followers=127.0.0.1:6170", "count.py", "sync", ARGOSY_PYTHON=sys.executable), 2)
    assert "is another process's endpoint too" in said, said
