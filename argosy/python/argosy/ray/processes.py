"""A process that an actor keeps running, and that ends when the actor does, however that ends."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

# Linux kills the process when the thread that started it ends; a parent that was gone before it could ask is seen by its number.
_GUARD = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() != int(sys.argv[1]):
    sys.exit(1)
os.execvp(sys.argv[2], sys.argv[2:])
"""
_PAUSE = 0.5  # before the second start of a process and those after it


def program(name):
    """The path of a program of this package: beside the interpreter, or on PATH."""
    beside = pathlib.Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise FileNotFoundError(f"{name} is neither beside {sys.executable} nor on PATH; install argosy on every node of the cluster")
    return found


def describe(status):
    """How a process ended: "exit status 3", "killed by signal 9 (SIGKILL)"."""
    if status >= 0:
        return f"exit status {status}"
    return f"killed by signal {-status} ({signal.Signals(-status).name})"


class ProcessRunner:
    """Runs a process, again where it fails, up to `max_restarts` times (-1: always). Owns the thread that waits for it. Thread-safe.

    on_line gets each line of its standard output, on_start is called before each start; both by that thread.
    """

    def __init__(self, command, env, max_restarts, on_line, on_start=lambda: None):
        self._command, self._env, self._max_restarts = [str(word) for word in command], env, max_restarts
        self._on_line, self._on_start = on_line, on_start
        self._changed = threading.Condition()
        self._process, self._status, self._restarts, self._stopping = None, None, 0, False
        self._thread = threading.Thread(target=self._run, name="argosy-runner", daemon=True)
        self._thread.start()

    @property
    def restarts(self):
        return self._restarts

    @property
    def pid(self):
        return self._process.pid if self._process is not None else None

    def status(self):
        """How it ended for good; None while it runs or is started again."""
        return self._status

    def wait(self, seconds=None):
        """Waits for that, `seconds` at most."""
        with self._changed:
            self._changed.wait_for(lambda: self._status is not None, seconds)
            return self._status

    def stop(self, grace):
        """Ends it: SIGTERM, and SIGKILL after `grace` seconds. Safe to call twice."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
            self._signal(signal.SIGTERM)
        if self.wait(grace) is None:
            with self._changed:
                self._signal(signal.SIGKILL)
        return self.wait(10)

    def _signal(self, number):
        if self._process is not None and self._process.poll() is None:
            try:
                os.killpg(self._process.pid, number)
            except ProcessLookupError:
                pass

    def _start(self):
        self._on_start()
        guard = [sys.executable, "-ISc", _GUARD, str(os.getpid())]
        with self._changed:
            if self._stopping:
                return None
            self._process = subprocess.Popen(
                [*guard, *self._command], env=self._env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace", start_new_session=True
            )
            return self._process

    def _run(self):
        while True:
            process = self._start()
            if process is None:
                return self._end(-signal.SIGTERM)
            for line in process.stdout or ():
                self._on_line(line.rstrip("\n"))
            status = process.wait()
            if status == 0 or self._stopping or not self._may_restart():
                return self._end(status)
            print(f"{self._command[0]}: {describe(status)}; starting it again ({self._restarts} of {self._max_restarts})", file=sys.stderr, flush=True)

    def _may_restart(self):
        if 0 <= self._max_restarts <= self._restarts:
            return False
        self._restarts += 1
        if self._restarts > 1:
            with self._changed:
                self._changed.wait_for(lambda: self._stopping, _PAUSE)
        return True

    def _end(self, status):
        with self._changed:
            self._status = status
            self._changed.notify_all()


def end_with_parent():
    """Ends this process, and with it those that it runs, when its parent ends. An actor whose node's raylet has died goes on for a while, and a server would
    hold its directory, which the one that takes its place waits for."""
    parent = os.getppid()

    def watch():
        while os.getppid() == parent:
            time.sleep(0.2)
        os._exit(1)

    threading.Thread(target=watch, name="argosy-parent", daemon=True).start()
