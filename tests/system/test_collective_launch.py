"""Collective jobs by the launcher, on one machine and on several. Processes are shell text: the launcher knows nothing of what they train."""

import contextlib
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import time

import pytest

from machines import two_machines
from ports import free_range
from ps_job import SECONDS, until

PLACES = "PADDLE_|FLAGS_|TRAINING_ROLE|POD_IP|RANK$|LOCAL_|WORLD_SIZE|MASTER_|OMPI_|PMI|SLURM_|TORCHELASTIC_|PET_|ARGOSY_|CUDA_VISIBLE"
# writes a file that appears whole, so that who waits for it can read it
PUT = "put() { cat > .$1.new; mv .$1.new $1; }; "
WAIT = "until_there() { while [ ! -e $1 ]; do sleep 0.02; done; }; "


class Node:
    """A launcher and what it wrote."""

    def __init__(self, folder, name, command, env, inside=()):
        self.name, self.folder = name, folder
        self.out = folder / f"out-{name}"
        self.process = subprocess.Popen(
            [*inside, "fleetrun", f"--log_dir=log-{name}", *command], cwd=folder, stdout=open(self.out, "w"), stderr=subprocess.STDOUT, env=env
        )

    def end(self, status=0):
        """Its output, once it has ended with this status."""
        assert self.process.wait(SECONDS) == status, self.out.read_text()
        return self.out.read_text()

    def log(self, number=0):
        return (self.folder / f"log-{self.name}" / f"workerlog.{number}").read_text()

    def wait_for_line(self, pattern):
        until(lambda: re.search(pattern, self.out.read_text()) or self.process.poll() is not None, pattern)
        assert re.search(pattern, self.out.read_text()), self.out.read_text()


class Job:
    def __init__(self, folder):
        self.folder = folder
        self.env = {name: value for name, value in os.environ.items() if not re.match(PLACES, name)}
        self.nodes = []

    def start(self, name, *options, script, inside=(), **env):
        node = Node(
            self.folder,
            name,
            [*options, "--no-python", "/bin/sh", "-c", PUT + WAIT + script],
            {**self.env, **{key: str(value) for key, value in env.items()}},
            inside,
        )
        self.nodes.append(node)
        return node

    def wait_for(self, name):
        until((self.folder / name).exists, lambda: name + "".join(node.out.read_text() for node in self.nodes))
        return (self.folder / name).read_text()

    def stop(self):
        for node in self.nodes:
            if node.process.poll() is None:
                node.process.send_signal(signal.SIGTERM)
        for node in self.nodes:
            try:
                node.process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                node.process.kill()
                node.process.wait()


@pytest.fixture
def job(tmp_path):
    made = Job(tmp_path)
    yield made
    made.stop()


WHO = "echo rank $PADDLE_TRAINER_ID of $PADDLE_TRAINERS_NUM local $LOCAL_RANK of $LOCAL_WORLD_SIZE at $PADDLE_CURRENT_ENDPOINT master $MASTER_ADDR:$MASTER_PORT"


def test_one_machine_as_the_document_shows_it(job):
    node = job.start("a", "--gpus=0,1", script=WHO, ARGOSY_DEVICE="cpu")
    out = node.end()
    assert "-----------  Configuration Arguments -----------\ngpus: 0,1\nheter_worker_num: None\n" in out
    assert re.search(r"\|\s+Distributed Envs\s+Value\s+\|\n.*\n\|?\s+\|?\s+PADDLE_TRAINER_ENDPOINTS\s+127.0.0.1:\d+,127.0.0.1:\d+\s+\|", out), out
    endpoints = (job.folder / "log-a" / "endpoints.log").read_text().split()[1:]
    assert [node.log(i) for i in range(2)] == [f"rank {i} of 2 local {i} of 2 at {endpoints[i]} master {endpoints[0]}\n" for i in range(2)]
    assert out.count(node.log(0)) == 1 and node.log(1) not in out  # the first process's output is shown


