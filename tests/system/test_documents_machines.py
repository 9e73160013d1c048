"""The documents' commands for several machines, with their addresses and host names as they stand there, on machines that have them."""

import re
import sys

from machines import two_machines
from ps_scripts import JOB

COLLECTIVE = """
import hashlib, os
import paddle
import paddle.distributed as dist

dist.init_parallel_env()
sum = paddle.to_tensor([dist.get_rank() + 1.0])
dist.all_reduce(sum)
print('rank', dist.get_rank(), 'of', dist.get_world_size(), 'sum', float(sum), 'token', hashlib.sha256(os.environ['ARGOSY_TOKEN'].encode()).hexdigest())
"""


def test_a_cluster_by_its_addresses(job):
    """PaddlePaddle's collective_training, "1.4.2". The launchers that meet give all processes a token of this run."""
    job.write("train_with_fleet.py", COLLECTIVE)
    with two_machines(["192.168.1.2", "192.168.1.3"]) as machines:
        nodes = [
            job.start(
                *inside,
                sys.executable,
                "-m",
                "paddle.distributed.launch",
                "--cluster_node_ips=192.168.1.2,192.168.1.3",
                f"--node_ip={address}",
                "--started_port=6170",
                "--selected_gpus=0,1,2,3",
                f"--log_dir=log-{address}",
                "train_with_fleet.py",
                ARGOSY_DEVICE="cpu",
            )
            for address, inside in machines
        ]
        outs = [job.end(node) for node in nodes]
    logs = "".join(file.read_text() for file in job.folder.glob("log-*/workerlog.*"))
    assert sorted(re.findall(r"rank (\d) of 8 sum 36.0", logs)) == [str(rank) for rank in range(8)], outs[0] + logs
    assert len(set(re.findall(r"token (\w+)", logs))) == 1, logs
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S* warning rank 0: the c10d store at 192.168.1.2:6170 can be reached", outs[0]), outs[0]


def test_a_collective_job_on_several_machines_is_refused_where_security_is_required(job):
    """By its launchers before anything starts, and by processes that something else has started; on one machine it runs."""
    job.write("train.py", COLLECTIVE)
    required = {"ARGOSY_SECURITY": "required", "ARGOSY_DEVICE": "cpu", "ARGOSY_PYTHON": sys.executable}
    with two_machines(["192.168.1.2", "192.168.1.3"]) as machines:
        words = ["--ips=192.168.1.2,192.168.1.3", "--nproc_per_node=1", "train.py"]
        for address, inside in machines:
            said = job.end(job.start(*inside, "fleetrun", f"--log_dir=log-{address}", *words, **required), 2)
            assert "ARGOSY_SECURITY=required: the processes of a collective job on several machines meet in c10d stores" in said, said
        assert not list(job.folder.glob("log-*"))
        by_hand = required | {"WORLD_SIZE": 2, "MASTER_ADDR": "192.168.1.2", "MASTER_PORT": 29500, "ARGOSY_TOKEN": "open sesame"}
        ranks = [job.start(*inside, sys.executable, "train.py", RANK=rank, **by_hand) for rank, (_, inside) in enumerate(machines)]
        for rank in ranks:
            said = job.end(rank, 1)
            assert "ARGOSY_SECURITY=required: the processes of this job meet at 192.168.1.2:29500 in a c10d store" in said, said
    job.end(job.start("fleetrun", "--nproc_per_node=2", "--log_dir=log-here", "train.py", **required))
    logs = "".join(file.read_text() for file in job.folder.glob("log-here/workerlog.*"))
    assert sorted(re.findall(r"rank (\d) of 2 sum 3.0", logs)) == ["0", "1"], logs


TRAIN = (
    JOB
    + """
for i in range(20): exe.run(fluid.default_main_program(), feed=batch(100 * i + fleet.worker_index()))
print('trained', flush=True)
fleet.stop_worker()
"""
)


def launch_with_names(job, machines, **env):
    """docs/launcher.md, "Jobs with parameter servers"."""
    return [
        job.start(
            *inside,
            "fleetrun",
            "--servers=node1:6170,node2:6170",
            "--workers=node1,node2",
            f"--directory=kept-{address}",
            "--durability=wal",
            "--max_restart=3",
            f"--log_dir=logs-{address}",
            "train.py",
            ARGOSY_PYTHON=sys.executable,
            **env,
        )
        for address, inside in machines
    ]


def test_servers_and_workers_by_their_names(job):
    """Launchers that do not meet cannot share a token: that the job is open stands on the terminal of each."""
    job.write("train.py", TRAIN)
    with two_machines(["10.0.0.1", "10.0.0.2"], ["node1", "node2"]) as machines:
        for i, launcher in enumerate(launch_with_names(job, machines)):
            out = job.end(launcher)
            assert "trained" in (job.folder / f"logs-10.0.0.{i + 1}" / f"workerlog.{i}").read_text()
            assert re.search(rf"\d{{4}}-\d\d-\d\d .* warning server {i}: node{i + 1}:6170 can be reached from other machines, and anybody", out), out


def test_an_open_job_on_several_machines_is_refused_where_security_is_required(job):
    job.write("train.py", TRAIN)
    with two_machines(["10.0.0.1", "10.0.0.2"], ["node1", "node2"]) as machines:
        for launcher in launch_with_names(job, machines, ARGOSY_SECURITY="required"):
            assert "give all launchers the same ARGOSY_TOKEN" in job.end(launcher, 2)
        for launcher in launch_with_names(job, machines, ARGOSY_SECURITY="required", ARGOSY_TOKEN="open sesame"):
            assert "anybody" not in job.end(launcher)


TRANSPILER = """
import os, sys
import numpy as np
import paddle
import paddle.fluid as fluid

paddle.enable_static()
x = fluid.layers.data('x', [4])
loss = fluid.layers.mean(fluid.layers.fc(x, 1))
fluid.optimizer.SGD(0.1).minimize(loss)
exe = fluid.Executor(fluid.CPUPlace())


def train_loop(program):
    exe.run(fluid.default_startup_program())
    for _ in range(5): exe.run(program, feed={'x': np.ones((2, 4), 'float32')})
    print('trained')


role, trainer_id, current_endpoint = sys.argv[1], int(sys.argv[2]), sys.argv[3]
pserver_endpoints = "192.168.1.1:6170,192.168.1.2:6170"
trainers = 4
t = fluid.DistributeTranspiler()
t.transpile(trainer_id, pservers=pserver_endpoints, trainers=trainers)
if role == "PSERVER":
    pserver_prog = t.get_pserver_program(current_endpoint)
    pserver_startup = t.get_startup_program(current_endpoint, pserver_prog)
    exe.run(pserver_startup)
    exe.run(pserver_prog)
elif role == "TRAINER":
    train_loop(t.get_trainer_program())
"""


def test_a_transpiled_program_by_its_addresses(job):
    """fleet_api, "TranspilerAPI": processes that are started by hand say themselves that they are open."""
    job.write("train.py", TRANSPILER)
    with two_machines(["192.168.1.1", "192.168.1.2"]) as machines:
        servers = [job.start(*inside, sys.executable, "train.py", "PSERVER", 0, f"{address}:6170") for address, inside in machines]
        trainers = [job.start(*machines[i % 2][1], sys.executable, "train.py", "TRAINER", i, "none") for i in range(4)]
        for trainer in trainers:
            assert "trained" in job.end(trainer)
        for server in servers:
            assert "can be reached from other machines, and anybody there may call it" in job.end(server)
