"""Metrics over all workers, from what each has counted. A value is an array, a number, a Variable or its name; the two last are
looked up in `scope`."""

from typing import Any

import numpy

from argosy import _core
from argosy.errors import NotFoundError
from argosy.fluid import executor, framework

__all__ = ["acc", "auc", "mae", "max", "min", "mse", "rmse", "sum"]


def _util(util):
    if util is not None:
        return util
    from argosy.distributed import fleet

    return fleet.util


def _local(value, scope):
    if not isinstance(value, (str, framework.Variable)):
        return numpy.asarray(value)
    name: Any = getattr(value, "name", value)
    found = (executor.global_scope() if scope is None else scope).find_var(name)
    if found is None:
        raise NotFoundError(f"variable '{name}' has no value in the scope; run the program first")
    return numpy.asarray(found.get_tensor())


def _total(value, scope, util, mode="sum"):
    return _util(util).all_reduce(_local(value, scope), mode)


def _number(value, scope, util):
    return float(numpy.sum(_total(value, scope, util)))


def _ratio(part, whole, scope, util):
    part, whole = _number(part, scope, util), _number(whole, scope, util)
    return part / whole if whole else 0.0


def sum(input, scope=None, util=None):
    """The sum over all workers, element by element, of an array, a variable or its name.

    >>> paddle.distributed.fleet.init(is_collective=True)
    >>> paddle.distributed.fleet.metrics.sum([1.0, 2.0])
    array([1., 2.])
    """
    return _total(input, scope, util)


def max(input, scope=None, util=None):
    """The largest over all workers, element by element, of an array, a variable or its name.

    >>> paddle.distributed.fleet.init(is_collective=True)
    >>> paddle.distributed.fleet.metrics.max([1.0, 2.0])
    array([1., 2.])
    """
    return _total(input, scope, util, "max")


def min(input, scope=None, util=None):
    """The smallest over all workers, element by element, of an array, a variable or its name.

    >>> paddle.distributed.fleet.init(is_collective=True)
    >>> paddle.distributed.fleet.metrics.min([1.0, 2.0])
    array([1., 2.])
    """
    return _total(input, scope, util, "min")


def auc(stat_pos, stat_neg, scope=None, util=None):
    """The area under the ROC curve of all workers' samples, exact for the buckets of layers.auc, whose states these are.

    >>> paddle.distributed.fleet.init(is_collective=True)
    >>> print(paddle.distributed.fleet.metrics.auc([0.0, 3.0], [3.0, 0.0]))
    1.0
    """
    positive, negative = (_total(value, scope, util).astype("int64").ravel() for value in (stat_pos, stat_neg))
    return _core.auc_of_counts(positive, negative)  # pyright: ignore[reportArgumentType]


def mae(abserr, total_ins_num, scope=None, util=None):
    """The mean absolute error of all workers' samples, of its sum and the number of samples.

    >>> paddle.distributed.fleet.init(is_collective=True)
    >>> print(paddle.distributed.fleet.metrics.mae([6.0], 4))
    1.5
    """
    return _ratio(abserr, total_ins_num, scope, util)


def mse(sqrerr, total_ins_num, scope=None, util=None):
    """The mean squared error of all workers' samples, of its sum and the number of samples.

    >>> paddle.distributed.fleet.init(is_collective=True)
    >>> print(paddle.distributed.fleet.metrics.mse([6.0], 4))
    1.5
    """
    return _ratio(sqrerr, total_ins_num, scope, util)


def rmse(sqrerr, total_ins_num, scope=None, util=None):
    """The root of the mean squared error of all workers' samples, of the sum of squares and the number of samples.

    >>> paddle.distributed.fleet.init(is_collective=True)
    >>> print(paddle.distributed.fleet.metrics.rmse([16.0], 4))
    2.0
    """
    return mse(sqrerr, total_ins_num, scope, util) ** 0.5


def acc(correct, total, scope=None, util=None):
    """The fraction of all workers' samples that are right.

    >>> paddle.distributed.fleet.init(is_collective=True)
    >>> print(paddle.distributed.fleet.metrics.acc([3.0], [4.0]))
    0.75
    """
    return _ratio(correct, total, scope, util)
