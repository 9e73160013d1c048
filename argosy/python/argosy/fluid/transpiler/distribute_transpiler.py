"""DistributeTranspiler: a program that trains on one machine becomes the programs of workers and servers, or of a collective job."""

from argosy import _core
from argosy.distributed import job
from argosy.distributed.collective_options import CollectiveOptions
from argosy.errors import InvalidArgumentError
from argosy.fluid import early_runs, framework, half_async, leave, rate, static_job
from argosy.fluid.settings import Settings
from argosy.fluid.transpiler.ps_dispatcher import RoundRobin

__all__ = ["DistributedMode", "DistributeTranspiler", "DistributeTranspilerConfig", "ServerRuntimeConfig"]


class DistributedMode:
    """Numbers of the modes, as fluid has them."""

    SYNC = 0
    ASYNC = 1
    HALF_ASYNC = 2
    GEO = 3


_NCCL = "processes meet in one way, which is the device's own"
_COLLECTIVE_MODES = ("nccl2", "collective")
_SWITCHES = frozenset(["sync_mode", "half_async", "completely_not_async", "geo_sgd_mode", "runtime_split_send_recv", "wait_port", "print_log"])


class DistributeTranspilerConfig(Settings):
    """Settings of a job, with fluid's names and defaults. mode: pserver, a job with parameter servers, or nccl2 and collective, which are one here:
    every process has the whole program, and gradients are averaged (collective_mode grad_allreduce).

    sync_mode: workers go in step; otherwise half_async, geo_sgd_mode (with a push every geo_sgd_need_push_nums batches) or
    neither, which is asynchronous. settings: those of docs/settings.md, by name.

    Gradients are always split at run time, and a worker waits for its servers where it meets them: in the startup program. So
    runtime_split_send_recv and wait_port change nothing.

    >>> config = fluid.DistributeTranspilerConfig()
    >>> config.sync_mode = False
    """

    _fields = {
        "sync_mode": True,
        "half_async": False,
        "completely_not_async": False,
        "geo_sgd_mode": False,
        "geo_sgd_need_push_nums": 100,
        "runtime_split_send_recv": False,
        "slice_var_up": True,
        "split_method": None,
        "min_block_size": 8192,
        "enable_dc_asgd": False,
        "mode": "pserver",
        "collective_mode": None,
        "wait_port": True,
        "print_log": False,
        "nccl_comm_num": 1,
        "use_hierarchical_allreduce": False,
        "hierarchical_allreduce_inter_nranks": 0,
        "settings": {},
    }
    _fixed = {"enable_dc_asgd": "servers do not compensate for delayed gradients; geo_sgd_mode or sync_mode have none"}
    _hints = {
        "slice_var_up": "dense parameters are always cut into blocks, so that every server has its share",
        "min_block_size": "dense parameters are cut into blocks of 8192 elements",
        "nccl_comm_num": _NCCL,
        "use_hierarchical_allreduce": _NCCL,
        "hierarchical_allreduce_inter_nranks": _NCCL,
    }

    def __init__(self):
        super().__init__()
        self.settings = {}

    def __setattr__(self, name, value):
        if name in _SWITCHES:
            _check_switch(f"DistributeTranspilerConfig.{name}", value)
        other = {"sync_mode": "runtime_split_send_recv", "runtime_split_send_recv": "sync_mode"}.get(name)
        if value and other is not None and getattr(self, other):
            raise ValueError(f"{name}=True does not go with {other}=True; set {other}=False first")
        if name == "mode" and value not in ("pserver", *_COLLECTIVE_MODES):
            raise ValueError(f"mode = {value!r}: expected pserver, nccl2 or collective")
        if name == "collective_mode" and value not in (None, "grad_allreduce", "local_sgd"):
            raise ValueError(f"collective_mode = {value!r}: expected grad_allreduce, or local_sgd, with which processes average their parameters")
        if name == "split_method" and value not in (None, RoundRobin):
            raise ValueError(f"split_method = {value!r}: blocks go to one server after the other, which is RoundRobin")
        if name == "geo_sgd_need_push_nums" and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise ValueError(f"geo_sgd_need_push_nums = {value!r}: expected a number of batches, 1 or more")
        super().__setattr__(name, value)

    def _mode(self, sync_mode=None):
        """The mode; `sync_mode`, where given, wins over this configuration's."""
        if sync_mode is not None:
            _check_switch("transpile: sync_mode", sync_mode)
        sync = self.sync_mode if sync_mode is None else sync_mode
        if sync_mode is None and sync:
            for name in ("half_async", "geo_sgd_mode"):
                if getattr(self, name) and not self.completely_not_async:
                    raise ValueError(f"{name}=True does not go with sync_mode=True; set sync_mode=False")
        if sync:
            return _core.Mode.sync
        for name in ("half_async", "completely_not_async"):
            if self.geo_sgd_mode and getattr(self, name):
                raise InvalidArgumentError(f"geo_sgd_mode=True does not go with {name}=True: a job has one mode; set one of them to False")
        if self.completely_not_async:
            return _core.Mode.sync
        if self.geo_sgd_mode:
            return _core.Mode.geo
        return _core.Mode.half_async if self.half_async else _core.Mode.async_

    def _collective_options(self):
        """What it says of a job without servers, also where a collective Fleet is given it as a strategy."""
        return CollectiveOptions(local_steps=1 if self.collective_mode == "local_sgd" else 0, settings=dict(self.settings))

    def _core_strategy(self, sync_mode=None):
        if self.mode != "pserver":
            raise InvalidArgumentError(
                f"DistributeTranspilerConfig.mode = {self.mode!r} is of jobs without servers, and this one has servers; set "
                "mode='pserver', or take DistributeTranspiler or fluid.incubate.fleet.collective"
            )
        strategy = _core.Strategy()
        strategy.mode = self._mode(sync_mode)
        strategy.geo_k_steps = self.geo_sgd_need_push_nums
        strategy.settings = {name: str(value) for name, value in self.settings.items()}
        return strategy


