"""An oracle job of real processes, and the hands that disturb it."""

import contextlib
import dataclasses
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

import numpy as np

from machines import two_machines
from oracle import Steps, Window, wrong_counts, wrong_steps
from ports import free_range
from ps_job import Job, until

HERE = pathlib.Path(__file__).resolve().parent
JOB_SECONDS = 180  # of one job, however slow the machine; most take five
HOLDS = (3, 6)  # the files of the disturbed pass before which a worker's data stops until the test lets it go on

# What a primary says of itself: that its follower has everything, or that it is alone.
WHOLE = re.compile(r"(has a follower that has everything|is the primary|goes on without its follower), in epoch (\d+)")

# Reads a data file on its stdin. `openings` counts how often each file was read, so that a test can hold or fail the n-th time.
PIPE = """
file=$(readlink /proc/$$/fd/0); name=${file##*/}
echo x >> openings/$name
turn=$(wc -l < openings/$name)
if [ -e hold/$name.$turn ]; then
  : > held/$name.$turn
  while [ -e hold/$name.$turn ]; do sleep 0.02; done
fi
sleep 0.02
if [ -e fail/$name.$turn ] || [ -e fail/$name ]; then
  head -n 3
  echo "the planted failure of $name" >&2
  exit 3
fi
exec cat
"""


@dataclasses.dataclass
class Outcome:
    """How a job ended."""

    status: int
    output: str
    wrong: list  # lines of oracle.wrong_counts
    read_back: bool = False

    def __str__(self):
        counts = (
            "every sample counted as it should"
            if not self.wrong
            else f"{len(self.wrong)} samples did not count as they should:\n  " + "\n  ".join(self.wrong[:12])
        )
        return f"status {self.status}; {counts}"


