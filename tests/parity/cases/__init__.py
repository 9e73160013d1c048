"""Every function that both front ends have, with inputs and attributes: see table.py for what a case is."""
from cases import losses, nn, recurrent, sampling, sequence, tensor, training  # noqa: F401  (importing fills the table)
from cases.table import CASES, NAMES  # noqa: F401