# As in the document: the same command on each node, with its own --node_ip.
def two_nodes(job, script, *options, processes=2, port=None, **env):
    port = port or free_range(processes + 1)  # the last is the meeting place's
    return port, [
        job.start(
            ip[-1],
            "--cluster_node_ips=127.0.0.1,127.0.0.2",
            f"--node_ip={ip}",
            f"--started_port={port}",
            f"--selected_gpus={','.join(map(str, range(processes)))}",
            *options,
            script=script,
            ARGOSY_DEVICE="cpu",
            **env,
        )
        for ip in ("127.0.0.1", "127.0.0.2")
    ]


def test_two_loopback_addresses_are_two_nodes(job):
    port, nodes = two_nodes(job, WHO)
    for number, node in enumerate(nodes):
        node.end()
        for i in range(2):
            assert node.log(i) == f"rank {2 * number + i} of 4 local {i} of 2 at 127.0.0.{number + 1}:{port + i} master 127.0.0.1:{port}\n"


def test_a_rank_that_fails_on_one_node_ends_both_soon_with_its_code(job):
    _, nodes = two_nodes(
        job,
        "echo 1 | put up.$RANK; [ $RANK = 3 ] || exec sleep 300; for i in 0 1 2; do until_there up.$i; done; date +%s.%N | put failed; echo the reason; exit 7",
    )
    began = float(job.wait_for("failed"))
    outs = [node.end(7) for node in nodes]
    assert time.time() - began < 60
    assert re.search(r"---- rank 3: exit status 7; the end of log-2/workerlog.1:\nthe reason\n----", outs[1]), outs[1]
    assert "rank 3: exit status 7 of node 127.0.0.2" in outs[0]


def test_the_whole_group_starts_again_from_the_checkpoint_of_rank_0(job):
    script = (
        "echo start $TORCHELASTIC_RESTART_COUNT from [$ARGOSY_RESUME]; "
        "if [ $TORCHELASTIC_RESTART_COUNT = 1 ]; then exit 0; fi; "
        "if [ $RANK = 0 ]; then printf /data/epoch3 > note; mv note $ARGOSY_CHECKPOINT_FILE; echo 1 | put noted; fi; "
        "[ $RANK = 1 ] || exec sleep 300; until_there noted; kill -9 $$"
    )
    _, nodes = two_nodes(job, script, "--max_restart=1", processes=1)
    for node in nodes:
        assert "rank 1: killed by signal 9 (Killed) of node 127.0.0.2; the whole group starts again (1 of 1)" in node.end()
        assert node.log() == "start 0 from []\nstart 1 from [/data/epoch3]\n"


def test_a_node_that_does_not_come_is_named(job):
    node = job.start(
        "a", "--ips=127.0.0.1,127.0.0.2", "--node_ip=127.0.0.1", f"--started_port={free_range(2)}", "--nproc_per_node=1", "--rdzv_timeout=0.5", script="true"
    )
    assert "1 of 2 nodes came in 0.5 s; here: 127.0.0.1, missing: node 1" in node.end(1)
    node = job.start(
        "b", "--ips=127.0.0.1,127.0.0.2", "--node_ip=127.0.0.2", f"--started_port={free_range(2)}", "--nproc_per_node=1", "--rdzv_timeout=0.5", script="true"
    )
    assert "the launcher of the first node did not answer in 0.5 s" in node.end(2)


def test_a_stranger_is_refused_and_the_job_goes_on(job):
    """A process that finds the meeting place needs the job's token; the nodes that have it are not disturbed."""
    port = free_range(1)
    common = ["--nnodes=2", f"--rdzv_endpoint=127.0.0.1:{port}", "--nproc_per_node=1"]
    first = job.start("1", *common, "--node_rank=0", script=WHO, ARGOSY_TOKEN="secret")
    first.wait_for_line("2 nodes meet at")
    stranger = job.start("3", *common, "--node_ip=127.0.0.3", "--node_rank=1", script=WHO, ARGOSY_TOKEN="guess")
    assert "has another job token" in stranger.end(1)
    second = job.start("2", *common, "--node_ip=127.0.0.2", "--node_rank=1", script=WHO, ARGOSY_TOKEN="secret")
    for rank, node in enumerate((first, second)):
        node.end()
        assert node.log().startswith(f"rank {rank} of 2 ")
    assert "secret" not in first.out.read_text()


