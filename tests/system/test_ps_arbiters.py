"""Arbiters of servers of two processes (replicas=1): one of another job or run, or a second one of the same, is refused by name and decides nothing."""

import re
import signal

from ports import free_range
from ps_job import until

TOKEN = "open sesame"


def test_strangers_and_a_second_arbiter_are_refused_by_name(job):
    port = free_range(2)
    ends = [f"127.0.0.1:{port}", f"127.0.0.1:{port + 1}"]
    common = ["--workers=1", "--replicas=1", f"--token={TOKEN}", "--job=clicks", "--run_id=monday"]
    servers = [job.start("argosy-server", f"--address={end}", f"--directory=kept{i}", *common) for i, end in enumerate(ends)]

    def arbiter(*more):
        return job.start("argosy", "arbiter", f"--servers={ends[0]}", f"--followers={ends[1]}", f"--token={TOKEN}", *more)

    own = arbiter("--job=clicks", "--run_id=monday")
    epoch = job.folder / "kept0" / "server-0" / "EPOCH"
    until(lambda: epoch.exists(), "no process became the primary")
    before = epoch.read_text()
    assert before.startswith("epoch 1\nrole primary\n"), before
    words = {
        ("--job=likes", "--run_id=monday"): r"serves job 'clicks'; the arbiter \S+ \(.*\) belongs to job 'likes'",
        ("--job=clicks", "--run_id=tuesday"): r"belongs to run monday, the arbiter \S+ \(.*\) to run tuesday\. Either an earlier run",
        ("--job=clicks",): r"belongs to run monday, the arbiter \S+ \(.*\) to none\.",
        ("--job=clicks", "--run_id=monday"): rf"has an arbiter: \S+:{own.pid}, which asked 0\.\d s ago\. .* is a second one",
    }
    others = {options: arbiter(*options) for options in words}
    for options, says in words.items():
        out = job.end(others[options], 1)
        assert re.search(rf"argosy arbiter: server 0: the process at \S+ refuses this arbiter: .*{says}", out), out
        assert " is the primary from epoch" not in out, out
    assert epoch.read_text() == before and all(server.poll() is None for server in servers)
    own.send_signal(signal.SIGTERM)
    assert own.wait(timeout=30) == 0
    for server in servers:
        server.kill()
        out, _ = server.communicate(timeout=30)
        assert "an arbiter is refused: server 0" in out, out


def test_a_waiting_arbiter_says_for_whom(job):
    """It said nothing at all until both processes of a server had answered."""
    port = free_range(2)
    ends = [f"127.0.0.1:{port}", f"127.0.0.1:{port + 1}"]
    arbiter = job.start("sh", "-c", f"exec argosy arbiter --servers={ends[0]} --followers={ends[1]} --token='{TOKEN}' 2> said")
    said = job.folder / "said"
    until(lambda: said.exists() and f"waits for an answer of {ends[0]}, {ends[1]}" in said.read_text(), "nobody is named")
    assert "says who is the primary of 1 server" in said.read_text()
    for i, end in enumerate(ends):
        job.start("argosy-server", f"--address={end}", f"--directory=kept{i}", "--workers=1", "--replicas=1", f"--token={TOKEN}")
    until(lambda: "all processes have answered" in said.read_text(), said.read_text)
    until(lambda: " is the primary from epoch 1" in said.read_text(), said.read_text)
    arbiter.send_signal(signal.SIGTERM)
    job.end(arbiter)
