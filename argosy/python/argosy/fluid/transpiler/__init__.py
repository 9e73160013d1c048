"""What directs parameter-server training in fluid."""
from argosy.fluid.transpiler.distribute_transpiler import DistributeTranspilerConfig

__all__ = ["DistributeTranspilerConfig"]
