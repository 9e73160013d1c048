"""Jobs of several processes on this machine, each started with the variables that a launcher would set."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

from ports import free_range

PROGRAMS = pathlib.Path(__file__).parent / "programs"
FAMILIES = re.compile(r"PADDLE_|FLAGS_|TRAINING_ROLE|POD_IP|RANK$|LOCAL_|WORLD_SIZE|MASTER_|OMPI_|PMI|SLURM_|ARGOSY_")
LIMIT = 120  # seconds: the longest that a job of these tests may take on a busy machine


def _environment():
    return {name: value for name, value in os.environ.items() if not FAMILIES.match(name)}


class Job:
    """Processes of one program, by rank."""

    def __init__(self, folder):
        self.folder, self.processes = folder, []

    def start(self, count, program, *args, **variables):
        first = free_range(count)
        endpoints = [f"127.0.0.1:{port}" for port in range(first, first + count)]
        for rank in range(count):
            own = {
                "PADDLE_TRAINER_ID": str(rank),
                "PADDLE_TRAINERS_NUM": str(count),
                "PADDLE_TRAINER_ENDPOINTS": ",".join(endpoints),
                "PADDLE_CURRENT_ENDPOINT": endpoints[rank],
                "OMP_NUM_THREADS": "1",
                "PYTHONUNBUFFERED": "1",
                **variables,
            }
            with open(self.folder / f"rank.{rank}", "w") as log:
                self.processes.append(
                    subprocess.Popen(
                        [sys.executable, str(PROGRAMS / program), *args],
                        cwd=self.folder,
                        stdin=subprocess.PIPE,
                        stdout=log,
                        stderr=subprocess.STDOUT,
                        env={**_environment(), **own},
                    )
                )
        return self

    def log(self, rank):
        return (self.folder / f"rank.{rank}").read_text()

    def wait(self, rank, limit=LIMIT):
        """The exit status of a rank."""
        return self.processes[rank].wait(limit)

    def logs(self):
        """What all have printed, once they have ended well."""
        for rank in range(len(self.processes)):
            assert self.wait(rank) == 0, f"rank {rank}:\n{self.log(rank)}"
        return [self.log(rank) for rank in range(len(self.processes))]

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()
            process.stdin.close()


@pytest.fixture
def environment():
    """This process's variables without those that launchers set."""
    return _environment()


@pytest.fixture
def job(tmp_path):
    """job.start(count, program, *args, **variables).logs()."""
    made = Job(tmp_path)
    yield made
    made.end()
