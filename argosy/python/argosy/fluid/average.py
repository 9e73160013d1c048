"""A mean over batches."""

from typing import Any

import numpy

from argosy.errors import FailedPreconditionError, InvalidArgumentError

__all__ = ["WeightedAverage"]


class WeightedAverage:
    """The mean of values, each with its weight.

    >>> average = fluid.average.WeightedAverage()
    >>> average.add(value=2.0, weight=1)
    >>> average.add(value=4.0, weight=3)
    >>> average.eval()
    3.5
    """

    def __init__(self):
        self.reset()

    def reset(self):
        """Starts again."""
        self.numerator: Any = None
        self.denominator: Any = None

    def add(self, value: Any, weight: Any):
        """value: a number or an array; weight: a number."""
        known: Any = (int, float, numpy.generic)
        if not isinstance(value, (*known, numpy.ndarray)) or not isinstance(weight, known):
            raise InvalidArgumentError(
                f"WeightedAverage.add takes a number or an array, and a number as its weight; found {type(value).__name__} and {type(weight).__name__}"
            )
        self.numerator = value * weight if self.numerator is None else self.numerator + value * weight
        self.denominator = weight if self.denominator is None else self.denominator + weight

    def eval(self):
        """The mean so far."""
        if self.numerator is None or self.denominator is None or not self.denominator:
            raise FailedPreconditionError("WeightedAverage.eval: there is nothing to average; add() comes first")
        return self.numerator / self.denominator