def test_a_port_in_use_is_found_before_anything_starts(job):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        node = job.start("a", "--nproc_per_node=1", f"--started_port={port}", script="touch started")
        assert f"port {port} of 127.0.0.1 is in use; choose others with --started_port" in node.end(2)
    assert not (job.folder / "started").exists()


def test_a_port_that_only_an_old_connection_holds_is_waited_for(job):
    port = free_range(2)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as old:
        old.bind(("127.0.0.1", port + 1))
        old.connect(server.getsockname())
        _, nodes = two_nodes(job, WHO, processes=1, port=port)
        nodes[0].wait_for_line(f"127.0.0.1:{port + 1} is held by a connection that has ended; waits until it is free")
        old.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closes without the minute of TIME_WAIT
    for node in nodes:
        node.end()


def test_another_process_can_be_shown(job):
    out = job.start("a", "--nproc_per_node=2", "--follow=1", script="echo I am $RANK").end()
    assert "I am 1\n" in out and "I am 0" not in out


def listeners(pid):
    """The addresses at which a process listens, as (address, port), IPv4."""
    held, found = set(), set()
    for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a file that it has closed meanwhile
            held.add(os.readlink(link))
    for line in pathlib.Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and f"socket:[{fields[9]}]" in held:
            address, port = fields[1].split(":")
            found.add((socket.inet_ntoa(bytes.fromhex(address)[::-1]), int(port, 16)))
    return found


HOLD = "echo 1 | put up.$RANK; until_there over"


def test_the_meeting_place_is_at_its_own_address_alone(job):
    port, nodes = two_nodes(job, HOLD, processes=1)
    job.wait_for("up.0"), job.wait_for("up.1")
    assert listeners(nodes[0].process.pid) == {("127.0.0.1", port + 1)} and listeners(nodes[1].process.pid) == set()
    (job.folder / "over").touch()
    for node in nodes:
        node.end()


def test_who_calls_at_the_meeting_place_without_the_token_changes_nothing(job):
    """Bytes that are no call, connections that say nothing or are closed at once; the job ends as its processes say."""
    port, nodes = two_nodes(job, HOLD + "; [ $RANK = 0 ] || exit 3", processes=1, ARGOSY_TOKEN="secret")
    job.wait_for("up.0"), job.wait_for("up.1")
    strangers = [socket.create_connection(("127.0.0.1", port + 1), SECONDS) for _ in range(20)]
    for number, stranger in enumerate(strangers):
        with contextlib.suppress(OSError):  # the meeting place may have closed it
            stranger.sendall([b"GET / HTTP/1.1\r\n\r\n", os.urandom(5000), b"\xff" * 100, b""][number % 4])
    for stranger in strangers[::2]:
        stranger.close()
    (job.folder / "over").touch()
    for node in nodes:
        assert "rank 1: exit status 3 of node 127.0.0.2" in node.end(3)


def test_the_death_of_the_first_node_ends_the_others_at_once(job):
    """No process is left on either node."""
    _, nodes = two_nodes(job, "echo $$ | put pid.$RANK; exec sleep 300", processes=1)
    pids = [int(job.wait_for(f"pid.{rank}")) for rank in range(2)]
    nodes[0].process.kill()
    out = nodes[1].end(1)
    assert re.search(r"the meeting place 127.0.0.1:\d+ is lost \(.*\): the launcher of the first node has ended", out)
    assert "is silent" not in out  # it was told by the connection, and not by a wait for signs of life
    until(lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in pids))


