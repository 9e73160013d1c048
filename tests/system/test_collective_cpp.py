"""A libtorch program that became distributed by five lines: examples/cifar and its twin in Python, alone and by the launcher."""

import os
import pathlib
import random
import re
import signal
import sys
import time

import pytest

from machines import two_machines
from ports import free_range
from ps_job import SECONDS, until

ROOT = pathlib.Path(__file__).resolve().parents[2]
CIFAR = ROOT / "build/release/examples/cifar"
FLEETRUN = ROOT / "build/release/bin/fleetrun"


def write_images(path, count, seed):
    """Records of CIFAR-10's binary form, whose class shows as a bright stripe."""
    draw = random.Random(seed)
    with path.open("wb") as file:
        for _ in range(count):
            label = draw.randrange(10)
            image = bytearray(draw.randbytes(3072))
            for channel in range(3):
                for row in range(3 * label, 3 * label + 3):
                    begin = 1024 * channel + 32 * row
                    image[begin : begin + 32] = b"\xff" * 32
            file.write(bytes([label]) + image)


@pytest.fixture
def images(tmp_path):
    folder = tmp_path / "cifar"
    folder.mkdir()
    write_images(folder / "data_batch_1.bin", 640, 1)
    write_images(folder / "test_batch.bin", 200, 2)
    return folder


def losses(text):
    return {(int(rank), int(epoch)): float(loss) for rank, epoch, loss in re.findall(r"rank (\d+) epoch (\d+) loss ([\d.]+)", text)}


def accuracy(text):
    return float(re.search(r"test accuracy ([\d.]+)", text).group(1))


def test_alone_it_is_an_ordinary_program(job, images):
    text = job.end(job.start(CIFAR, images, 3))
    assert losses(text)[0, 2] < losses(text)[0, 0] and accuracy(text) > 0.8
    assert (images / "checkpoint").is_file()


def test_its_twin_in_python_learns_the_same_alone_and_as_two(job, images):
    twin = ROOT / "examples/cifar.py"
    text = job.end(job.start(sys.executable, twin, images, 3))
    assert losses(text)[0, 2] < losses(text)[0, 0] and accuracy(text) > 0.8
    assert (images / "model.pdparams").is_file()
    job.end(job.start(FLEETRUN, f"--started_port={free_range(2)}", "--nproc_per_node=2", twin, images, 6))
    text = logs(job, 2)
    assert set(losses(text)) == {(rank, epoch) for rank in range(2) for epoch in range(6)} and accuracy(text) > 0.8


def launched(job, images, *flags, epochs=3, **env):
    return job.start(FLEETRUN, "--no-python", f"--started_port={free_range(4)}", *flags, CIFAR, images, epochs, **env)


def logs(job, ranks, folder="log"):
    return "".join((job.folder / folder / f"workerlog.{rank}").read_text() for rank in range(ranks))


def test_two_processes_train_one_model(job, images):
    job.end(launched(job, images, "--nproc_per_node=2", epochs=6))
    text = logs(job, 2)
    assert set(losses(text)) == {(rank, epoch) for rank in range(2) for epoch in range(6)}
    assert accuracy(text) > 0.8


def test_two_nodes_on_two_addresses(job, images):
    port = free_range(3)
    common = ["--no-python", "--ips=127.0.0.1,127.0.0.2", f"--started_port={port}", "--nproc_per_node=2"]
    nodes = [job.start(FLEETRUN, *common, f"--node_ip=127.0.0.{node + 1}", f"--log_dir=node{node}", CIFAR, images, 2) for node in range(2)]
    for node in nodes:
        job.end(node)
    text = logs(job, 2, "node0") + "".join(path.read_text() for path in sorted((job.folder / "node1").glob("workerlog.*")))
    assert set(losses(text)) == {(rank, epoch) for rank in range(4) for epoch in range(2)}


