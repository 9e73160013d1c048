"""Strategies of parameter-server jobs by mode: StrategyFactory.create_sync_strategy() and so on."""

import os
from typing import Any

from argosy import _core
from argosy.fluid.compiler import BuildStrategy, ExecutionStrategy
from argosy.fluid.transpiler.distribute_transpiler import DistributedMode, DistributeTranspilerConfig, ServerRuntimeConfig

__all__ = ["TrainerRuntimeConfig", "DistributedStrategy", "SyncStrategy", "AsyncStrategy", "HalfAsyncStrategy", "GeoStrategy", "StrategyFactory"]

_MODES = {DistributedMode.SYNC: "sync", DistributedMode.ASYNC: "async_", DistributedMode.HALF_ASYNC: "half_async", DistributedMode.GEO: "geo"}
_ASYNC_ONLY = frozenset(
    [
        "communicator_max_merge_var_num",
        "communicator_send_queue_size",
        "communicator_independent_recv_thread",
        "communicator_min_send_grad_num_before_recv",
        "communicator_thread_pool_size",
        "communicator_send_wait_times",
        "communicator_is_sgd_optimizer",
    ]
)
_ENVIRONMENT = ("rpc_deadline", "rpc_retry_times")  # the core reads the other flags itself
_LEAST = {
    "communicator_max_merge_var_num": 1,
    "communicator_send_queue_size": 1,
    "communicator_min_send_grad_num_before_recv": 1,
    "communicator_thread_pool_size": 1,
    "communicator_send_wait_times": 0,
    "rpc_deadline": 1,
}
_FIELDS = {
    "communicator_independent_recv_thread": ("independent_recv_thread", lambda text: bool(int(text))),
    "communicator_is_sgd_optimizer": ("sum_merged", lambda text: bool(int(text))),
}


class _RuntimeConfigs(dict):
    """The names are given; values are numbers, as text or not."""

    def __init__(self, values, owner):
        super().__init__(values)
        self._owner = owner

    def __setitem__(self, name, value):
        if name not in self:
            raise ValueError(f"TrainerRuntimeConfig has no setting '{name}'; it has {', '.join(self)}")
        self._owner._check(name, value)
        super().__setitem__(name, value)
        self._owner._given.add(name)

    def update(self, values):
        for name, value in values.items():
            self[name] = value


class TrainerRuntimeConfig:
    """How a worker of an asynchronous job sends and receives. What is not set here comes from FLAGS_<name> or is the default."""

    def __init__(self):
        self.mode = None
        self._given = set()
        threads = os.getenv("CPU_NUM", "1")
        defaults = {
            "communicator_max_merge_var_num": "1",
            "communicator_send_queue_size": threads,
            "communicator_independent_recv_thread": "1",
            "communicator_min_send_grad_num_before_recv": "1",
            "communicator_thread_pool_size": "1",
            "communicator_send_wait_times": "5",
            "communicator_is_sgd_optimizer": "1",
            "rpc_deadline": "180000",
            "rpc_retry_times": "3",
        }
        self.runtime_configs = _RuntimeConfigs({name: os.getenv("FLAGS_" + name, value) for name, value in defaults.items()}, self)
        for name in _ENVIRONMENT:
            value = os.getenv("FLAGS_" + name)
            if value is not None:
                self._check(name, value, f"the environment's FLAGS_{name}")
                self._given.add(name)

    def _check(self, name, value, source="TrainerRuntimeConfig"):
        try:
            number = int(value)
        except (TypeError, ValueError):
            raise ValueError(f"{source}: {name} is a number; found {value!r}") from None
        if name in _LEAST and number < _LEAST[name]:
            raise ValueError(f"{source}: {name} is a number, {_LEAST[name]} or more; found {value!r}")
        if name == "rpc_retry_times" and number != 3:
            raise ValueError(
                f"{source}: rpc_retry_times = {value}: a call is repeated until its server has been away for "
                "server_wait_seconds; set that one, in settings, and leave this one at 3"
            )

    def get_communicator_flags(self):
        """The settings that count in this mode, as texts."""
        waits = self.mode is None or self.mode == DistributedMode.ASYNC
        return {name: str(value) for name, value in self.runtime_configs.items() if waits or name not in _ASYNC_ONLY}

    def __repr__(self):
        return "\n".join(["TrainerRuntimeConfig"] + [f"  {name:<45}{value}" for name, value in self.get_communicator_flags().items()])

    def _apply(self, strategy):
        """Puts what was set here into the core's strategy."""
        for name in sorted(self._given):
            value = self.runtime_configs[name]
            if name == "rpc_deadline":
                strategy.settings = {"call_seconds": str(int(value) / 1000), **strategy.settings}
            elif name in _ASYNC_ONLY:
                self._apply_flag(strategy, name, value)

    def _apply_flag(self, strategy, name, value):
        if self.mode not in (None, DistributedMode.ASYNC):
            threads = os.getenv("CPU_NUM", "1")
            if str(value) == threads and name in ("communicator_max_merge_var_num", "communicator_send_queue_size"):
                return  # one gradient of each thread: what the mode does by itself
            raise ValueError(f"{name} = {value}: only asynchronous jobs queue gradients; leave it out of a {_MODES[self.mode].strip('_')} strategy")
        field, convert = _FIELDS.get(name, (name[len("communicator_") :], int))
        setattr(strategy, field, convert(value))


