"""A Ray Train worker group with parameter servers beside it."""

import os
import pathlib
import shutil

from argosy.ray import datasets as shards_of
from argosy.ray import endpoints, servers

_POLL = "RAY_TRAIN_HEALTH_CHECK_INTERVAL_S"  # how often Ray Train looks after its workers
_POLL_SECONDS = "0.5"


class Trainer:
    """Trains with Ray Train's workers and Argosy's parameter servers: train_fn runs in each worker, whose role is in the environment already.

    scaling_config, run_config, train_loop_config and the result of fit() are Ray Train's. A server that dies comes back, wherever Ray has room, at most
    FailureConfig.max_failures times, and workers look for it there; of a worker's death Ray Train starts its group again, and the servers skip the
    batches that they have. Servers keep their state in `directory`, which all nodes see: without one, in a folder of RunConfig.storage_path that goes
    when the job has ended well. `settings` are those of docs/settings.md; with resume=True the run that `directory` holds goes on.

    datasets are Ray Data's: get_dataset_shard() and dataset_of_shard() give a worker its rows.

    >>> trainer = argosy.ray.Trainer(  # doctest: +SKIP
    ...     train_fn,
    ...     num_servers=2,
    ...     scaling_config=ray.train.ScalingConfig(num_workers=4),
    ...     run_config=ray.train.RunConfig(failure_config=ray.train.FailureConfig(max_failures=3)),
    ... )
    >>> trainer.fit().metrics  # doctest: +SKIP
    """

    def __init__(
        self,
        train_fn,
        *,
        num_servers=1,
        train_loop_config=None,
        scaling_config=None,
        run_config=None,
        datasets=None,
        directory=None,
        resume=False,
        resources_per_server=None,
        settings=None,
    ):
        import ray.train

        if not callable(train_fn):
            raise TypeError(f"train_fn is {train_fn!r}; expected a function, which each worker runs")
        if num_servers < 1:
            raise ValueError(f"num_servers is {num_servers}; expected 1 or more")
        self._train_fn, self._num_servers, self._config = train_fn, num_servers, train_loop_config
        self._scaling = scaling_config or ray.train.ScalingConfig(num_workers=1)
        self._run = run_config or ray.train.RunConfig()
        self._datasets, self._resources = datasets, resources_per_server
        if not isinstance(self._scaling.num_workers, int) or self._scaling.num_workers < 1:
            raise ValueError(f"ScalingConfig.num_workers is {self._scaling.num_workers!r}; a job with servers has a fixed number of workers, 1 or more")
        self._own_directory = directory is None
        self._settings = settings_of(settings, directory or _default_directory(self._run), resume)

    def fit(self):
        """Runs the job to its end, and returns Ray Train's result; ray.train.TrainingFailedError where it failed too often."""
        import ray
        from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer

        if not ray.is_initialized():
            ray.init()
        failures = self._run.failure_config.max_failures if self._run.failure_config else 0
        job = job_of(self._settings, self._num_servers, self._scaling.num_workers, failures)
        shards = shards_of.divide(self._datasets, job.workers)
        started = servers.Servers(job, self._resources)
        before = os.environ.get(_POLL)
        os.environ.setdefault(_POLL, _POLL_SECONDS)
        try:
            loop = _Loop(self._train_fn, self._config, job, started.actors, shards)
            result = DataParallelTrainer(loop, scaling_config=self._scaling, run_config=self._run).fit()
        finally:
            if before is None:
                del os.environ[_POLL]
            started.stop()
        if self._own_directory:
            shutil.rmtree(self._settings["directory"], ignore_errors=True)
        return result


class _Loop:
    """What Ray Train runs in each worker."""

    def __init__(self, train_fn, config, job, actors, shards):
        self._train_fn, self._config, self._job, self._actors, self._shards = train_fn, config, job, actors, shards
        self.__name__ = getattr(train_fn, "__name__", "train_fn")

    def __call__(self):
        import ray.train

        rank = ray.train.get_context().get_world_rank()
        shards_of.set_shards(self._shards[rank])
        with endpoints.EndpointFiles(self._actors, endpoints.end_process) as files:
            os.environ.update(endpoints.worker_environment(self._job, files.names(), rank))
            try:
                self._train_fn() if self._config is None else self._train_fn(self._config)
            except BaseException as error:
                _leave(type(error).__name__)
                raise
            if _leave("returned without fleet.stop_worker()"):
                raise RuntimeError("train_fn has returned, and its worker is still connected to the servers; call fleet.stop_worker() at its end")


def _leave(why):
    """Tells the servers that this worker has failed, where it is still in its job: whether it was."""
    from argosy.fluid import leave

    open_ones = [connection for connection in leave.connections() if connection.connected()]
    for connection in open_ones:
        connection.fail(f"ended by {why}")
    return bool(open_ones)


def settings_of(given, directory, resume):
    """The settings of a job on Ray, by name."""
    settings = dict(given or {})
    if "directory" in settings:
        raise ValueError("settings has 'directory'; give it as directory=")
    if str(settings.get("replicas", "0")) != "0":
        raise ValueError(f"settings has replicas={settings['replicas']!r}; on Ray each server is one process, which comes back wherever there is room")
    if settings.get("on_rank_loss", "restart") != "restart":
        raise ValueError(f"settings has on_rank_loss={settings['on_rank_loss']!r}, which is for collective jobs, and this one has servers; leave it out")
    settings["directory"] = _whole(directory)
    if resume:
        settings["on_old_state"] = "resume"
    return settings


def _whole(directory):
    """The same folder on every node, whatever the working directory of a process there is."""
    text = os.fspath(directory)
    if "://" in text or text.startswith(("hdfs:", "afs:")):
        raise ValueError(
            f"directory={text!r}; expected a folder that all nodes see as a disk (/shared/ctr): servers keep their state on disks, and a URI is for data "
            "and for models that are saved"
        )
    return str(pathlib.Path(text).expanduser().absolute()) if text else ""


def job_of(settings, num_servers, num_workers, max_restarts):
    """A new run, or the one that goes on in the directory."""
    job = servers.Job(num_servers, num_workers, max_restarts, settings)
    record = pathlib.Path(settings["directory"]) / "server-0" / "RUN"
    if settings.get("on_old_state") != "resume" or not record.exists():
        return job
    fields = dict(line.split(" ", 1) for line in record.read_text().splitlines() if " " in line)
    known = fields.get("run") and not fields.get("finished")
    return servers.Job(num_servers, num_workers, max_restarts, settings, run=fields["run"]) if known else job


def _default_directory(run_config):
    storage = run_config.storage_path or "~/ray_results"
    if "://" in str(storage):
        raise ValueError(f"the servers cannot keep their state in RunConfig.storage_path='{storage}'; give a directory= that all nodes see")
    import secrets

    return pathlib.Path(storage).expanduser().resolve() / f"argosy-servers-{secrets.token_hex(4)}"
