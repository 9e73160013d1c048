"""Parameter-server jobs of real processes, started by the launcher."""
import contextlib
import os
import random
import re
import signal
import socket
import subprocess
import sys
import textwrap

import pytest

SECONDS = 120


def free_range(count):
    """The first of `count` consecutive ports that nobody listens at."""
    while True:
        first = random.randrange(20000, 30000)
        try:
            with contextlib.ExitStack() as stack:
                for port in range(first, first + count):
                    stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return first
        except OSError:
            continue


@contextlib.contextmanager
def two_machines():
    """Two network namespaces, 10.88.x.1 and 10.88.x.2, that see each other and nothing else."""
    number = os.getpid() % 250
    names = [f"argosy-{os.getpid()}-{i}" for i in (1, 2)]
    cables = [f"arg{os.getpid() % 10**6}-{i}" for i in (1, 2)]

    def ip(*words):
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)

    with contextlib.ExitStack() as stack:
        for name in names:
            ip("netns", "add", name)
            stack.callback(ip, "netns", "del", name)
        ip("link", "add", cables[0], "type", "veth", "peer", "name", cables[1])
        for i, (name, cable) in enumerate(zip(names, cables), 1):
            ip("link", "set", cable, "netns", name)
            ip("-n", name, "addr", "add", f"10.88.{number}.{i}/24", "dev", cable)
            ip("-n", name, "link", "set", cable, "up")
            ip("-n", name, "link", "set", "lo", "up")
        yield [(f"10.88.{number}.{i}", ["ip", "netns", "exec", name]) for i, name in enumerate(names, 1)]


class Job:
    """A folder with scripts, and what runs in it. Nothing outlives a test."""

    def __init__(self, folder):
        self.folder = folder
        self.env = {name: value for name, value in os.environ.items() if not re.match("PADDLE_|FLAGS_|ARGOSY_|TRAINING_ROLE|POD_IP|CPU_NUM", name)}
        self.env.update(OMP_NUM_THREADS="1", PYTHONUNBUFFERED="1")
        self._running = []

    def write(self, name, text):
        (self.folder / name).write_text(textwrap.dedent(text), encoding="utf-8")

    def start(self, *command, **env):
        process = subprocess.Popen([str(part) for part in command], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   env={**self.env, **{name: str(value) for name, value in env.items()}}, start_new_session=True)
        self._running.append(process)
        return process

    def python(self, script, *arguments, **env):
        return self.start(sys.executable, script, *arguments, **env)

    def end(self, process, status=0):
        """Its output, once it has ended with `status`."""
        out, _ = process.communicate(timeout=SECONDS)
        assert process.returncode == status, f"exit {process.returncode}\n{out[-4000:]}\n{self.logs()[-6000:]}"
        return out

    def launch(self, script, *arguments, servers=2, workers=2, status=0, **env):
        """Runs a job to its end. Returns the workers' logs."""
        process = self.start(sys.executable, "-m", "paddle.distributed.launch_ps", f"--start_port={free_range(servers + workers)}",
                             f"--server_num={servers}", f"--worker_num={workers}", script, *arguments, **env)
        self.end(process, status)
        return [(self.folder / "logs" / f"workerlog.{i}").read_text() for i in range(workers)]

    def logs(self):
        files = sorted((self.folder / "logs").glob("*")) if (self.folder / "logs").exists() else []
        return "\n".join(f"--- {file.name}\n{file.read_text()[-1500:]}" for file in files)

    def kill_all(self):
        for process in self._running:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()


@pytest.fixture
def job(tmp_path):
    made = Job(tmp_path)
    yield made
    made.kill_all()
