"""First values of parameters under the name that early scripts of 2.0, PaddleRec's among them, have for paddle.fluid.initializer; 2.6.2 has no such name."""

from argosy.fluid.initializer import *  # noqa: F403
from argosy.fluid.initializer import __all__ as __all__
