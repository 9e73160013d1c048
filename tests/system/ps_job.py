"""Parameter-server jobs of real processes, started by the launcher."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import textwrap
import time

from ports import free_range

SECONDS = 120


def until(condition, what="a condition of the test", seconds=SECONDS):
    """Waits until condition() gives something that is true, and returns it."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < deadline, f"waited {seconds} s: {what() if callable(what) else what}"
        time.sleep(0.02)


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
        process = subprocess.Popen(
            [str(part) for part in command],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**self.env, **{name: str(value) for name, value in env.items()}},
            start_new_session=True,
        )
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
        process = self.start(
            sys.executable,
            "-m",
            "paddle.distributed.launch_ps",
            f"--start_port={free_range(servers + workers)}",
            f"--server_num={servers}",
            f"--worker_num={workers}",
            script,
            *arguments,
            **env,
        )
        self.end(process, status)
        return self.worker_logs(workers)

    def fleetrun(self, *words, servers=2, workers=2, **env):
        """A launcher of a job that runs; `words` are its flags and then the script with its arguments."""
        return self.start(
            "fleetrun",
            f"--start_port={free_range(servers + workers)}",
            f"--server_num={servers}",
            f"--worker_num={workers}",
            *words,
            ARGOSY_PYTHON=sys.executable,
            **env,
        )

    def worker_logs(self, workers=2):
        return [self.log(f"worker {i}") for i in range(workers)]

    def log(self, name):
        """What a process of a launched job has written: "worker 1", "server 0"."""
        file = self.folder / "logs" / name.replace(" ", "log.")
        return file.read_text() if file.exists() else ""

    def wait_for_line(self, name, text):
        until(lambda: text in self.log(name), lambda: f"'{text}' in the log of {name}\n{self.logs()[-6000:]}")

    @staticmethod
    def pid_of(launcher, name):
        """The process of a launched job that has this name now: "worker 1", "server 0", "follower 0"; 0 where there is none."""
        role, index = name.split()
        mark = f"PADDLE_{'TRAINER' if role == 'worker' else 'PSERVER'}_ID={index}".encode()
        seat = b"ARGOSY_SEAT=follower"
        for child in pathlib.Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                environment = pathlib.Path(f"/proc/{child}/environ").read_bytes().split(b"\0")
                if mark in environment and (role == "worker" or (seat in environment) == (role == "follower")):
                    return int(child)
        return 0

    def signal(self, launcher, name, number):
        pid = until(lambda: self.pid_of(launcher, name), f"no process {name}")
        os.kill(pid, number)
        return pid

    def logs(self):
        files = sorted(file for file in (self.folder / "logs").glob("*") if file.is_file())
        return "\n".join(f"--- {file.name}\n{file.read_text()[-1500:]}" for file in files)

    def kill_all(self):
        for process in self._running:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
