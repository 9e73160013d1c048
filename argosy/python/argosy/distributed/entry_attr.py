"""Which new keys a sparse table admits: the argument `entry` of paddle.static.nn.sparse_embedding."""

__all__ = ["CountFilterEntry", "ProbabilityEntry", "ShowClickEntry"]


class EntryAttr:
    """What the entries share."""

    def _to_attr(self):
        """As the lookup operator has it."""
        raise NotImplementedError("use CountFilterEntry, ProbabilityEntry or ShowClickEntry")


class ProbabilityEntry(EntryAttr):
    """A key of a sparse table is admitted with this probability; the same keys on every run. For static.nn.sparse_embedding.

    >>> entry = paddle.distributed.ProbabilityEntry(0.1)
    """

    def __init__(self, probability):
        if not isinstance(probability, float) or not 0 < probability < 1:
            raise ValueError(f"ProbabilityEntry: the probability is a float between 0 and 1; found {probability!r}")
        self._probability = probability

    def _to_attr(self):
        return f"probability_entry:{self._probability}"


class CountFilterEntry(EntryAttr):
    """A key of a sparse table is admitted once it has been seen so many times. For static.nn.sparse_embedding.

    >>> entry = paddle.distributed.CountFilterEntry(10)
    """

    def __init__(self, count_filter):
        if not isinstance(count_filter, int) or isinstance(count_filter, bool) or count_filter < 0:
            raise ValueError(f"CountFilterEntry: the count is an integer, 0 or more; found {count_filter!r}")
        self._count_filter = count_filter

    def _to_attr(self):
        return f"count_filter_entry:{self._count_filter}"


class ShowClickEntry(EntryAttr):
    """Keys of a sparse table keep how often they were shown and clicked, which two variables of the program say.

    >>> entry = paddle.distributed.ShowClickEntry("show", "click")
    """

    def __init__(self, show_name, click_name):
        if not isinstance(show_name, str) or not isinstance(click_name, str):
            raise ValueError(f"ShowClickEntry takes the names of two variables; found {show_name!r} and {click_name!r}")
        self._show_name, self._click_name = show_name, click_name

    def _to_attr(self):
        return f"show_click_entry:{self._show_name}:{self._click_name}"
