"""A table of a program's parameters."""

import math

from argosy.fluid.contrib.statistics import _check

__all__ = ["summary"]


def summary(main_prog):
    """Prints the trained parameters of a program with their shapes and sizes, and returns how many numbers they have.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 4]), 2)
    >>> fluid.contrib.model_stat.summary(fluid.default_main_program())
    fc_0.w_0                                 [4, 2]                          8
    fc_0.b_0                                 [2]                             2
    total                                                                   10
    10
    """
    _check(main_prog, "summary")
    total = 0
    for one in main_prog.all_parameters():
        count = math.prod(one.shape)
        total += count
        print(f"{one.name:<40} {list(one.shape)!s:<20} {count:>12}")
    print(f"{'total':<40} {'':<20} {total:>12}")
    return total
