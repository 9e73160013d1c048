"""Numbers about a program."""

import collections
import math

from argosy.errors import InvalidArgumentError
from argosy.fluid import framework

__all__ = ["memory_usage", "op_freq_statistic"]

_UNITS = ("B", "KB", "MB")
_BYTES = {"float64": 8, "int64": 8, "float32": 4, "int32": 4, "float16": 2, "bfloat16": 2, "int16": 2, "int8": 1, "uint8": 1, "bool": 1}


def _check(program, what):
    if not isinstance(program, framework.Program):
        raise InvalidArgumentError(f"{what} takes a Program; found {type(program).__name__}")


def memory_usage(program, batch_size):
    """(lower, upper, unit): the memory that the variables of one run take, from 5 % more to 10 % more than their sizes.

    >>> x = fluid.data("x", [None, 1024])
    >>> fluid.contrib.memory_usage(fluid.default_main_program(), batch_size=1)
    (4.2, 4.4, 'KB')
    """
    _check(program, "memory_usage")
    if batch_size <= 0:
        raise InvalidArgumentError(f"memory_usage: batch_size is above 0; found {batch_size}")
    total = 0.0
    for variable in program.list_vars():
        try:
            sizes, width = list(variable.shape), _BYTES[framework._core.dtype_name(variable.dtype)]
        except (AttributeError, KeyError, RuntimeError, TypeError):
            continue  # no tensor, as a reader
        total += width * math.prod(batch_size if size < 0 else size for size in sizes)
    unit = 0
    while total > 1024 and unit + 1 < len(_UNITS):
        total, unit = total / 1024, unit + 1
    return total * 1.05, total * 1.1, _UNITS[unit]


def op_freq_statistic(program):
    """({operator: how many}, {operator->operator that reads of it: how many}), each from the most frequent on.

    >>> y = fluid.layers.relu(fluid.layers.relu(fluid.data("x", [None, 2])))
    >>> single, pairs = fluid.contrib.op_freq_statistic(fluid.default_main_program())
    >>> dict(single), dict(pairs)
    ({'relu': 2}, {'relu->relu': 1})
    """
    _check(program, "op_freq_statistic")
    single, pairs, writer = collections.Counter(), collections.Counter(), {}
    for op in program.global_block().ops:
        single[op.type] += 1
        for name in op.input_arg_names:
            if name in writer:
                pairs[f"{writer[name]}->{op.type}"] += 1
        writer.update(dict.fromkeys(op.output_arg_names, op.type))
    return tuple(collections.OrderedDict(one.most_common()) for one in (single, pairs))
