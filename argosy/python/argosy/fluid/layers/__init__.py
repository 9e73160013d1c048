"""Layer functions: each adds operators to the default programs and returns what they compute.

Most are the core's own, bound under Paddle's names with Paddle's arguments. On tensors, in the dynamic graph of 1.8, the function of the same
name in argosy.dynamic.fluid_layers computes.
"""

from argosy import _core
from argosy._core.layers import *  # noqa: F403  # pyright: ignore[reportMissingModuleSource]
from argosy.fluid import framework as framework  # gives variables their operators
from argosy.fluid.layers import blocks, both, learning_rate_scheduler, of_paddle, readers, with_parameters
from argosy.fluid.layers.blocks import *  # noqa: F403
from argosy.fluid.layers.learning_rate_scheduler import *  # noqa: F403
from argosy.fluid.layers.of_paddle import *  # noqa: F403
from argosy.fluid.layers.readers import *  # noqa: F403
from argosy.fluid.layers.with_parameters import *  # noqa: F403

_CORE = [name for name in vars(_core.layers) if not name.startswith("_")]
globals().update({name: both.on_tensors(getattr(_core.layers, name)) for name in _CORE})
__all__ = sorted({*_CORE, *blocks.__all__, *learning_rate_scheduler.__all__, *of_paddle.__all__, *readers.__all__, *with_parameters.__all__})  # pyright: ignore[reportUnsupportedDunderAll]
_MODULES = "nn tensor control_flow io ops loss rnn sequence_lod metric_op detection device utils".split()


def __getattr__(name):
    if name in _MODULES:
        import importlib

        return importlib.import_module(f"argosy.fluid.layers.{name}")
    raise AttributeError(f"module 'paddle.fluid.layers' has no attribute '{name}'")