def test_the_rank_that_fails_first_is_the_cause_though_the_others_end_before_it(job):
    """Rank 0 says that it lost its connection, and ends; rank 1, on the other node, is the one that failed."""
    says = "bash -c 'printf \"canother rank\" >&${ARGOSY_NOTICE_FD%%:*}'; "
    _, nodes = two_nodes(
        job,
        "if [ $RANK = 0 ]; then " + says + "echo connection closed; echo 1 | put gone; exit 4; fi; until_there gone; sleep 1; echo the reason; exit 7",
        processes=1,
    )
    outs = [node.end(7) for node in nodes]
    assert "---- rank 1: exit status 7" in outs[1] and "the reason" in outs[1]
    assert "rank 1: exit status 7 of node 127.0.0.2" in outs[0] and "---- rank 0" not in outs[0]


def test_a_rank_that_leaves_early_is_named_before_what_the_others_say(job):
    """Rank 1, on the other node, ends well; rank 0 then loses its connection."""
    says = "bash -c 'printf \"canother rank\" >&${ARGOSY_NOTICE_FD%%:*}'; "
    _, nodes = two_nodes(
        job, "if [ $RANK = 1 ]; then echo 1 | put gone; exit 0; fi; until_there gone; sleep 1; " + says + "echo connection closed; exit 4", processes=1
    )
    out, _ = (node.end(4) for node in nodes)
    assert 0 <= out.find("rank 1 left with status 0 while the others went on") < out.find("---- rank 0: exit status 4"), out


ELASTIC = (
    "echo $WORLD_SIZE from [$ARGOSY_RESUME] | put world.$TORCHELASTIC_RESTART_COUNT.$RANK; "
    "[ $RANK = 0 ] && printf /data/epoch$TORCHELASTIC_RESTART_COUNT > note && mv note $ARGOSY_CHECKPOINT_FILE; echo 1 | put noted.$TORCHELASTIC_RESTART_COUNT.$RANK; "
    "until_there over"
)


def test_nodes_join_and_leave_an_elastic_job(job):
    """Each change starts the group again, with as many as are there and the last checkpoint."""
    port = free_range(1)

    def node(number):
        return job.start(str(number), "--nnodes=1:3", f"--rdzv-endpoint=127.0.0.1:{port}", f"--node_ip=127.0.0.{number}", "--nproc-per-node=1", script=ELASTIC)

    first = node(1)
    assert job.wait_for("world.0.0") == "1 from []\n"
    job.wait_for("noted.0.0")
    second = node(2)
    assert job.wait_for("world.1.0") == job.wait_for("world.1.1") == "2 from [/data/epoch0]\n"
    job.wait_for("noted.1.0")
    third = node(3)
    assert job.wait_for("world.2.2") == job.wait_for("world.2.0") == "3 from [/data/epoch1]\n"
    job.wait_for("noted.2.0")
    second.process.send_signal(signal.SIGTERM)  # leaves in good order
    second.end(128 + signal.SIGTERM)
    assert job.wait_for("world.3.1") == job.wait_for("world.3.0") == "2 from [/data/epoch2]\n"
    job.wait_for("noted.3.0")
    third.process.kill()  # its machine is gone
    third.process.wait()
    assert job.wait_for("world.4.0") == "1 from [/data/epoch3]\n"
    (job.folder / "over").touch()
    assert "node 127.0.0.2 was told to end" in first.end()
    assert "node 127.0.0.3 is gone: its launcher has ended" in first.out.read_text()


def test_a_node_that_stands_still_at_the_end_hears_of_it(job):
    """Its launcher does not run for 8 s, in which the job ends."""
    _, nodes = two_nodes(job, "[ $RANK = 1 ] || until_there end; echo 1 | put done.$RANK", processes=1)
    job.wait_for("done.1")
    time.sleep(1)  # its launcher, which looks every 10 ms, has told the first one of it, and nobody else
    nodes[1].process.send_signal(signal.SIGSTOP)
    (job.folder / "end").touch()
    job.wait_for("done.0")
    time.sleep(8)
    nodes[1].process.send_signal(signal.SIGCONT)
    for node in nodes:
        assert "the job has ended well" in node.end()


