"""Servers that come back elsewhere: a worker that knows one by a name finds it again."""

import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

import ray_job
from ports import free_range
from ps_job import until

STEPS, PACE = 60, 20


@pytest.fixture
def train(job):
    """A job of one server and two workers by hand, whose server is killed and started at another address: (its parameters, its ledger)."""
    job.write("train.py", ray_job.SCRIPT)

    def run(name, first, second, moved=lambda: None, before=()):
        words = ["--workers", 2, "--directory", "kept"]
        server = job.start("argosy-server", "--address", *first, *words)
        env = {"TRAINING_ROLE": "TRAINER", "PADDLE_PSERVERS_IP_PORT_LIST": name, "PADDLE_TRAINERS_NUM": 2}
        workers = [job.start(*before, sys.executable, "train.py", job.folder, STEPS, PACE, 1, PADDLE_TRAINER_ID=i, **env) for i in (0, 1)]
        watched = ray_job.Watched(job.folder, "")
        until(lambda: watched.furthest() >= 2 * PACE or any(one.poll() is not None for one in workers), "no progress")
        os.kill(server.pid, signal.SIGKILL)
        server.wait()
        moved()
        again = job.start("argosy-server", "--address", *second, *words)
        (job.folder / "killed-1").touch()
        for one in workers:
            job.end(one)
        job.end(again)
        return ray_job.saved(job.folder), json.loads((job.folder / "ledger.json").read_text())["passes"][0]["text"]

    return run


EXACT = f"{2 * STEPS} runs, {2 * STEPS} applied once, 0 lost"


@pytest.fixture
def calm(job):
    (job.folder / "calm").mkdir()
    job.write("calm.py", ray_job.SCRIPT)
    job.end(job.fleetrun("calm.py", job.folder / "calm", STEPS, PACE, 0, servers=1))
    return ray_job.saved(job.folder / "calm")


# The server takes any free port each time, and writes where it is.
def test_by_a_file(job, train, calm):
    place = ["127.0.0.1:0", "--endpoint_file", job.folder / "where/server-0"]
    assert train(f"file:{job.folder}/where/server-0", place, place) == (calm, EXACT)


# The workers' table of names changes, as a cluster's does when a pod is made again.
def test_by_a_hosts_name(job, train, calm):
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        pytest.skip("mount namespaces are not to be had")
    port, hosts = free_range(1), job.folder / "hosts"
    hosts.write_text("127.0.0.1 localhost where\n")
    inside = ["unshare", "-m", "sh", "-c", f'mount --bind {hosts} /etc/hosts && exec "$@"', "sh"]
    got = train(f"where:{port}", [f"127.0.0.1:{port}"], [f"127.0.0.2:{port}"], lambda: hosts.write_text("127.0.0.1 localhost\n127.0.0.2 where\n"), inside)
    assert got == (calm, EXACT)


# A script's own server, which has no option for it.
def test_a_scripts_server_writes_where_it_is(job, calm):
    job.write("train.py", ray_job.SCRIPT)
    names = f"file:{job.folder}/where/server-0"
    env = {"PADDLE_PSERVERS_IP_PORT_LIST": names, "PADDLE_TRAINERS_NUM": 2}
    words = ["train.py", job.folder, STEPS, PACE, 0]
    workers = [job.python(*words, TRAINING_ROLE="TRAINER", PADDLE_TRAINER_ID=i, **env) for i in (0, 1)]  # before there is a server
    server = job.python(*words, TRAINING_ROLE="PSERVER", PADDLE_PSERVER_ID=0, POD_IP="127.0.0.1", **env)
    for one in (*workers, server):
        job.end(one)
    assert ray_job.saved(job.folder) == calm
    assert pathlib.Path(names.removeprefix("file:")).read_text().startswith("127.0.0.1:")


def test_a_name_that_is_none_is_refused(job):
    job.write("train.py", ray_job.SCRIPT)
    env = {"TRAINING_ROLE": "TRAINER", "PADDLE_TRAINER_ID": 0, "PADDLE_TRAINERS_NUM": 1}
    out = job.end(job.python("train.py", job.folder, 1, 1, 0, PADDLE_PSERVERS_IP_PORT_LIST="file:server-0", **env), 1)
    assert "server endpoint 'file:server-0' is not host:port, nor file:/path" in out, out
