"""Collective jobs under a real srun, of a Slurm of two nodes on this machine that the test starts."""

import getpass
import os
import re
import socket
import subprocess
import sys

import pytest

from ports import free_range
from ps_job import SECONDS, until

SLURM = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
NodeName=n0 NodeHostname={host} NodeAddr=127.0.0.1 Port={port0} CPUs={cpus}
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={port1} CPUs={cpus}
PartitionName=all Nodes=n0,n1 Default=YES State=UP
"""

SCRIPT = """
import paddle
import paddle.distributed as dist

dist.init_parallel_env()
sum = paddle.to_tensor([dist.get_rank() + 1.0])
dist.all_reduce(sum)
print('rank', dist.get_rank(), 'of', dist.get_world_size(), 'sum', float(sum), flush=True)
"""


@pytest.fixture
def srun(job):
    """Runs words under srun, with node names that are no host names: MASTER_ADDR says where to meet."""
    folder, first = job.folder, free_range(3)
    (folder / "munge").mkdir(mode=0o755)
    for name in ("state", "n0", "n1"):
        (folder / name).mkdir()
    for above in folder.parents:
        if above.owner() == getpass.getuser() and len(above.parts) > 2:
            above.chmod(0o755)  # munge refuses a socket that others cannot reach
    (folder / "munge/key").write_bytes(os.urandom(128))
    (folder / "munge/key").chmod(0o600)
    job.write(
        "slurm.conf",
        SLURM.format(
            folder=folder, host=socket.gethostname().split(".")[0], user=getpass.getuser(), port=first, port0=first + 1, port1=first + 2, cpus=os.cpu_count()
        ),
    )
    job.env["SLURM_CONF"] = str(folder / "slurm.conf")
    job.env["PATH"] += ":/usr/sbin"
    job.start(
        "munged",
        "--foreground",
        "--force",
        *(
            f"--{what}={folder}/munge/{file}"
            for what, file in (("key-file", "key"), ("socket", "socket"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed"))
        ),
    )
    until((folder / "munge/socket").exists, "munged does not listen")
    job.start("slurmctld", "-D")
    for node in ("n0", "n1"):
        job.start("slurmd", "-D", "-N", node)

    def idle():
        return subprocess.run(["sinfo", "-h", "-o", "%D %t"], env=job.env, capture_output=True, text=True, timeout=SECONDS).stdout.split() == ["2", "idle"]

    until(idle, "the nodes are not idle")
    job.write("train.py", SCRIPT)
    return lambda *words: job.end(job.start("srun", *words, MASTER_ADDR="127.0.0.1"))


def test_processes_find_their_places(srun):
    out = srun("-N2", "-n4", sys.executable, "train.py")
    assert sorted(re.findall(r"rank (\d) of 4 sum 10.0", out)) == ["0", "1", "2", "3"], out


def test_two_tasks_do_not_run_two_private_jobs_with_servers(srun, job):
    out = job.end(job.start("srun", "-N2", "-n2", "fleetrun", "--server_num=1", "--worker_num=1", "--no-python", "true", MASTER_ADDR="127.0.0.1"), 2)
    assert out.count("each would start a complete job of its own") == 2, out


def test_launchers_find_theirs_and_start_processes(srun):
    out = srun("-N2", "--ntasks-per-node=1", "sh", "-c", "exec fleetrun --nproc_per_node=2 --log_dir=log.$SLURM_NODEID train.py")
    assert sorted(re.findall(r"rank (\d) of 4 sum 10.0", out)) == ["0", "2"], out  # the first process of each node is shown
    assert out.count("the job has ended well") == 2, out
