"""What the tests of real processes share."""

import pytest

from ps_job import Job


@pytest.fixture
def job(tmp_path):
    made = Job(tmp_path)
    yield made
    made.kill_all()
