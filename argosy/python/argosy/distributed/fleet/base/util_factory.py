"""UtilBase, by the name that 2.x gives it."""

from argosy.fluid.incubate.fleet.base.util import Util as UtilBase

__all__ = ["UtilBase"]