def test_the_end_of_the_first_node_is_the_end_of_the_job(job):
    port = free_range(1)
    nodes = [
        job.start(
            str(number),
            "--nnodes=1:2",
            f"--rdzv-endpoint=127.0.0.1:{port}",
            f"--node_ip=127.0.0.{number}",
            "--nproc-per-node=1",
            script="echo 1 | put up.$WORLD_SIZE.$RANK; exec sleep 300",
        )
        for number in (1, 2)
    ]
    job.wait_for("up.2.0"), job.wait_for("up.2.1")
    nodes[0].process.send_signal(signal.SIGINT)
    assert "stopped by signal 2" in nodes[0].end(128 + signal.SIGINT)
    assert "node 127.0.0.1 was told to end; the job has ended" in nodes[1].end(128 + signal.SIGINT)


@pytest.mark.parametrize("options", [["--ips={0},{1}"], ["--nnodes=2", "--rdzv-endpoint={0}:29400"]])
def test_two_network_namespaces_are_two_nodes(job, options):
    """Nobody says which machine is which: each finds its own address. Rank 1 sends rank 0 a line over the network."""
    script = (
        f"{sys.executable} -c '"
        + """
import os, socket
host, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
if os.environ["RANK"] == "0":
    with socket.create_server((host, port)) as server:
        server.settimeout(100)
        print("rank 0 of", os.environ["WORLD_SIZE"], "heard", server.accept()[0].recv(100).decode())
else:
    while True:
        try:
            socket.create_connection((host, port), 1).sendall(os.environ["PADDLE_CURRENT_ENDPOINT"].encode())
            break
        except OSError:
            pass
'"""
    )
    with two_machines() as machines:
        addresses = [address for address, _ in machines]
        nodes = [
            job.start(str(i), *[option.format(*addresses) for option in options], "--nproc_per_node=1", script=script, inside=inside)
            for i, (_, inside) in enumerate(machines)
        ]
        for node in nodes:
            node.end()
    assert re.fullmatch(rf"rank 0 of 2 heard {addresses[1]}:\d+\n", nodes[0].log()), nodes[0].log()