def test_two_network_namespaces_train_one_model(job, images):
    """Two machines that know each other's addresses and nothing else."""
    with two_machines() as machines:
        ips = ",".join(address for address, _ in machines)
        nodes = [
            job.start(*inside, FLEETRUN, "--no-python", f"--ips={ips}", "--nproc_per_node=1", f"--log_dir=node{i}", CIFAR, images, 2)
            for i, (_, inside) in enumerate(machines)
        ]
        for node in nodes:
            job.end(node)
    text = "".join(path.read_text() for path in sorted(job.folder.glob("node*/workerlog.*")))
    assert set(losses(text)) == {(rank, epoch) for rank in range(2) for epoch in range(2)}


def process_of(job, rank):
    """The process id of a running rank."""
    for path in pathlib.Path("/proc").iterdir():
        try:
            if (
                path.name.isdigit()
                and str(CIFAR).encode() in (path / "cmdline").read_bytes().split(b"\0")[:1]
                and os.readlink(path / "cwd") == str(job.folder)
                and f"PADDLE_TRAINER_ID={rank}".encode() in (path / "environ").read_bytes().split(b"\0")
            ):
                return int(path.name)
        except OSError:
            continue
    return None


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGSTOP])
def test_a_lost_process_ends_the_job(job, images, kill):
    """Nobody hangs: the others end within the time that they are told to wait, and the launcher says who was lost."""
    process = launched(job, images, "--nproc_per_node=2", "--peer_seconds=10", epochs=100000)
    until(lambda: (job.folder / "log/workerlog.1").exists() and losses(logs(job, 2)), job.logs)
    killed = until(lambda: process_of(job, 1))
    os.kill(killed, kill)
    begun = time.monotonic()
    process.communicate(timeout=SECONDS)
    assert process.returncode != 0 and time.monotonic() - begun < 60  # an operation alone would wait for 300
    assert not os.path.exists(f"/proc/{killed}")


def until_start(last, log, images):
    """Trains without an end, and in the start of number `last` for three epochs more than the first process had: however late the test comes
    to disturb it, there is something to disturb."""
    return [
        "sh",
        "-c",
        f"epochs=100000; [ $TORCHELASTIC_RESTART_COUNT -lt {last} ] || epochs=$(($(grep -c '^rank 0 epoch' {log}) + 3)); "
        f"echo until $epochs; exec {CIFAR} {images} $epochs",
    ]


def check_that_it_went_on(text, least_accuracy):
    epochs = [int(epoch) for epoch in re.findall(r"rank 0 epoch (\d+)", text)]
    assert epochs[-1] == int(re.findall(r"until (\d+)", text)[-1]) - 1 and epochs.count(0) == 1 and accuracy(text) > least_accuracy, text


def test_a_restarted_group_goes_on_from_its_checkpoint(job, images):
    process = job.start(
        FLEETRUN, "--no-python", f"--started_port={free_range(2)}", "--nproc_per_node=2", "--max_restart=1", *until_start(1, "log/workerlog.0", images)
    )
    until(lambda: (images / "checkpoint").exists() and (0, 1) in losses(logs(job, 2)))
    os.kill(until(lambda: process_of(job, 1)), signal.SIGKILL)
    job.end(process)
    check_that_it_went_on(logs(job, 1), 0.8)


def test_machines_come_and_go_while_it_trains(job, images):
    """Each change starts the group anew, with as many processes as there are, from the last checkpoint."""
    port = free_range(1)

    def node(number):
        return job.start(
            FLEETRUN,
            "--no-python",
            "--nnodes=1:2",
            f"--rdzv_endpoint=127.0.0.1:{port}",
            f"--node_ip=127.0.0.{number}",
            "--nproc_per_node=1",
            f"--log_dir=node{number}",
            *until_start(2, "node1/workerlog.0", images),
        )

    def trained(number):
        path = job.folder / f"node{number}" / "workerlog.0"
        return losses(path.read_text()) if path.exists() else {}

    first = node(1)
    until(lambda: (0, 1) in trained(1))
    second = node(2)
    until(lambda: any(rank == 1 for rank, _ in trained(2)))
    second.send_signal(signal.SIGTERM)
    second.communicate(timeout=SECONDS)
    assert second.returncode == 128 + signal.SIGTERM
    assert "2 processes on 2 nodes, from checkpoint" in (out := job.end(first)) and "1 process on 1 node, from checkpoint" in out
    check_that_it_went_on(logs(job, 1, "node1"), 0.6)
