"""What both Fleets do: fluid.incubate.fleet's and paddle.distributed.fleet's."""

import json
import os

from argosy import _core
from argosy.distributed import job
from argosy.distributed.collective_options import options_of
from argosy.errors import FailedPreconditionError, InvalidArgumentError
from argosy.fluid import framework, half_async, io, leave, rate, static_job
from argosy.fluid.executor import Executor, global_scope, use_bfloat16
from argosy.fluid.incubate.fleet.base.role_maker import RoleMakerBase
from argosy.fluid.incubate.fleet.base.util import CollectiveCore, Util
from argosy.fluid.transpiler.distribute_transpiler import DistributeTranspilerConfig

__all__ = ["DistributedOptimizer", "Fleet", "Mode"]


class Mode:
    """Kinds of jobs, as fluid numbers them."""

    TRANSPILER = 1
    PSLIB = 2
    COLLECTIVE = 3


def core_strategy(strategy):
    """The core's form of any of the strategies; None is the default one, which is synchronous."""
    if strategy is None:
        return _core.Strategy()
    convert = getattr(strategy, "_core_strategy", None)
    if convert is None:
        raise TypeError(f"a strategy is a DistributeTranspilerConfig, one of StrategyFactory's, or a DistributedStrategy; found {type(strategy).__name__}")
    return convert()


class DistributedOptimizer:
    """An optimizer whose updates the servers do, or, in a collective job, every process of the mean gradients.

    What it does not know itself is asked of the optimizer that it was made of.
    """

    def __init__(self, fleet, optimizer, strategy=None):
        if not hasattr(optimizer, "minimize"):
            raise TypeError(f"distributed_optimizer takes an optimizer, such as fluid.optimizer.SGD; found {type(optimizer).__name__}")
        self._fleet, self._optimizer, self._strategy = fleet, optimizer, strategy
        fleet._check_strategy(strategy)  # what does not fit is an error here and not at minimize

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._optimizer, name)

    def minimize(self, losses, scopes=None, startup_program=None, parameter_list=None, no_grad_set=None):
        """Completes the loss's program and shares it between workers and servers. Waits for nobody."""
        if scopes is not None:
            raise InvalidArgumentError("minimize(scopes=…): a job trains one program in the scope that it is run in; leave scopes out")
        return self._minimize(losses, startup_program, parameter_list, no_grad_set)

    def _minimize(self, losses, startup_program, parameter_list, no_grad_set):
        loss, startup_program = _only(losses, "a loss"), _only(startup_program, "a startup program")
        self._fleet._check_ready("minimize()")
        if self._fleet._has_servers() and hasattr(self._optimizer, "_leave_losses"):
            self._optimizer._leave_losses()
        result = self._optimizer.minimize(loss, startup_program, parameter_list, no_grad_set)
        self._fleet._distribute(loss.block.program, startup_program or framework.default_startup_program(), self._strategy)
        return result


def _only(value, what):
    if isinstance(value, (list, tuple)):
        if len(value) != 1:
            raise InvalidArgumentError(f"minimize: a parameter-server job has {what}; found {len(value)}")
        return value[0]
    return value


def _check_executor(executor, call):
    if not isinstance(executor, Executor):
        raise TypeError(f"{call} takes the Executor that ran the startup program; found {type(executor).__name__}")