def _set(config, kind, given, what):
    """`given`, or `config` with what a dict names."""
    if isinstance(given, kind):
        return given
    if not isinstance(given, dict):
        raise TypeError(f"{what} takes a dict or a {kind.__name__}; found {type(given).__name__}")
    for name, value in given.items():
        if name not in config._fields:
            raise ValueError(f"{kind.__name__} has no setting '{name}'; it has {', '.join(config._fields)}")
        setattr(config, name, value)
    return config


class DistributedStrategy:
    """What the strategies share. settings: those of docs/settings.md, by name."""

    _mode: Any = None

    def __init__(self):
        if self._mode is None:
            raise TypeError("DistributedStrategy is what the strategies share; make one with StrategyFactory")
        self._program_config = DistributeTranspilerConfig()
        self._server_runtime_config = ServerRuntimeConfig()
        self._execute_strategy, self._build_strategy = ExecutionStrategy(), BuildStrategy()
        self._execute_strategy.num_threads = int(os.getenv("CPU_NUM", "1"))
        self.settings = {}
        self.set_trainer_runtime_config(TrainerRuntimeConfig())
        self._settle()

    def _settle(self):
        """The mode is the strategy's own, whatever the program's configuration says."""
        config, mode = self._program_config, self._mode
        config.runtime_split_send_recv = False
        config.sync_mode = False
        config.runtime_split_send_recv = True
        config.completely_not_async = mode == DistributedMode.SYNC
        config.half_async = mode in (DistributedMode.SYNC, DistributedMode.HALF_ASYNC)
        config.geo_sgd_mode = mode == DistributedMode.GEO

    def get_program_config(self):
        return self._program_config

    def set_program_config(self, config):
        self._program_config = _set(self._program_config, DistributeTranspilerConfig, config, "set_program_config")
        self._settle()

    def get_trainer_runtime_config(self):
        return self._trainer_runtime_config

    def set_trainer_runtime_config(self, config):
        if isinstance(config, dict):
            self._trainer_runtime_config.runtime_configs.update(config)
        elif isinstance(config, TrainerRuntimeConfig):
            self._trainer_runtime_config = config
        else:
            raise TypeError(f"set_trainer_runtime_config takes a dict or a TrainerRuntimeConfig; found {type(config).__name__}")
        self._trainer_runtime_config.mode = self._mode

    def get_server_runtime_config(self):
        return self._server_runtime_config

    def set_server_runtime_config(self, config):
        self._server_runtime_config = _set(self._server_runtime_config, ServerRuntimeConfig, config, "set_server_runtime_config")

    def get_execute_strategy(self):
        return self._execute_strategy

    def set_execute_strategy(self, config):
        self._execute_strategy = _set(self._execute_strategy, ExecutionStrategy, config, "set_execute_strategy")

    def get_build_strategy(self):
        return self._build_strategy

    def set_build_strategy(self, config):
        self._build_strategy = _set(self._build_strategy, BuildStrategy, config, "set_build_strategy")

    def set_debug_opt(self, opt_info):
        if opt_info:
            raise ValueError("set_debug_opt: workers dump no variables; fetch them, or watch them with a FetchHandler")

    def get_debug_opt(self):
        return {}

    def _core_strategy(self):
        strategy = self._program_config._core_strategy()
        strategy.mode = getattr(_core.Mode, _MODES[self._mode])
        strategy.settings = {**strategy.settings, **{name: str(value) for name, value in self.settings.items()}}
        self._trainer_runtime_config._apply(strategy)
        return strategy


class SyncStrategy(DistributedStrategy):
    """All workers go in step."""

    _mode = DistributedMode.SYNC


class AsyncStrategy(DistributedStrategy):
    """Nobody waits for anybody."""

    _mode = DistributedMode.ASYNC


class HalfAsyncStrategy(DistributedStrategy):
    """The threads of a worker go in step; workers do not wait for each other."""

    _mode = DistributedMode.HALF_ASYNC


class GeoStrategy(DistributedStrategy):
    """A worker trains a copy of its own and exchanges differences every update_frequency batches."""

    _mode = DistributedMode.GEO

    def __init__(self, update_frequency=100):
        super().__init__()
        self._program_config.geo_sgd_need_push_nums = update_frequency


class StrategyFactory:
    """Makes a strategy of each mode."""

    @staticmethod
    def create_sync_strategy():
        return SyncStrategy()

    @staticmethod
    def create_half_async_strategy():
        return HalfAsyncStrategy()

    @staticmethod
    def create_async_strategy():
        return AsyncStrategy()

    @staticmethod
    def create_geo_strategy(update_frequency=100):
        return GeoStrategy(update_frequency)