@pytest.mark.parametrize("processes", [1, 2])
def test_launchers_under_mpirun_are_nodes_of_one_job(job, processes):
    command = [
        "mpirun",
        "--allow-run-as-root",
        "--oversubscribe",
        "-np",
        "2",
        "sh",
        "-c",
        f"exec fleetrun --log_dir=log-$OMPI_COMM_WORLD_RANK --nproc_per_node={processes} --no-python sh -c "
        "'echo $RANK of $WORLD_SIZE, local $LOCAL_RANK, [$OMPI_COMM_WORLD_RANK]'",
    ]
    done = subprocess.run(command, cwd=job.folder, env=job.env, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    logs = [(job.folder / f"log-{rank}" / f"workerlog.{local}").read_text() for rank in range(2) for local in range(processes)]
    assert logs == [f"{rank} of {2 * processes}, local {rank % processes}, []\n" for rank in range(2 * processes)]


def test_launchers_under_torchrun_are_nodes_of_one_job(job):
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--nproc-per-node=2",
        "--rdzv-backend=c10d",
        "--rdzv-endpoint=127.0.0.1:0",
        "--no-python",
        "sh",
        "-c",
        "exec fleetrun --log_dir=log-$RANK --no-python sh -c 'echo $RANK of $WORLD_SIZE'",
    ]
    done = subprocess.run(command, cwd=job.folder, env=job.env, capture_output=True, text=True, timeout=2 * SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [(job.folder / f"log-{rank}" / "workerlog.0").read_text() for rank in range(2)] == ["0 of 2\n", "1 of 2\n"]


def scheduler_variables(port):
    """What each of two tasks of a scheduler finds in its environment."""
    return {
        "srun": [
            dict(
                SLURM_PROCID=i,
                SLURM_STEP_NUM_TASKS=2,
                SLURM_LOCALID=i,
                SLURM_NODEID=0,
                SLURM_STEP_TASKS_PER_NODE="2",
                SLURM_STEP_NODELIST="localhost",
                MASTER_PORT=port,
            )
            for i in range(2)
        ],
        "PaddleJob": [
            dict(PADDLE_TRAINER_ID=i, PADDLE_TRAINERS_NUM=2, PADDLE_TRAINER_ENDPOINTS=f"127.0.0.1:{port},127.0.0.2:{port}", TRAINING_ROLE="TRAINER")
            for i in range(2)
        ],
        "PyTorchJob": [dict(RANK=i, WORLD_SIZE=2, MASTER_ADDR="127.0.0.1", MASTER_PORT=port) for i in range(2)],
        "PyTorchJob by PET": [
            dict(
                PET_NNODES="2",
                PET_NODE_RANK=i,
                PET_NPROC_PER_NODE="1",
                PET_MASTER_ADDR="127.0.0.1",
                PET_MASTER_PORT=port,
                RANK=i,
                WORLD_SIZE=2,
                MASTER_ADDR="127.0.0.1",
                MASTER_PORT=port,
            )
            for i in range(2)
        ],
        "PaddleCloud": [
            dict(PADDLE_TRAINERS="127.0.0.1,127.0.0.2", POD_IP=f"127.0.0.{i + 1}", PADDLE_TRAINER_ID=i, PADDLE_PORT=port, TRAINER_PORTS_NUM=2) for i in range(2)
        ],
    }


@pytest.mark.parametrize("scheduler", ["srun", "PaddleJob", "PyTorchJob", "PyTorchJob by PET", "PaddleCloud"])
def test_a_schedulers_variables_make_launchers_nodes(job, scheduler):
    options = ["--use_paddlecloud"] if scheduler == "PaddleCloud" else []
    nodes = [job.start(str(i), *options, script=WHO, **variables) for i, variables in enumerate(scheduler_variables(free_range(2))[scheduler])]
    for node in nodes:
        node.end()
    masters = set()
    for rank, node in enumerate(nodes):
        found = re.fullmatch(rf"rank {rank} of 2 local 0 of 1 at (\S+) master (\S+)\n", node.log())
        assert found, node.log()
        masters.add(found[2])
    assert len(masters) == 1


def test_the_module_teaches(job):
    done = subprocess.run([sys.executable, "-m", "paddle.distributed.launch", "--help"], capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0
    examples, _, options = done.stdout.partition("Usage:")
    assert "fleetrun --gpus=0,1 train.py" in examples and "--ips=" in examples and "--nnodes=1:4" in examples
    for flag in ("--gpus", "--cluster_node_ips", "--use_paddlecloud", "--rdzv_endpoint", "--max_restart", "--servers", "--heter_workers"):
        assert flag in options, flag


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--gpus=0,1", "x"], "this machine has no GPU; set ARGOSY_DEVICE=cpu"),
        (["--heter_worker_num=2", "--gpus=0", "x"], "option --heter_worker_num: found '2': jobs of workers with different devices"),
        (["--http_port=80", "--gpus=0", "x"], "there is no HTTP server"),
        (["--nnodes=2", "x"], "needs --rdzv_endpoint"),
        (["--ips=127.0.0.1,127.0.0.2", "x"], "are both this machine; say which node this is with --node_ip"),
        (["--use_paddlecloud", "x"], "environment variable PADDLE_TRAINERS is not set"),
        (["--selected_gpu=0", "x"], "did you mean --selected_gpus?"),
    ],
)
def test_what_cannot_be_starts_nothing(job, arguments, message):
    done = subprocess.run(
        ["fleetrun", "--no-python", *arguments], cwd=job.folder, env={**job.env, "CUDA_VISIBLE_DEVICES": ""}, capture_output=True, text=True, timeout=SECONDS
    )
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert list(job.folder.iterdir()) == []
