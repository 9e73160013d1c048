"""ParallelExecutor under the module name that it has in 1.8."""

from argosy.fluid.compiler import ParallelExecutor

__all__ = ["ParallelExecutor"]