def _check_switch(what, value):
    if not isinstance(value, bool):
        raise InvalidArgumentError(f"{what} is True or False; found {value!r}")


class ServerRuntimeConfig(Settings):
    """How a server uses its machine: requests are handled by one thread per core."""

    _fields = {"_rpc_send_thread_num": 12, "_rpc_get_thread_num": 12, "_rpc_prefetch_thread_num": 12}
    _fixed = dict.fromkeys(_fields, "a server handles all requests with one thread per core")


class DistributeTranspiler:
    """The older way to a job. The script says which process it is by what it asks for.

    >>> transpiler = fluid.DistributeTranspiler()
    >>> transpiler.transpile(trainer_id=0, pservers="127.0.0.1:6174", trainers=1)  # doctest: +SKIP
    """

    def __init__(self, config=None):
        self.config = DistributeTranspilerConfig() if config is None else config
        if not isinstance(self.config, DistributeTranspilerConfig):
            raise InvalidArgumentError(f"DistributeTranspiler takes a DistributeTranspilerConfig; found {type(config).__name__}")
        self._core = _core.DistributeTranspiler()
        self._shared = None  # the program of a collective job
        self._mode = None  # of a job with servers
        self._programs = ()  # that transpile() was given

    def transpile(
        self, trainer_id, program=None, pservers="127.0.0.1:6174", trainers=1, sync_mode=None, startup_program=None, current_endpoint="127.0.0.1:6174"
    ):
        """Shares `program`, which minimize() has completed, between `trainers` workers and the servers "host:port,host:port".

        sync_mode: None is what the configuration says; another value wins over it. Waits for nobody. With mode nccl2 or collective `trainers` are the
        endpoints of all processes, one text, and current_endpoint is this one's.
        """
        main = framework.default_main_program() if program is None else program
        current_endpoint = pservers.split(",")[0] if current_endpoint is None else current_endpoint  # of a server only
        if self.config.mode in _COLLECTIVE_MODES:
            self._share(trainer_id, main, trainers, startup_program, current_endpoint)
            return
        if isinstance(trainers, str) or not isinstance(trainer_id, int):
            raise InvalidArgumentError(
                f"transpile(trainer_id={trainer_id!r}, trainers={trainers!r}): both are numbers for parameter servers; mode "
                "'nccl2' takes the trainers' endpoints"
            )
        strategy = self.config._core_strategy(sync_mode)
        self._core.transpile(trainer_id, main, pservers, trainers, startup_program, current_endpoint, strategy)  # pyright: ignore[reportArgumentType]
        self._mode = strategy.mode
        self._startup = framework.default_startup_program() if startup_program is None else startup_program
        self._programs = main, self._startup
        for one in self._programs:
            early_runs.expect(one, self.get_trainer_program)
        if self.config.print_log:
            print(self._core.describe(), flush=True)

    def _share(self, trainer_id, main, trainers, startup_program, current_endpoint):
        """Mode nccl2: `trainers` are the endpoints of all processes, "host:port,host:port", of which this is number trainer_id."""
        endpoints = trainers.split(",") if isinstance(trainers, str) else None
        if endpoints is None or not 0 <= trainer_id < len(endpoints):
            raise InvalidArgumentError(
                f"transpile(trainer_id={trainer_id!r}, trainers={trainers!r}): mode {self.config.mode!r} takes the endpoints of "
                "all trainers as one text, host:port,host:port, and the number of this one"
            )
        if endpoints[trainer_id] != current_endpoint:
            raise InvalidArgumentError(f"transpile: trainer {trainer_id} is {endpoints[trainer_id]} in trainers, and current_endpoint says {current_endpoint}")
        job.use(_core.user_place(trainer_id, endpoints), self.config.settings)
        startup = framework.default_startup_program() if startup_program is None else startup_program
        static_job.share(main, startup, self.config._collective_options())
        self._shared = main

    def get_trainer_program(self, wait_port=True):
        """The worker's program: the one that was transpiled, changed in place, as its startup program is. Running either before makes this process the
        worker too."""
        if self._shared is not None:
            return self._shared
        program = self._core.get_trainer_program()
        for one in self._programs:
            early_runs.forget(one)
        worker = self._core.worker()
        leave.at_exit(worker)
        if self._mode == _core.Mode.async_:
            half_async.offer(program, worker)
        if worker.directs_rate():
            rate.serve(program, worker)
        return program

    def get_pserver_program(self, endpoint):
        """The program of the server at `endpoint`: running it serves until all trainers have closed their executors."""
        return self._core.get_pserver_program(endpoint)

    def get_pserver_programs(self, endpoint):
        """(program, startup program) of the server at `endpoint`."""
        return self.get_pserver_program(endpoint), self.get_startup_program(endpoint)

    def get_startup_program(self, endpoint, pserver_program=None, startup_program=None):
        """First values of the parameters of the server at `endpoint`. Both programs are known since transpile()."""
        if pserver_program is not None and not isinstance(pserver_program, framework.Program):
            raise InvalidArgumentError(f"get_startup_program: pserver_program is a Program; found {type(pserver_program).__name__}")
        if startup_program is not None and startup_program is not self._startup:
            raise InvalidArgumentError("get_startup_program: startup_program is not the one that was transpiled; give it to transpile()")
        return self._core.get_startup_program(endpoint)
