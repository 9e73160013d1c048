"""The Fleet of parameter-server jobs: `from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet`."""

from argosy.fluid.incubate.fleet.base import fleet_base
from argosy.fluid.incubate.fleet.base.role_maker import MPISymetricRoleMaker
from argosy.fluid.incubate.fleet.parameter_server.distribute_transpiler.distributed_strategy import (
    AsyncStrategy,
    DistributedStrategy,
    GeoStrategy,
    HalfAsyncStrategy,
    StrategyFactory,
    SyncStrategy,
    TrainerRuntimeConfig,
)
from argosy.fluid.transpiler.distribute_transpiler import DistributedMode, DistributeTranspilerConfig, ServerRuntimeConfig

__all__ = [
    "AsyncStrategy",
    "DistributedMode",
    "DistributedStrategy",
    "DistributedTranspiler",
    "DistributeTranspilerConfig",
    "GeoStrategy",
    "HalfAsyncStrategy",
    "ServerRuntimeConfig",
    "StrategyFactory",
    "SyncStrategy",
    "TrainerRuntimeConfig",
    "TranspilerOptimizer",
    "fleet",
]

TranspilerOptimizer = fleet_base.DistributedOptimizer


class DistributedTranspiler(fleet_base.Fleet):
    """fluid's Fleet."""

    def init(self, role_maker=None):
        """Takes the role that `role_maker` tells; without one, that of a process under mpirun."""
        self._init(MPISymetricRoleMaker() if role_maker is None else role_maker)


fleet = DistributedTranspiler()
