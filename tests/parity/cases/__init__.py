"""Every function that both front ends have, with inputs and attributes: see table.py for what a case is."""

import importlib

from cases.table import CASES, NAMES

TABLES = {
    "fluid": ("tensor", "nn", "losses", "sequence", "recurrent", "sampling", "training", "python", "further"),
    "static": ("static_functions", "static_training"),
}


def load(dialect):
    """The cases of a dialect, and the names that their calls use."""
    for table in TABLES[dialect.name]:
        importlib.import_module("cases." + table)
    return CASES, dict(NAMES, **dialect.names())
