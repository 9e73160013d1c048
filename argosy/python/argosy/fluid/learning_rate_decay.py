"""The decay functions of fluid.layers under the module name that they had before 1.0."""

from argosy.fluid.layers.learning_rate_scheduler import *  # noqa: F403
from argosy.fluid.layers.learning_rate_scheduler import __all__ as __all__
