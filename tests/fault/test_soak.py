"""The soak passes a job that failed only for the one cause that it allows."""

import pytest

from soak import failed_as_allowed

STARTED = "13:00:00 info launcher: 4 processes started; logs: logs/serverlog.0 … logs/workerlog.1\n"
KILLED = "13:00:09 error launcher: worker 1: killed by signal 9 (Killed)"
TOO_LATE = f"{KILLED} after it had left its job, and all servers had ended: nothing that it trained is lost, and nobody is there for it to come back to; stopping the job\n"
OTHER = "13:00:08 error launcher: worker 0: exit status 1; stopping the job\n"


@pytest.mark.parametrize(
    "said, ended_late, allowed",
    [
        (TOO_LATE, {"worker 1"}, True),
        (TOO_LATE, {"worker 0", "worker 1"}, True),
        (TOO_LATE, {"worker 0"}, False),
        (TOO_LATE, set(), False),
        (OTHER, {"worker 1"}, False),
        (OTHER, {"worker 0"}, False),
        (TOO_LATE + OTHER, {"worker 1"}, False),
        (f"{KILLED}; stopping the job\n", {"worker 1"}, False),
        (f"{KILLED}; starting it again (1 of 1000), its log goes on in logs/workerlog.1\n", {"worker 1"}, False),
        ("", {"worker 1"}, False),
    ],
)
def test_a_failed_job_is_passed_for_a_worker_that_was_ended_late_and_for_nothing_else(said, ended_late, allowed):
    assert failed_as_allowed(STARTED + said, ended_late) is allowed
