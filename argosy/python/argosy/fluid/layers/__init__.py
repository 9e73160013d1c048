"""Layer functions: each adds operators to the default programs and returns what they compute.

Most are the core's own, bound under Paddle's names with Paddle's arguments.
"""
from argosy import _core
from argosy.fluid import framework  # gives variables their operators
from argosy.fluid.layers.learning_rate_scheduler import (cosine_decay, exponential_decay, inverse_time_decay, linear_lr_warmup,
                                                         natural_exp_decay, noam_decay, piecewise_decay, polynomial_decay)

_CORE = {name: function for name, function in vars(_core.layers).items() if not name.startswith("_")}
globals().update(_CORE)
__all__ = sorted({*_CORE, "cosine_decay", "exponential_decay", "inverse_time_decay", "linear_lr_warmup", "natural_exp_decay", "noam_decay",
                  "piecewise_decay", "polynomial_decay"})
