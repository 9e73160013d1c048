"""Jobs under a real srun and sbatch, of a Slurm of two nodes on this machine that the test starts."""

import getpass
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import time

import pytest

import ray_job
from ports import free_range
from ps_job import SECONDS, until

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLURM = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthInfo=socket={folder}/munge/socket,cred_expire=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
NodeName=n0 NodeHostname={host} NodeAddr=127.0.0.1 Port={port0} CPUs={cpus}
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={port1} CPUs={cpus}
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SchedulerParameters=sched_interval=2,bf_interval=2
PartitionName=all Nodes=n0,n1 Default=YES State=UP PriorityTier=1
PartitionName=urgent Nodes=n0,n1 State=UP PriorityTier=2
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
    return lambda *words: job.end(job.start("srun", *words, MASTER_ADDR="127.0.0.1", ARGOSY_PYTHON=sys.executable))


def test_processes_find_their_places(srun):
    out = srun("-N2", "-n4", sys.executable, "train.py")
    assert sorted(re.findall(r"rank (\d) of 4 sum 10.0", out)) == ["0", "1", "2", "3"], out


def test_tasks_do_not_run_private_jobs_with_servers(srun, job):
    out = job.end(job.start("srun", "-N2", "-n2", "fleetrun", "--no-python", "--run_mode=ps", "true", MASTER_ADDR="127.0.0.1"), 2)
    assert out.count("each would start a complete job of its own") == 2, out
    out = job.end(job.start("srun", "-N2", "-n2", "fleetrun", "--server_num=2", "--worker_num=2", "--no-python", "true", MASTER_ADDR="127.0.0.1"), 2)
    assert out.count("--server_num=2 and --worker_num=2 are not 2") == 2, out


def test_launchers_find_theirs_and_start_processes(srun):
    out = srun("-N2", "--ntasks-per-node=1", "sh", "-c", "exec fleetrun --nproc_per_node=2 --log_dir=log.$SLURM_NODEID train.py")
    assert sorted(re.findall(r"rank (\d) of 4 sum 10.0", out)) == ["0", "2"], out  # the first process of each node is shown
    assert out.count("the job has ended well") == 2, out


STEPS, PACE = 90, 30


@pytest.fixture
def calm(job):
    """The parameters of an undisturbed run of ray_job.SCRIPT, train_ps.py, on this machine alone."""
    (job.folder / "calm").mkdir()
    job.write("train_ps.py", ray_job.SCRIPT)
    job.end(job.fleetrun("train_ps.py", job.folder / "calm", STEPS, PACE, 0))
    return ray_job.saved(job.folder / "calm")


# Servers and workers are components of a heterogeneous step; the tasks of both are numbered through. The job is a file, the same for all.
def test_tasks_of_a_step_are_servers_and_workers(srun, job, calm):
    job.write("job.yaml", f"program: [train_ps.py, {job.folder}, {STEPS}, {PACE}, 0]\nserver_num: 2\nworker_num: 2\n")
    out = srun("-N1", "-n2", "fleetrun", "job.yaml", ":", "-N1", "-n2", "fleetrun", "job.yaml")
    assert ray_job.saved(job.folder) == calm
    assert "can be reached from other machines without TLS" in job.log("server 0") and "no token" not in job.log("server 0")
    assert "seconds" in out, "what worker 0 writes is shown"


def preempt(job):
    """Takes both nodes away from the job that runs, until it runs again; returns how long it took to end."""

    def told(*words):
        subprocess.run(words, env=job.env, capture_output=True, timeout=SECONDS)
        time.sleep(1)

    begun = time.monotonic()
    job.end(job.start("srun", "-p", "urgent", "-N2", "-n2", "true"))
    took = time.monotonic() - begun
    (job.folder / "killed-1").touch()
    # Slurm lets a requeued job wait for two minutes, which this test does not.
    until(lambda: "SLURM_RESTART" in (job.folder / "batch.out").read_text() or told("scontrol", "update", "JobId=1", "StartTime=now"), "the requeue", 60)
    return took


def wait_for_the_end(job):
    until(
        lambda: "train" not in subprocess.run(["squeue", "-h", "-o", "%j"], env=job.env, capture_output=True, text=True, timeout=SECONDS).stdout,
        lambda: f"the end of the job: {(job.folder / 'batch.out').read_text()[-3000:]}{job.logs()}",
    )