class FaultyJob(Job):
    """A folder with an oracle job in it, and what runs there. Names of processes are "worker 1", "server 0"."""

    def __init__(self, folder, layout, seed):
        super().__init__(pathlib.Path(folder))
        self.env.update({name: value for name, value in os.environ.items() if name == "ARGOSY_PLANT"})
        self.layout, self.random = layout, random.Random(f"{seed} {layout}")
        self.disturbed = self.random.randrange(layout.passes)  # the pass
        self.worker = f"worker {self.random.randrange(layout.workers)}"
        self.server = f"server {self.random.randrange(layout.servers)}"
        self.follower = self.server.replace("server", "follower")  # with replicas
        self.launchers, self.flags, self._outputs = [], [], []
        self.directory = self.folder / "kept"
        self._stack = contextlib.ExitStack()
        self._prepare()

    def _prepare(self):
        for name in ("data", "openings", "hold", "held", "fail"):
            (self.folder / name).mkdir(parents=True)
        self.write("pipe.sh", PIPE)
        for turn in range(self.layout.passes):
            for worker in range(self.layout.workers):
                for file in range(self.layout.files):
                    lines = "".join(f"1 {i}\n" for i in self.layout.ids(turn, worker, file))
                    (self.folder / "data" / self.layout.file(turn, worker, file)).write_text(lines, encoding="utf-8")
        self._write_case(read_back=False)

    def _write_case(self, read_back):
        case = {"layout": dataclasses.asdict(self.layout), "read_back": read_back}
        (self.folder / "case.json").write_text(json.dumps(case), encoding="utf-8")

    def victim_index(self):
        return int(self.worker.split()[1])

    def data_file(self, file, worker=None):
        """The name of a data file of the disturbed pass."""
        return self.layout.file(self.disturbed, self.victim_index() if worker is None else worker, file)

    # ---- Life.

    def launch(self, *flags, restarts=4, **env):
        """Starts the job on this machine."""
        self.flags = list(flags)
        first = free_range(2 * self.layout.servers + self.layout.workers)
        self._start_launcher(
            [],
            f"--start_port={first}",
            f"--server_num={self.layout.servers}",
            f"--worker_num={self.layout.workers}",
            f"--max_restart={restarts}",
            *flags,
            **env,
        )

    def launch_on_two_machines(self, *flags, restarts=4, **env):
        """Servers on one machine, workers on another, each a network namespace."""
        self.flags = list(flags)
        first = free_range(2 * self.layout.servers + self.layout.workers)
        (ours, inside), (theirs, beyond) = machines = self._stack.enter_context(two_machines())
        self.machines = machines
        servers = ",".join(f"{ours}:{first + i}" for i in range(self.layout.servers))
        workers = ",".join(f"{theirs}:{first + self.layout.servers + i}" for i in range(self.layout.workers))
        behind = first + self.layout.servers + self.layout.workers
        followers = ",".join(f"{theirs}:{behind + i}" for i in range(self.layout.servers))
        for address, command in ((ours, inside), (theirs, beyond)):
            self._start_launcher(
                command,
                f"--servers={servers}",
                f"--workers={workers}",
                *([f"--followers={followers}"] if "--replicas=1" in flags else []),
                f"--node_ip={address}",
                f"--max_restart={restarts}",
                f"--log_dir={self.folder / 'logs'}",
                *flags,
                **env,
            )

    def _start_launcher(self, prefix, *words, **env):
        path = self.folder / f"launcher-{len(self._outputs)}.out"
        self._outputs.append(path)
        threads = {"CPU_NUM": str(self.layout.threads)} if self.layout.reader != "dataset" else {}
        with open(path, "wb") as output:
            process = subprocess.Popen(
                [*prefix, "fleetrun", *map(str, words), str(HERE / "oracle_job.py")],
                cwd=self.folder,
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                env={**self.env, "ARGOSY_PYTHON": sys.executable, **threads, **env},
            )
        self._running.append(process)
        self.launchers.append(process)

    @property
    def output(self):
        return "".join(path.read_text(errors="replace") for path in self._outputs)

    def running(self):
        return any(launcher.poll() is None for launcher in self.launchers)

    def until(self, condition, what):
        """Waits for a condition of a job that runs; a job that has ended is waited for no more."""
        until(lambda: condition() or not self.running(), lambda: f"{what}\n{self.story()}", JOB_SECONDS)

    def pid(self, name):
        return next((pid for pid in (self.pid_of(launcher, name) for launcher in self.launchers if launcher.poll() is None) if pid), 0)

    def kill(self, name, number):
        """Sends a signal to a process of the job, once there is one. Its number, or 0 where the job has ended meanwhile."""
        self.until(lambda: self.pid(name), f"no process {name}")
        pid = self.pid(name)
        with contextlib.suppress(ProcessLookupError):
            if pid:
                os.kill(pid, number)
        return pid

    def is_whole(self):
        """Whether the server that is disturbed has a follower that could take over, as its processes' logs say it last."""
        number = self.server.split()[1]
        said = []
        for name in (f"serverlog.{number}", f"followerlog.{number}"):
            path = self.folder / "logs" / name
            lines = path.read_text(errors="replace").splitlines() if path.exists() else []
            said += [(int(m.group(2)), m.group(1).startswith("has")) for m in (WHOLE.search(line) for line in lines) if m]
        return bool(said) and max(said)[1]

    def is_done(self, name):
        """Whether it is a worker that has trained everything, and only says goodbye."""
        role, number = name.split()
        return role == "worker" and (self.folder / f"done.{number}").exists()

    def story(self):
        return f"--- the launcher\n{self.output[-3000:]}\n{self.logs()[-9000:]}"

    def finish(self):
        """Waits for the job's end, and counts."""
        deadline = time.monotonic() + JOB_SECONDS
        for launcher in self.launchers:
            try:
                launcher.wait(max(deadline - time.monotonic(), 1))
            except subprocess.TimeoutExpired:
                raise AssertionError(f"the job has not ended in {JOB_SECONDS} s\n{self.story()}") from None
        status = max(launcher.returncode for launcher in self.launchers)
        outcome = Outcome(status, self.output, [])
        if status == 0 or self._written():
            outcome.wrong = wrong_counts(self.layout, self._load("counts")) + wrong_steps(self.layout, self._load("steps"))
        return outcome

    def _written(self):
        """Whether the job has got so far that its tables are written."""
        return all((self.folder / f"{name}.npy").exists() for name in ("counts", "steps"))

    def read_back(self, outcome):
        """Counts again for a job that has failed: what its servers' directories hold must be what they say they have applied."""
        for name in ("counts.npy", "steps.npy"):
            (self.folder / name).unlink(missing_ok=True)
        self._write_case(read_back=True)
        self.launchers, self._outputs = [], []
        self.launch(*self.flags, "--resume", restarts=0)
        self.launchers[0].wait(JOB_SECONDS)
        said = self.folder / "applied.json"
        assert said.exists(), f"the state of the failed job cannot be read\n{self.story()}"
        servers = json.loads(said.read_text())
        if self.layout.mode == "sync":
            applied = [[Steps(server["position"], self.layout.threads)] * self.layout.workers for server in servers]
        else:
            applied = [[Window(*window) for window in server["windows"]] for server in servers]
        outcome.wrong = wrong_counts(self.layout, self._load("counts"), applied)
        outcome.read_back = True

    def _load(self, name):
        path = self.folder / f"{name}.npy"
        assert path.exists(), f"the job has written no {path.name}\n{self.story()}"
        return np.load(path)

    def close(self):
        for launcher in self.launchers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(launcher.pid, signal.SIGCONT)
        self.kill_all()
        self._stack.close()

    # ---- Holding the data.

    def hold(self, *files, opening=1):
        """Stops the data of all workers before these files of the disturbed pass."""
        for file in files:
            for worker in range(self.layout.workers):
                (self.folder / "hold" / f"{self.data_file(file, worker)}.{opening}").touch()

    def wait_held(self, file, opening=1, worker=None):
        """Waits until the data of one worker, or of all, stops there."""
        workers = range(self.layout.workers) if worker is None else [worker]
        names = [f"{self.data_file(file, w)}.{opening}" for w in workers]
        self.until(lambda: all((self.folder / "held" / name).exists() for name in names), f"the data of {names} is not read")

    def release(self, *files, opening=1):
        for file in files:
            for worker in range(self.layout.workers):
                (self.folder / "hold" / f"{self.data_file(file, worker)}.{opening}").unlink(missing_ok=True)

    def moment(self, most=0.15):
        """A while that the seed decides, in which the job goes on."""
        time.sleep(self.random.uniform(0, most))

    # ---- Hands.

    def small_disk(self, megabytes=16):
        """Puts the servers' directory on a disk of its own."""
        self.directory.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "argosy-fault", self.directory], check=True)
        self._stack.callback(subprocess.run, ["umount", "-l", self.directory], check=False)

    def fill_disk(self):
        with open(self.directory / "ballast", "ab", buffering=0) as file, contextlib.suppress(OSError):
            for size in (1 << 20, 4096, 1):
                with contextlib.suppress(OSError):
                    while file.write(b"x" * size) == size:
                        pass

    def free_disk(self):
        (self.directory / "ballast").unlink(missing_ok=True)

    def dead_while(self, name):
        """Kills a process and keeps the launcher from starting it again inside the with-block."""
        return _Dead(self, name)

    def server_folder(self):
        found = [folder for folder in self.directory.iterdir() if re.search(rf"\b{self.server.split()[1]}$", folder.name)]
        assert len(found) == 1, f"{self.server} has no folder in {sorted(self.directory.iterdir())}"
        return found[0]

    def forget(self):
        """Removes all that the server keeps."""
        shutil.rmtree(self.server_folder())

    def cut_log(self, records):
        """Cuts the last records of the server's log off, at the boundary of a record; half of them at most: the first are not of pushes."""
        segments = sorted((self.server_folder() / "log").glob("log-*"))
        path = segments[-1]
        bytes_, starts, at = path.read_bytes(), [], 32
        while at + 32 <= len(bytes_):
            magic, _, length = struct.unpack_from("<IIQ", bytes_, at)
            if magic != 0x6472676C:
                break
            starts.append(at)
            at += 32 + (length + 7) // 8 * 8
        records = min(records, len(starts) // 2)
        os.truncate(path, starts[-records] if records else len(bytes_))

    def cable(self, state):
        """Pulls the cable between the two machines ("down"), or plugs it in ("up")."""
        name = self.machines[0][1][-1]
        links = subprocess.run(["ip", "-n", name, "-o", "link"], check=True, capture_output=True, text=True).stdout
        cable = re.search(r"\d+: (arg[^@:]*)", links).group(1)
        subprocess.run(["ip", "-n", name, "link", "set", cable, state], check=True)


class _Dead:
    def __init__(self, job, name):
        self.job, self.name = job, name

    def __enter__(self):
        self.job.until(lambda: self.job.pid(self.name), f"no process {self.name}")
        self.launcher = next((launcher for launcher in self.job.launchers if launcher.poll() is None), None)
        pid = self.job.pid(self.name)
        assert self.launcher and pid, f"the job has ended before {self.name} could be killed\n{self.job.story()}"
        os.kill(self.launcher.pid, signal.SIGSTOP)
        os.kill(pid, signal.SIGKILL)
        until(lambda: re.search(r"\) [ZX] ", self._stat(pid)), f"{self.name} does not die")

    def __exit__(self, *_):
        os.kill(self.launcher.pid, signal.SIGCONT)

    @staticmethod
    def _stat(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text()
        except FileNotFoundError:
            return ") X "
