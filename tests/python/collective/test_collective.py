"""paddle.distributed on several processes: calls, gradients that equal one process's, and ends of ranks that others notice."""
import signal
import time

import pytest


def wait_for(job, rank, text, limit=60):
    """Until a rank has printed `text`."""
    end = time.monotonic() + limit
    while text not in job.log(rank):
        assert job.processes[rank].poll() is None, job.log(rank)
        assert time.monotonic() < end, f"rank {rank} has not printed {text!r}:\n{job.log(rank)}"
        time.sleep(0.05)


def test_every_call_gives_what_it_says_and_names_ranks_that_do_otherwise(job):
    assert all("all checked" in log for log in job.start(3, "calls.py").logs())


@pytest.mark.parametrize("ranks", [2, 4])
def test_ranks_train_as_one_process_with_their_batches_together(job, ranks):
    assert all("equal to one process" in log for log in job.start(ranks, "training.py").logs())


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_others_end_soon_after_a_rank_was_killed_or_stopped(job, how):
    job.start(3, "steps.py", ARGOSY_PEER_SECONDS="4", ARGOSY_COLLECTIVE_SECONDS="60")
    for rank in range(3):
        wait_for(job, rank, "running")
    began = time.monotonic()
    job.processes[1].send_signal(how)
    assert job.wait(0, 60) != 0 and job.wait(2, 60) != 0
    assert time.monotonic() - began < 30  # far below collective_seconds
    assert "rank 1" in job.log(0) + job.log(2), job.log(0) + job.log(2)


@pytest.mark.parametrize("call", ["barrier", "recv"])
def test_control_c_ends_a_wait_for_another_rank(job, call):
    job.start(2, "waiting.py", call)
    wait_for(job, 0, "waiting")
    began = time.monotonic()
    job.processes[0].send_signal(signal.SIGINT)
    wait_for(job, 0, "interrupted", 20)
    assert time.monotonic() - began < 15
    job.processes[1].stdin.close()
    assert job.wait(0, 30) == 0 and job.wait(1, 30) == 0, job.log(0) + job.log(1)