# The scheduler takes the nodes away in the middle of a pass: SIGTERM, and the job runs again when they are free.
def test_a_preempted_job_goes_on(srun, job, calm):
    job.write(
        "train.sbatch",
        f"""\
        #!/bin/sh
        #SBATCH -N2 -n4 --requeue --open-mode=append
        exec srun fleetrun --server_num=2 --worker_num=2 --directory=kept train_ps.py {job.folder} {STEPS} {PACE} 1
        """,
    )
    job.env["ARGOSY_PYTHON"] = sys.executable
    watched = ray_job.Watched(job.folder, "")
    job.end(job.start("sbatch", "-o", "batch.out", "train.sbatch"))
    until(lambda: watched.furthest() >= 2 * PACE, lambda: f"step {2 * PACE}: {(job.folder / 'batch.out').read_text()[-3000:]}{job.logs()}")
    took = preempt(job)
    until((job.folder / "ledger.json").exists, lambda: f"the end of the job: {(job.folder / 'batch.out').read_text()[-3000:]}{job.logs()}")
    wait_for_the_end(job)
    assert took < 25, took
    assert ray_job.saved(job.folder) == calm
    ledger = json.loads((job.folder / "ledger.json").read_text())
    assert [one["text"] for one in ledger["passes"]] == [f"{2 * STEPS} runs, {2 * STEPS} applied once, 0 lost"]
    assert "Slurm has requeued this job (SLURM_RESTART_COUNT=1)" in (job.folder / "batch.out").read_text()
    assert "snapshot 1" in job.log("server 0"), "the server was stopped without a snapshot"


COLLECTIVE = """
import os
import time

import numpy as np
import paddle
from paddle.distributed import fleet
from paddle.io import DistributedBatchSampler, TensorDataset

fleet.init(is_collective=True)
x = np.arange(64, dtype='float32').reshape(64, 1) / 64
model = fleet.distributed_model(paddle.nn.Linear(1, 1))
optimizer = fleet.distributed_optimizer(paddle.optimizer.SGD(0.01, parameters=model.parameters()))
sampler = DistributedBatchSampler(TensorDataset([paddle.to_tensor(x)]), 8)
print('resumed' if fleet.load(model, optimizer, sampler=sampler) else 'from the beginning', flush=True)
for epoch in range(sampler.epoch, 6):
    sampler.set_epoch(epoch)
    for indices in sampler:
        loss = model(paddle.to_tensor(x[indices])).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        print('pass', epoch, flush=True)
    fleet.save(model, optimizer, 'checkpoint', sampler)
    if epoch == 2 and not os.path.exists('killed-1'):
        open('at-2', 'w').close()
        time.sleep(600)
if fleet.worker_index() == 0:
    open('ended', 'w').close()
"""


# The script is that of docs/slurm.md.
def test_a_preempted_collective_job_goes_on_from_its_checkpoint(srun, job):
    (script,) = re.findall(r"```sh\n(#!/bin/sh\n#SBATCH [^`]*nproc_per_node[^`]*)```", (ROOT / "docs/slurm.md").read_text())
    job.write("train.sbatch", script)
    job.write("train.py", COLLECTIVE)
    (job.folder / "log.0").mkdir()
    (job.folder / "log.0/last_checkpoint").write_text("/that/of/another/job")
    job.env.update(ARGOSY_PYTHON=sys.executable, ARGOSY_DEVICE="cpu", MASTER_ADDR="127.0.0.1")
    job.end(job.start("sbatch", "-o", "batch.out", "train.sbatch"))
    until((job.folder / "at-2").exists, lambda: f"pass 2: {(job.folder / 'batch.out').read_text()[-3000:]}")
    assert preempt(job) < 25
    until((job.folder / "ended").exists, lambda: f"the end of the job: {(job.folder / 'batch.out').read_text()[-3000:]}")
    wait_for_the_end(job)
    out = (job.folder / "batch.out").read_text()
    assert f"Slurm has requeued this job (SLURM_RESTART_COUNT=1): it goes on from checkpoint '{job.folder / 'checkpoint'}'" in out, out
    first, second = out.split("Slurm has requeued", 1)
    assert "from the beginning" in first and "resumed" in second and "from the beginning" not in second, out
    assert sorted(set(re.findall(r"pass (\d)", second))) == ["3", "4", "5"], out
