"""paddle.distributed.spawn: a function in several processes of this machine."""

import multiprocessing
import multiprocessing.connection
import os
import socket
import sys
import traceback

from argosy.errors import InvalidArgumentError

__all__ = ["spawn", "SpawnContext"]


def _free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def _run(function, args, variables, report):
    os.environ.update(variables)
    try:
        report.send((None, function(*args)))
    except KeyboardInterrupt:
        sys.exit(130)
    except BaseException:
        report.send((traceback.format_exc(), None))
        sys.exit(1)
    finally:
        job = sys.modules.get("argosy.distributed.job")
        if job is not None:
            job.leave()


class SpawnContext:
    """The processes of a spawn. Thread-compatible."""

    def __init__(self, processes, reports):
        self.processes, self._reports = processes, reports
        self.return_values = [None] * len(processes)

    def join(self, timeout=None):
        """True once all have ended well, False where some still run after `timeout` seconds. One that fails ends the others and is an error."""
        running = [process for process in self.processes if process.is_alive() or process.exitcode is None]
        for sentinel in multiprocessing.connection.wait([process.sentinel for process in running], timeout) if running else ():
            next(process for process in running if process.sentinel == sentinel).join()
        for i, process in enumerate(self.processes):
            if process.exitcode not in (None, 0):
                self._end()
                raise RuntimeError(f"rank {i} of {len(self.processes)} ended with {process.exitcode}:\n{self._report(i)[0] or '(it left no message)'}")
        self.return_values = [self._report(i)[1] for i in range(len(self.processes))]
        return all(process.exitcode == 0 for process in self.processes)

    def _report(self, i):
        if not isinstance(self._reports[i], tuple):
            try:
                ready = self._reports[i].poll(0)
                self._reports[i] = self._reports[i].recv() if ready else self._reports[i]
            except EOFError:
                return None, None
        return self._reports[i] if isinstance(self._reports[i], tuple) else (None, None)

    def _end(self):
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        for process in self.processes:
            process.join(10)
            if process.is_alive():
                process.kill()


def spawn(func, args=(), nprocs=-1, join=True, daemon=False, **options):
    """Runs func(*args) in nprocs new processes (-1: CPU_NUM, or 1), each with its number in PADDLE_TRAINER_ID. Waits for them, unless join is
    False. `func` is one that a module has at its top.

    >>> paddle.distributed.spawn(train, nprocs=2)  # doctest: +SKIP
    """
    unknown = set(options) - {"start_method", "ips", "gpus", "backend"}
    if unknown or options.get("start_method", "spawn") != "spawn" or options.get("ips", "127.0.0.1") != "127.0.0.1":
        raise InvalidArgumentError(f"spawn starts processes anew on this machine; found {options}")
    count = int(os.environ.get("CPU_NUM", 1)) if nprocs == -1 else nprocs
    if count < 1:
        raise InvalidArgumentError(f"spawn: nprocs is -1 or above 0; found {nprocs}")
    endpoints = [f"127.0.0.1:{port}" for port in _free_ports(count)]
    start = multiprocessing.get_context("spawn")
    processes, reports = [], []
    for rank in range(count):
        variables = {
            "PADDLE_TRAINER_ID": str(rank),
            "PADDLE_TRAINERS_NUM": str(count),
            "PADDLE_CURRENT_ENDPOINT": endpoints[rank],
            "PADDLE_TRAINER_ENDPOINTS": ",".join(endpoints),
            "RANK": str(rank),
            "WORLD_SIZE": str(count),
        }
        receiver, sender = start.Pipe(False)
        process = start.Process(target=_run, args=(func, args, variables, sender), daemon=daemon, name=f"spawn-{rank}")
        process.start()
        sender.close()
        processes.append(process)
        reports.append(receiver)
    context = SpawnContext(processes, reports)
    while join and not context.join():
        pass
    return context
