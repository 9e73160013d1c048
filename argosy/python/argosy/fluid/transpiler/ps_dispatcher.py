"""How blocks of dense parameters are dealt to servers: values for DistributeTranspilerConfig.split_method."""

__all__ = ["HashName", "PSDispatcher", "RoundRobin"]


class PSDispatcher:
    """What the ways to deal have in common."""


class RoundRobin(PSDispatcher):
    """One server after the other: the only way there is.

    >>> from paddle.fluid.transpiler.ps_dispatcher import RoundRobin
    """


class HashName(PSDispatcher):
    """By a hash of the name. Refused: it leaves servers without work.

    >>> from paddle.fluid.transpiler.ps_dispatcher import HashName
    """