class Fleet:
    """A process's place in its job, and its life there. Calls that make no sense for its role say so.

    >>> fleet = paddle.distributed.fleet
    >>> fleet.init(is_collective=True)
    >>> fleet.worker_index(), fleet.is_server()
    (0, False)
    """

    def __init__(self, core=None):
        self._core = _core.fleet() if core is None else core
        self._optimizer = None
        self._programs = None
        self._util = Util(self._core)
        self._is_collective = False
        self._is_alone = False  # a worker without servers and others, whose program stays as it is

    # ---- who this process is

    def init(self, role_maker=None):
        """Takes the role that `role_maker` tells."""
        raise NotImplementedError("Fleet is what the fleets share; import one of them")

    def _init(self, role_maker, settings=None):
        if not isinstance(role_maker, RoleMakerBase):
            raise TypeError("fleet.init takes a role maker, such as PaddleCloudRoleMaker(); found %s" % type(role_maker).__name__)
        self._core.init(role_maker.generate_role())
        self._is_collective = role_maker._place is not None
        self._is_alone = role_maker._is_alone
        if self._is_collective:
            job.use(role_maker._place, settings)
            self._util._core = CollectiveCore(self._core)

    def is_first_worker(self):
        """Whether this process is worker 0.

        >>> paddle.distributed.fleet.init(is_collective=True)
        >>> paddle.distributed.fleet.is_first_worker()
        True
        """
        return self._core.is_first_worker()

    def is_worker(self):
        """Whether this process trains.

        >>> paddle.distributed.fleet.init(is_collective=True)
        >>> paddle.distributed.fleet.is_worker()
        True
        """
        return self._core.is_worker()

    def is_server(self):
        """Whether this process is a parameter server.

        >>> paddle.distributed.fleet.init(is_collective=True)
        >>> paddle.distributed.fleet.is_server()
        False
        """
        return self._core.is_server()

    def worker_index(self):
        """The number of this worker, from 0.

        >>> paddle.distributed.fleet.init(is_collective=True)
        >>> paddle.distributed.fleet.worker_index()
        0
        """
        return self._core.worker_index()

    def server_index(self):
        """The number of this server, from 0.

        >>> fleet = paddle.distributed.fleet
        >>> fleet.init(fleet.UserDefinedRoleMaker(current_id=0, role=fleet.Role.SERVER, worker_num=1, server_endpoints=["127.0.0.1:6170"]))
        >>> fleet.server_index()
        0
        """
        return self._core.server_index()

    def worker_num(self):
        """The number of workers of the job.

        >>> paddle.distributed.fleet.init(is_collective=True)
        >>> paddle.distributed.fleet.worker_num()
        1
        """
        return self._core.worker_num()

    def server_num(self):
        """The number of servers of the job.

        >>> fleet = paddle.distributed.fleet
        >>> fleet.init(fleet.UserDefinedRoleMaker(current_id=0, role=fleet.Role.WORKER, worker_num=1, server_endpoints=["127.0.0.1:6170"]))
        >>> fleet.server_num()
        1
        """
        return self._core.server_num()

    def worker_endpoints(self, to_string=False):
        """host:port of each worker, as a list, or as a text with commas.

        >>> paddle.distributed.fleet.init(is_collective=True)
        >>> endpoints = paddle.distributed.fleet.worker_endpoints()
        """
        endpoints = self._core.worker_endpoints()
        return ",".join(endpoints) if to_string else endpoints

    def server_endpoints(self, to_string=False):
        """host:port of each server, as a list, or as a text with commas.

        >>> fleet = paddle.distributed.fleet
        >>> fleet.init(fleet.UserDefinedRoleMaker(current_id=0, role=fleet.Role.WORKER, worker_num=1, server_endpoints=["127.0.0.1:6170"]))
        >>> fleet.server_endpoints(to_string=True)
        '127.0.0.1:6170'
        """
        endpoints = self._core.server_endpoints()
        return ",".join(endpoints) if to_string else endpoints

    @property
    def util(self):
        """What workers do together: barrier, all_reduce, all_gather, get_file_shard, print_on_rank."""
        return self._util

    def split_files(self, files):
        """This worker's part of a list of files."""
        return self._util.get_file_shard(files)

    # ---- building the job

    def distributed_optimizer(self, optimizer, strategy=None):
        """`optimizer`, with updates done by servers as `strategy` says; None is synchronous."""
        self._optimizer = DistributedOptimizer(self, optimizer, strategy)
        return self._optimizer

    def minimize(self, loss, startup_program=None, parameter_list=None, no_grad_set=None):
        """minimize() of the optimizer that distributed_optimizer() made last.

        >>> paddle.distributed.fleet.minimize(loss)  # doctest: +SKIP
        """
        return self._of_optimizer("minimize")(loss, startup_program=startup_program, parameter_list=parameter_list, no_grad_set=no_grad_set)

    def _of_optimizer(self, call):
        if self._optimizer is None:
            raise FailedPreconditionError(f"fleet.{call}() before fleet.distributed_optimizer(): there is no optimizer yet")
        return getattr(self._optimizer, call)

    def _check_ready(self, call):
        if not self._core.initialised():
            raise FailedPreconditionError(f"{call} before fleet.init(): the job's servers and workers are not known yet")
        if self._programs is not None and self._has_servers():  # share() knows each collective program
            raise FailedPreconditionError(f"{call}: this process's program is distributed already; a job has one")

    def _has_servers(self):
        return not self._is_alone and not self._is_collective

    def _check_strategy(self, strategy):
        """Raises for one of another kind of job."""
        (options_of if self._is_collective and not self._is_alone else core_strategy)(strategy)

    def _distribute(self, main, startup, strategy):
        if getattr(strategy, "amp", False):
            strategy._check_amp_of_programs()
            use_bfloat16(main)
        if self._is_alone:
            self._programs = main, startup
            return
        if self._is_collective:
            static_job.share(main, startup, options_of(strategy))
            self._programs = main, startup
            return
        is_config = isinstance(strategy, DistributeTranspilerConfig)
        strategy = core_strategy(strategy)
        self._core.distribute(main, startup, strategy)
        self._programs = main, startup
        if self._core.is_worker():
            worker = self._core.worker()
            leave.at_exit(worker)
            if is_config and strategy.mode == _core.Mode.async_:
                half_async.offer(main, worker)
            if worker.directs_rate():
                rate.serve(main, worker)

    @property
    def main_program(self):
        """The program that this process trains; the default one before minimize()."""
        return self._programs[0] if self._programs else framework.default_main_program()

    @property
    def startup_program(self):
        return self._programs[1] if self._programs else framework.default_startup_program()

    # ---- the life of a server and of a worker

    def init_server(self, model_dir=None, var_names=None, fs_name="", fs_ugi="", *, dirname=None):
        """Listens. model_dir: a folder with what save_persistables wrote, of this job or of a single machine, or a snapshot.

        var_names: only these of its variables. fs_name, fs_ugi: the folder is one of the store that they name. dirname is
        2.x's name for model_dir. Returns {"loaded": names, "missing": variables that start anew, "unused": what this job
        has no use for}.

        >>> paddle.distributed.fleet.init_server("saved_model")  # doctest: +SKIP
        """
        if model_dir is not None and dirname is not None:
            raise InvalidArgumentError("init_server: model_dir and dirname are the same thing; give one of them")
        folder = dirname if model_dir is None else model_dir
        names = [var_names] if isinstance(var_names, str) else [getattr(name, "name", name) for name in var_names or []]
        if folder is None and (names or fs_name or fs_ugi):
            raise InvalidArgumentError("init_server: var_names, fs_name and fs_ugi say more of a folder; name it too")
        return self._core.init_server(os.fspath(folder) if folder else "", names, fs_name, fs_ugi)

    def run_server(self):
        """Serves until the workers are done; init_server() where that was not called.

        >>> if paddle.distributed.fleet.is_server():  # doctest: +SKIP
        ...     paddle.distributed.fleet.run_server()
        """
        self._core.run_server()

    def init_worker(self):
        """Waits for all servers; the error names those who are missing. The startup program does so too."""
        if self._is_collective:
            job.world()
        else:
            self._core.init_worker()

    def stop_worker(self):
        """Sends what is queued, and says goodbye to the servers, or to the other processes. Safe to call twice.

        >>> paddle.distributed.fleet.stop_worker()  # doctest: +SKIP
        """
        if self._is_collective:
            job.leave()
        else:
            self._core.stop_worker()

    def barrier_worker(self):
        """Waits until all workers are here. What each has trained until then is on the servers afterwards, and in what this one reads.

        >>> paddle.distributed.fleet.init(is_collective=True)
        >>> paddle.distributed.fleet.barrier_worker()
        """
        self._util.barrier()

    # ---- what was learned

    def save_inference_model(self, executor, dirname, feeded_var_names, target_vars, main_program=None, export_for_deployment=True):
        """On a worker: writes what computes target_vars, with the values that the servers hold."""
        _check_executor(executor, "save_inference_model")
        self._check_worker("save_inference_model()")
        io.save_inference_model(dirname, feeded_var_names, target_vars, executor, self._program(main_program), None, None, export_for_deployment)

    def save_persistables(self, executor, dirname, main_program=None, fs_name="", fs_ugi=""):
        """On a worker: everything that outlives a run, one file per variable, with the values that the servers hold.

        fs_name, fs_ugi: the folder is one of the store that they name.
        """
        _check_executor(executor, "save_persistables")
        self._check_worker("save_persistables()")
        _core.save_vars(*self._persistables(dirname, main_program), fs_name, fs_ugi)

    def save_persistable(self, executor, dirname, main_program=None, fs_name="", fs_ugi=""):
        """save_persistables, by the name that the guide has.

        >>> paddle.distributed.fleet.save_persistable(exe, "model")  # doctest: +SKIP
        """
        self.save_persistables(executor, dirname, main_program, fs_name=fs_name, fs_ugi=fs_ugi)

    def load_persistables(self, executor, dirname, main_program=None, fs_name="", fs_ugi=""):
        """On a worker: gives the servers what a folder holds. Returns {"loaded": names, "unused": files}.

        >>> paddle.distributed.fleet.load_persistables(exe, "model")  # doctest: +SKIP
        """
        _check_executor(executor, "load_persistables")
        self._check_worker("load_persistables()")
        return _core.load_vars(*self._persistables(dirname, main_program), fs_name, fs_ugi)

    def _persistables(self, dirname, main_program):
        variables = io.get_program_persistable_vars(io._program(self._program(main_program)))
        return global_scope(), variables, os.fspath(dirname), None

    def save_snapshot(self, dirname, kind="full"):
        """All rows and all state in the servers' own form, in a folder of the servers' machines. kind: full, delta or base.

        >>> paddle.distributed.fleet.save_snapshot("snapshot", kind="delta")  # doctest: +SKIP
        """
        self._core.save_snapshot(os.fspath(dirname), kind)

    def load_snapshot(self, dirname):
        """What save_snapshot wrote, with any number of servers.

        >>> paddle.distributed.fleet.load_snapshot("snapshot")  # doctest: +SKIP
        """
        self._core.load_snapshot(os.fspath(dirname))

    def shrink(self, threshold=None, unseen_steps=None, ttl_seconds=None):
        """Drops rows of sparse tables by their expiry (DistributedStrategy.fleet_desc_configs), or by what is given: those whose score is
        below `threshold`, that got no gradient in more than unseen_steps steps, or for ttl_seconds, which only tables with such an expiry
        count. Returns how many.

        >>> dropped = paddle.distributed.fleet.shrink(unseen_steps=100000)  # doctest: +SKIP
        """
        return self._core.shrink(threshold, unseen_steps, ttl_seconds)

    def server_stats(self):
        """What each server says of itself: batches, pushes, duplicates, bytes_in, bytes_out, log_bytes, snapshots, and tables with name,
        rows, cold_rows (those on disk), memory_bytes, learning_rate and nonfinite (rows that came with a gradient which is NaN or infinite).
        A table's staleness says how many pushes lacked how many batches: {0.0: 90, 1.0: 8, 4.0: 2} are 90 before which no batch of any worker had been
        applied since their parameters were read, 8 before which one had, and 2 with 3 or 4; staleness_sum is the sum of these batches.

        >>> [table.rows for stats in paddle.distributed.fleet.server_stats() for table in stats.tables]  # doctest: +SKIP
        """
        return self._core.server_stats()

    def ledger(self):
        """What was read, applied, lost and given up, by all workers: {"passes": [...], "open": [...], "total": {...}, "nonfinite": {...}}.

        A pass that a worker has finished has pass, workers, batches, samples_read, samples_applied, samples_lost, bad_lines, lines, files,
        batches_given_up and samples_given_up (by on_worker_loss=shrink or durability=snapshot), failed_runs, restarts (of workers),
        unsent (geo: the sum of differences that are not sent yet), fed (runs of a script that feeds itself: batches are runs, and samples
        are not counted), lines_of_lost (of files that lost workers had, left out because they count for those), lines_in_parts (of these, on
        some servers only), differences_given_up (geo: at most this sum, after errors; "unknown" of a process that died) and text, the line that
        the log has. "open" are workers with batches in a pass that they have not finished, and
        all that are lost: worker, state, pass, batches and samples (that all servers have), batches_dropped and samples_dropped (of a last
        step that not all had), files_handed_on, files_left and files_twice (of files that servers hand out: others go on with them; nobody
        has asked for them; they are read again from the beginning), given_up ("unknown", or 0) and text. "nonfinite" has, by table, how many
        gradients were NaN or infinite and were left out or replaced (nonfinite=skip or clip).
        """
        return json.loads(self._core.ledger_json())

    def set_learning_rate(self, value):
        """The rate of all parameters from now on, in place of their schedule.

        >>> paddle.distributed.fleet.set_learning_rate(0.001)  # doctest: +SKIP
        """
        self._core.worker().set_learning_rate(float(value))

    def _check_worker(self, call):
        if not self._is_collective:
            self._core.check_worker(call)

    def _program(self, given):
        return self.main_program if given is None else given
