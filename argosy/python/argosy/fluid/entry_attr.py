"""paddle.distributed's entries under the name that they had in fluid."""

from argosy.distributed.entry_attr import CountFilterEntry, EntryAttr, ProbabilityEntry

__all__ = ["ProbabilityEntry", "CountFilterEntry", "EntryAttr"]
