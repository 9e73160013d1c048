"""Followers of a launched job, as processes: they hold what the servers hold, whichever side is killed, and say why where they cannot."""

import re
import signal
import sys

import pytest

from ports import free_range
from ps_job import SECONDS, until
from ps_scripts import SERVE, STRATEGY

TOKEN = "open sesame"

# Adam and values of all sizes: bits show every difference. Goes on until there is a file `end`, and ends a while after `hold` is gone.
TRAIN = (
    STRATEGY
    + """
import time
x = fluid.layers.data("x", [5])
ids = fluid.layers.data('ids', [1], dtype='int64')
rows = fluid.layers.embedding(ids, [40, 3], is_sparse=True, param_attr=fluid.ParamAttr(name='table'))
fc = fluid.layers.fc(fluid.layers.concat([x, rows], axis=1), 1, param_attr=fluid.ParamAttr(name='w'))
loss = fluid.layers.mean(fluid.layers.square(fc - fluid.layers.reduce_sum(x, dim=1, keep_dim=True)))
fluid.default_startup_program().random_seed = 5
fleet.distributed_optimizer(fluid.optimizer.Adam(0.05), strategy).minimize(loss)
"""
    + SERVE
    + """
steps = os.open('steps.%d' % me, os.O_CREAT | os.O_WRONLY)
step = 0
while not os.path.exists('end') or step % 10:
    random = np.random.RandomState(100 * step + me)
    exe.run(feed={'x': random.randn(4, 5).astype('float32'), 'ids': random.randint(0, 40, (4, 1)).astype('int64')})
    step += 1
    os.pwrite(steps, b'%9d' % step, 0)
    time.sleep(0.002)
open('trained', 'w').close()
while not os.path.exists('over'): time.sleep(0.02)
fleet.stop_worker()
"""
)


class Followed:
    """A job of two servers and one worker that trains, and what is asked of it and of its followers."""

    def __init__(self, job, mode, *flags):
        self.job = job
        self.port = free_range(3)
        self.servers = [f"127.0.0.1:{self.port}", f"127.0.0.1:{self.port + 1}"]
        job.write("train.py", TRAIN)
        command = ["fleetrun", f"--start_port={self.port}", "--server_num=2", "--worker_num=1", "--max_restart=3", f"--token={TOKEN}"]
        self.launcher = job.start(*command, "--directory=kept", *flags, "train.py", mode, ARGOSY_PYTHON=sys.executable)

    def steps(self):
        file = self.job.folder / "steps.0"
        return int(file.read_text() or 0) if file.exists() else 0

    def train_to(self, more):
        target = self.steps() + more
        until(lambda: self.steps() >= target or self.launcher.poll() is not None, self.job.logs)

    def touch(self, name):
        (self.job.folder / name).touch()

    def follow(self, server, port=None, token=TOKEN, status=None, wait=60):
        """A follower that listens, or its output where it ends with `status`."""
        port = port or free_range(1)
        process = self.job.start("argosy-server", f"--address=127.0.0.1:{port}", f"--follow={server}", f"--token={token}", f"--follow_wait={wait}")
        process.endpoint = f"127.0.0.1:{port}"
        if status is not None:
            return self.job.end(process, status)
        lines = []
        for line in process.stdout:  # what it says while it waits comes before
            lines.append(line)
            if line.strip() == process.endpoint:
                return process
        raise AssertionError(f"{process.wait()}: {''.join(lines)}")

    def ask(self, endpoints, *words, status=0, token=TOKEN):
        process = self.job.start("argosy", "rows", ",".join(endpoints), f"--token={token}", *words)
        return self.job.end(process, status)

    def versions(self, endpoints):
        return [int(version) for version in re.findall(r"version (\d+)", self.ask(endpoints))]

    def tables(self, endpoints):
        return [self.ask(endpoints, f"--table={name}") for name in ("table", "w")]

    def finish_training(self):
        self.touch("end")
        until(lambda: (self.job.folder / "trained").exists() or self.launcher.poll() is not None, self.job.logs)

    def end(self):
        self.touch("over")
        return self.job.end(self.launcher)


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=SECONDS)


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_followers_hold_the_servers_rows_whoever_is_killed(job, mode):
    training = Followed(job, mode)
    training.train_to(20)
    followers = [training.follow(server) for server in training.servers]
    second = training.follow(training.servers[0])
    for server in ("server 0", "server 1"):
        training.train_to(20)
        job.signal(training.launcher, server, signal.SIGKILL)
    for i, server in enumerate(training.servers):
        training.train_to(20)
        port = int(followers[i].endpoint.rsplit(":", 1)[1])
        kill(followers[i])
        followers[i] = training.follow(server, port)
    training.train_to(20)
    training.finish_training()
    endpoints = [follower.endpoint for follower in followers]
    expected = training.versions(training.servers)
    until(lambda: training.versions(endpoints) == expected, lambda: f"{expected}: {training.ask(endpoints)}")
    rows = training.tables(training.servers)
    assert rows[0].count("\n") == 40, rows[0]
    assert training.tables(endpoints) == rows
    assert training.tables([second.endpoint, endpoints[1]]) == rows
    assert training.tables(endpoints[::-1]) == rows  # in any order

    said = training.ask(endpoints)
    assert f"a follower of {training.servers[0]}" in said, said
    assert "the rows of server 0; give each" in training.ask([endpoints[0], second.endpoint], status=1)
    assert "none of the 1 endpoints has the rows of server 1" in training.ask(endpoints[:1], status=1)

    # The run ends, its servers with it; what the followers have stays.
    training.end()
    assert training.tables(endpoints) == rows
    for follower in followers:
        follower.send_signal(signal.SIGTERM)
        assert follower.wait(timeout=SECONDS) == 0


