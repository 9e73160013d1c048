"""The parameter servers of a job on Ray: actors in a placement group of their own, each of which runs argosy-server."""

import asyncio
import dataclasses
import os
import secrets
import time

from argosy.ray import processes

_STOP_SECONDS = 20  # for a server's last snapshot


@dataclasses.dataclass(frozen=True)
class Job:
    """What servers and workers of one job are told. `settings` are those of docs/settings.md by name, as text."""

    servers: int
    workers: int
    max_restarts: int
    settings: dict
    run: str = dataclasses.field(default_factory=lambda: secrets.token_hex(8))
    launch: str = dataclasses.field(default_factory=lambda: secrets.token_hex(8))
    token: str = dataclasses.field(default_factory=lambda: secrets.token_hex(16))

    def environment(self):
        """The variables of every process: settings, and what makes it one of this run."""
        variables = {"ARGOSY_RUN_ID": self.run, "ARGOSY_LAUNCH": self.launch, "ARGOSY_TOKEN": self.token}
        if self.max_restarts != 0:
            variables.update(ARGOSY_RESTARTS=str(self.max_restarts), ARGOSY_ON_WORKER_LOSS="wait")
        variables.update({f"ARGOSY_{name.upper()}": str(value) for name, value in self.settings.items()})
        return variables


class ServerActor:
    """One server, wherever Ray has put it. Its process is started again here where it alone ends; Ray starts the actor again elsewhere."""

    def __init__(self, index, job):
        import ray

        processes.end_with_parent()
        self._index, self._endpoint = index, ""
        command = [processes.program("argosy-server"), "--address", f"{ray.util.get_node_ip_address()}:0", "--server_index", index]
        command += ["--servers", job.servers, "--workers", job.workers]
        env = {name: value for name, value in os.environ.items() if not name.startswith("ARGOSY_")}
        self._runner = processes.ProcessRunner(command, {**env, **job.environment()}, job.max_restarts, self._take_line, self._forget)

    def _forget(self):
        self._endpoint = ""

    def _take_line(self, line):  # the only line that a server prints is where it answers
        self._endpoint = line.strip()

    async def endpoint(self, known):
        """Where the server answers, once that is another place than `known`; the same where it does not change in ten seconds. "" is nowhere yet."""
        deadline = time.monotonic() + 10
        while self._endpoint in ("", known) and self._runner.status() is None and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        if self._runner.status() not in (None, 0):
            raise RuntimeError(f"server {self._index} has ended: {processes.describe(self._runner.status())}, after {self._runner.restarts} restarts")
        return self._endpoint

    async def wait_for_failure(self):
        """Returns when the server has ended well; raises what is wrong where it failed for good."""
        while self._runner.status() is None:
            await asyncio.sleep(0.2)
        return await self.endpoint("")

    async def stop(self):
        """Ends the server after a last snapshot; returns how it ended."""
        return await asyncio.get_running_loop().run_in_executor(None, self._runner.stop, _STOP_SECONDS)

    def pids(self):
        """Of the actor and of its server, for tests of failures."""
        return os.getpid(), self._runner.pid


class Servers:
    """The servers of a job, from start to stop(). Confined to the driver."""

    def __init__(self, job, resources=None, start_seconds=300):
        import ray
        from ray.util.placement_group import placement_group
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        resources = dict(resources or {"CPU": 1})
        self.actors = []
        self._group = placement_group([dict(resources) for _ in range(job.servers)], strategy="SPREAD")
        try:
            if not self._group.wait(timeout_seconds=start_seconds):
                raise TimeoutError(
                    f"Ray has found no place for {job.servers} servers, each with {resources}, in {start_seconds} s; "
                    f"it has {ray.cluster_resources()}, of which are free {ray.available_resources()}"
                )
            actor_class = ray.remote(ServerActor)
            for index in range(job.servers):
                place = PlacementGroupSchedulingStrategy(self._group, placement_group_bundle_index=index)
                options = actor_class.options(
                    num_cpus=resources.get("CPU", 0),
                    num_gpus=resources.get("GPU", 0),
                    resources={name: value for name, value in resources.items() if name not in ("CPU", "GPU")},
                    scheduling_strategy=place,
                    max_restarts=job.max_restarts,
                    max_task_retries=-1,
                    max_concurrency=1000,
                    name=f"argosy server {index} of run {job.run}",
                )
                self.actors.append(options.remote(index, job))
            ray.get([actor.endpoint.remote("") for actor in self.actors], timeout=start_seconds)
        except BaseException:
            self.stop()
            raise

    def watch(self):
        """Object references that are ready when a server has ended; they raise what is wrong where it failed for good."""
        return [actor.wait_for_failure.remote() for actor in self.actors]

    def stop(self):
        """Ends what still runs, and gives the place back. Safe to call twice."""
        import ray
        from ray.util.placement_group import remove_placement_group

        actors, self.actors = self.actors, []
        stopping = [actor.stop.remote() for actor in actors]
        ray.wait(stopping, num_returns=len(stopping), timeout=_STOP_SECONDS + 15) if stopping else None
        for actor in actors:
            ray.kill(actor, no_restart=True)
        if self._group is not None:
            remove_placement_group(self._group)
            self._group = None
