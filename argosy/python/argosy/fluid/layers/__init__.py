"""Layer functions: each adds operators to the default programs and returns what they compute.

Most are the core's own, bound under Paddle's names with Paddle's arguments.
"""
from argosy import _core
from argosy._core.layers import *  # noqa: F403  # pyright: ignore[reportMissingModuleSource]
from argosy.fluid import framework as framework  # gives variables their operators
from argosy.fluid.layers import learning_rate_scheduler
from argosy.fluid.layers.learning_rate_scheduler import *  # noqa: F403

__all__ = sorted({*(name for name in vars(_core.layers) if not name.startswith("_")), *learning_rate_scheduler.__all__})  # pyright: ignore[reportUnsupportedDunderAll]
