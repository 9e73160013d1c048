"""paddle.distributed.fleet.recompute: where 2.x has the functions of fleet.utils."""

from argosy.distributed.fleet.utils.recomputing import recompute, recompute_sequential

__all__ = ["recompute", "recompute_sequential"]
