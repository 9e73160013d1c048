"""A job of scripts and programs as they stand, on Ray."""

import argparse
import os
import pathlib
import sys

from argosy.ray import endpoints, processes, servers, trainer

_POLL_SECONDS = 0.5


class WorkerActor:
    """One worker: its program, which is started again where it fails. Ray starts the actor again elsewhere, and then the program too."""

    def __init__(self, rank, job, command, actors, folder):
        processes.end_with_parent()
        self._rank, self._job, self._command, self._actors, self._folder = rank, job, command, actors, folder

    def run(self):
        """Returns when the program has ended well; raises how it ended otherwise."""
        with endpoints.EndpointFiles(self._actors, endpoints.end_process) as files:
            env = {name: value for name, value in os.environ.items() if not name.startswith(("ARGOSY_", "PADDLE_"))}
            env.update(endpoints.worker_environment(self._job, files.names(), self._rank), PYTHONUNBUFFERED="1")
            os.chdir(self._folder)
            runner = processes.ProcessRunner(self._command, env, self._job.max_restarts, self._show)
            try:
                status = runner.wait()
            finally:
                runner.stop(5)
        if status != 0:
            raise RuntimeError(f"worker {self._rank} has failed: {processes.describe(status)}, after {runner.restarts} restarts")

    def _show(self, line):
        print(f"worker {self._rank}: {line}", flush=True)


def launch(
    command,
    num_servers=2,
    num_workers=2,
    *,
    max_failures=0,
    directory=None,
    resume=False,
    resources_per_worker=None,
    resources_per_server=None,
    settings=None,
    working_dir=None,
):
    """Runs a program as the workers of a job on Ray, with servers beside it, and returns when all workers have ended well; RuntimeError where one failed
    more often than max_failures. `command` is a list of words, or the path of a Python script.

    The program finds its role and the servers in the variables that fleetrun sets; it lies at the same path on every node. The servers are
    argosy-server's: what a script does where it is a server does not run. They keep their state in `directory`, which all nodes see (none: in memory
    alone, and then a server that dies ends the job).

    >>> argosy.ray.launch(["python", "train.py", "--epochs", "3"], num_servers=2, num_workers=4, max_failures=3, directory="/shared/ctr")  # doctest: +SKIP
    """
    import ray

    words = [sys.executable, command] if isinstance(command, (str, os.PathLike)) else [str(word) for word in command]
    if not words:
        raise ValueError("command is empty; expected a program and its arguments, or the path of a script")
    if not ray.is_initialized():
        ray.init()
    own = {"durability": "none"} if directory is None else {}
    kept = trainer.settings_of({**own, **(settings or {})}, directory or "", resume)
    if directory is None:
        del kept["directory"]
    job = trainer.job_of(kept, num_servers, num_workers, max_failures) if directory else servers.Job(num_servers, num_workers, max_failures, kept)
    started = servers.Servers(job, resources_per_server)
    workers = []
    try:
        workers = _start(job, words, started.actors, dict(resources_per_worker or {"CPU": 1}), str(working_dir or pathlib.Path.cwd()))
        _wait([worker.run.remote() for worker in workers], started.watch())
    finally:
        for worker in workers:
            ray.kill(worker, no_restart=True)  # pyright: ignore[reportArgumentType]
        started.stop()


def _start(job, words, actors, resources, folder):
    import ray

    options = ray.remote(WorkerActor).options(
        num_cpus=resources.pop("CPU", 0),
        num_gpus=resources.pop("GPU", 0),
        resources=resources,
        max_restarts=job.max_restarts,
        max_task_retries=job.max_restarts,
        scheduling_strategy="SPREAD",
    )
    return [options.remote(rank, job, words, actors, folder) for rank in range(job.workers)]


def _wait(running, failing):
    """Until all of `running` are done; what one of them, or of `failing`, raises ends the wait."""
    import ray

    while running:
        done, running = ray.wait(running, timeout=_POLL_SECONDS)
        ray.get(done)
        if failing:
            ended, failing = ray.wait(failing, timeout=0)
            ray.get(ended)


def main(arguments=None):
    """`python -m argosy.ray`; returns the status to end with."""
    parser = argparse.ArgumentParser(prog="python -m argosy.ray", description="A job of a script or program as it stands, on Ray.")
    add = parser.add_argument
    add("--server_num", "--server-num", type=int, default=2, help="how many servers")
    add("--worker_num", "--worker-num", type=int, default=2, help="how many workers")
    add("--max_restart", "--max-restart", type=int, default=0, help="how often each process is started again")
    add("--directory", help="where servers keep their state; all nodes see it")
    add("--resume", action="store_true", help="go on with the run that is in --directory")
    add("--cpus_per_worker", "--cpus-per-worker", type=float, default=1)
    add("--no_python", "--no-python", action="store_true", help="run the command itself instead of a Python script")
    add("command", nargs=argparse.REMAINDER, help="the script, or with --no_python the program, and its arguments")
    chosen = parser.parse_args(arguments)
    if not chosen.command:
        parser.error("no script is given")
    words = chosen.command if chosen.no_python else [sys.executable, *chosen.command]
    try:
        launch(
            words,
            chosen.server_num,
            chosen.worker_num,
            max_failures=chosen.max_restart,
            directory=chosen.directory,
            resume=chosen.resume,
            resources_per_worker={"CPU": chosen.cpus_per_worker},
        )
    except Exception as error:  # whatever went wrong in an actor comes here as Ray's error
        sys.stderr.write(f"argosy.ray: {error}\n")
        return 1
    return 0