def test_what_a_follower_is_refused(job):
    training = Followed(job, "async")
    training.train_to(1)
    said = training.follow(training.servers[0], token="guessed", status=1)
    assert "token" in said, said
    said = training.follow(f"127.0.0.1:{free_range(1)}", status=1, wait=1)
    assert "nobody answers at 127.0.0.1:" in said, said
    said = job.end(job.start("argosy-server", "--follow=nowhere"), 2)
    assert "--follow" in said, said
    said = job.end(job.start("argosy-server", f"--follow={training.servers[0]}", "--durability=wal", "--directory=mine"), 2)
    assert "a follower keeps nothing" in said, said
    follower = training.follow(training.servers[0])
    said = training.follow(follower.endpoint, status=1)  # of a follower
    assert "read-only follower" in said, said
    assert "token" in training.ask([follower.endpoint], token="guessed", status=1)
    assert "--table" in training.ask([follower.endpoint], "--keys=5", status=2)
    training.finish_training()
    training.end()
    said = training.follow(training.servers[0], status=1, wait=1)  # a run that is over
    assert "has finished" in said, said


def test_a_follower_of_servers_without_a_log_is_told_what_to_set(job):
    training = Followed(job, "async", "--durability=none")
    training.train_to(1)
    said = training.follow(training.servers[0], status=1)
    assert "durability=wal" in said, said
    training.finish_training()
    training.end()


def test_a_follower_of_an_idle_server_is_ready_and_stays_so(job):
    training = Followed(job, "sync")
    training.train_to(10)
    training.finish_training()
    follower = training.follow(training.servers[1])
    expected = training.versions(training.servers)[1]
    both = [training.servers[0], follower.endpoint]
    until(lambda: training.versions(both)[1] == expected, lambda: training.ask(both))
    assert "0 records and 0.0 s behind" in training.ask(both)
    training.end()


# Rows do not show that they are old: who reads them is told.
def test_rows_of_a_follower_whose_server_is_gone_come_with_a_warning(job):
    training = Followed(job, "async", "--max_restart=0")
    training.train_to(5)
    followers = [training.follow(server) for server in training.servers]
    endpoints = [follower.endpoint for follower in followers]
    assert "warning" not in training.ask(endpoints, "--table=w")
    job.signal(training.launcher, "server 0", signal.SIGKILL)
    until(lambda: "waits for" in training.ask(endpoints), lambda: training.ask(endpoints))
    said = training.ask(endpoints, "--table=w")
    assert f"warning: {endpoints[0]} is at version" in said and "may not be the newest" in said, said
    assert "an unknown number of records" in training.ask(endpoints)
    training.launcher.wait(timeout=SECONDS)
