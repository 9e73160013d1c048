"""What directs parameter-server training in fluid, and the programs of its processes."""

from argosy.fluid.transpiler.distribute_transpiler import DistributeTranspiler, DistributeTranspilerConfig
from argosy.fluid.transpiler.ps_dispatcher import HashName, RoundRobin

__all__ = ["DistributeTranspiler", "DistributeTranspilerConfig", "HashName", "RoundRobin"]
