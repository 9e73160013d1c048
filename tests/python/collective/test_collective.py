"""paddle.distributed on several processes: calls, gradients that equal one process's, and ends of ranks that others notice."""

import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

PROGRAMS = pathlib.Path(__file__).parent / "programs"


def wait_for(job, rank, text, limit=120):
    """Until a rank has printed `text`."""
    end = time.monotonic() + limit
    while text not in job.log(rank):
        assert job.processes[rank].poll() is None or text in job.log(rank), job.log(rank)
        assert time.monotonic() < end, f"rank {rank} has not printed {text!r}:\n{job.log(rank)}"
        time.sleep(0.05)


def test_every_call_gives_what_it_says_and_names_ranks_that_do_otherwise(job):
    assert all("all checked" in log for log in job.start(3, "calls.py").logs())


@pytest.mark.parametrize("ranks", [2, 4])
def test_ranks_train_as_one_process_with_their_batches_together(job, ranks):
    assert all("equal to one process" in log for log in job.start(ranks, "training.py").logs())


@pytest.mark.parametrize("way, ranks", [("fleet_2", 3), ("fleet_1", 2), ("nccl2", 2), ("collective", 2), ("config", 2)])
def test_programs_train_as_one_process_with_the_batches_together(job, way, ranks):
    assert all("equal to one process" in log for log in job.start(ranks, "static_training.py", way).logs())


def test_strategies_of_programs_are_what_one_process_computes_for_all(job):
    assert all("all checked" in log for log in job.start(2, "static_strategies.py").logs())


def test_strategies_checkpoints_and_layers_over_all_processes(job):
    assert all("all checked" in log for log in job.start(2, "parts.py").logs())


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_others_end_soon_after_a_rank_was_killed_or_stopped(job, how):
    job.start(3, "steps.py", ARGOSY_PEER_SECONDS="10", ARGOSY_COLLECTIVE_SECONDS="300")
    for rank in range(3):
        wait_for(job, rank, "running")
    began = time.monotonic()
    job.processes[1].send_signal(how)
    assert job.wait(0) != 0 and job.wait(2) != 0
    assert time.monotonic() - began < 60  # far below collective_seconds
    assert "rank 1" in job.log(0) + job.log(2), job.log(0) + job.log(2)


@pytest.mark.parametrize("call", ["barrier", "recv"])
def test_control_c_ends_a_wait_for_another_rank(job, call):
    job.start(2, "waiting.py", call)
    wait_for(job, 0, "waiting")
    job.processes[0].send_signal(signal.SIGINT)
    wait_for(job, 0, "interrupted", 60)  # far below collective_seconds
    job.processes[1].stdin.close()
    assert job.wait(0) == 0 and job.wait(1) == 0, job.log(0) + job.log(1)


def test_the_documents_script_trains_under_the_launcher(root, build, tmp_path, environment):
    text = (root / "docs" / "collective.md").read_text()
    (tmp_path / "train.py").write_text(re.search("```python\n(.*?)```", text, re.DOTALL).group(1))
    command = re.search(r"```sh\npython -m paddle\.distributed\.launch (.*)\n```", text).group(1)
    done = subprocess.run(
        [build / "bin" / "fleetrun", *command.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        env={**environment, "OMP_NUM_THREADS": "1", "ARGOSY_DEVICE": "cpu", "ARGOSY_PYTHON": sys.executable},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    logs = [(tmp_path / "log" / f"workerlog.{rank}").read_text() for rank in range(2)]
    assert all(re.search(rf"rank {rank} of 2 loss 0\.[01]", log) for rank, log in enumerate(logs)), logs
    assert (tmp_path / "checkpoint").is_file()


def test_a_job_that_is_started_again_goes_on_from_its_last_checkpoint(build, tmp_path, environment):
    done = subprocess.run(
        [build / "bin" / "fleetrun", "--nproc_per_node", "2", "--max_restart", "1", str(PROGRAMS / "resume.py")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        env={**environment, "OMP_NUM_THREADS": "1", "ARGOSY_DEVICE": "cpu", "ARGOSY_PYTHON": sys.executable},
    )
    logs = [(tmp_path / "log" / f"workerlog.{rank}").read_text() for rank in range(2)]
    assert done.returncode == 0, done.stdout + done.stderr + "".join(logs)
    for log in logs:
        resumed, rest = re.search(r"goes on at batch (\d+)\n(.*)", log, re.DOTALL).groups()
        assert 3 <= int(resumed) <= 5 and rest.splitlines()[0] == f"batch {int(resumed) + 1}", log
        assert "batch 10\ndone" in rest and log.count("batch 10") == 1, log
