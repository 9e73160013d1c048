"""The tensor functions of 2.x that exist for both graphs: on variables each adds operators to the default main program, on tensors the
function of the same name in argosy.dynamic computes.
"""

from argosy.dispatch import computing
from argosy.tensor.comparisons import equal as equal
from argosy.tensor.comparisons import greater_equal as greater_equal
from argosy.tensor.comparisons import greater_than as greater_than
from argosy.tensor.comparisons import is_tensor as is_tensor
from argosy.tensor.comparisons import less_equal as less_equal
from argosy.tensor.comparisons import less_than as less_than
from argosy.tensor.comparisons import logical_and as logical_and
from argosy.tensor.comparisons import logical_not as logical_not
from argosy.tensor.comparisons import logical_or as logical_or
from argosy.tensor.comparisons import logical_xor as logical_xor
from argosy.tensor.comparisons import not_equal as not_equal
from argosy.tensor.elementwise import abs as abs
from argosy.tensor.elementwise import add as add
from argosy.tensor.elementwise import add_n as add_n
from argosy.tensor.elementwise import cast as cast
from argosy.tensor.elementwise import ceil as ceil
from argosy.tensor.elementwise import clip as clip
from argosy.tensor.elementwise import cos as cos
from argosy.tensor.elementwise import divide as divide
from argosy.tensor.elementwise import erf as erf
from argosy.tensor.elementwise import exp as exp
from argosy.tensor.elementwise import floor as floor
from argosy.tensor.elementwise import floor_divide as floor_divide
from argosy.tensor.elementwise import increment as increment
from argosy.tensor.elementwise import log as log
from argosy.tensor.elementwise import maximum as maximum
from argosy.tensor.elementwise import minimum as minimum
from argosy.tensor.elementwise import mod as mod
from argosy.tensor.elementwise import multiply as multiply
from argosy.tensor.elementwise import neg as neg
from argosy.tensor.elementwise import pow as pow
from argosy.tensor.elementwise import reciprocal as reciprocal
from argosy.tensor.elementwise import remainder as remainder
from argosy.tensor.elementwise import round as round
from argosy.tensor.elementwise import rsqrt as rsqrt
from argosy.tensor.elementwise import scale as scale
from argosy.tensor.elementwise import sign as sign
from argosy.tensor.elementwise import sin as sin
from argosy.tensor.elementwise import sqrt as sqrt
from argosy.tensor.elementwise import square as square
from argosy.tensor.elementwise import subtract as subtract
from argosy.tensor.elementwise import tanh as tanh
from argosy.tensor.positions import argmax as argmax
from argosy.tensor.positions import argmin as argmin
from argosy.tensor.positions import argsort as argsort
from argosy.tensor.positions import gather as gather
from argosy.tensor.positions import gather_nd as gather_nd
from argosy.tensor.positions import index_select as index_select
from argosy.tensor.positions import nonzero as nonzero
from argosy.tensor.positions import scatter as scatter
from argosy.tensor.positions import sort as sort
from argosy.tensor.positions import topk as topk
from argosy.tensor.positions import where as where
from argosy.tensor.reductions import all as all
from argosy.tensor.reductions import any as any
from argosy.tensor.reductions import bmm as bmm
from argosy.tensor.reductions import cumsum as cumsum
from argosy.tensor.reductions import dot as dot
from argosy.tensor.reductions import matmul as matmul
from argosy.tensor.reductions import max as max
from argosy.tensor.reductions import mean as mean
from argosy.tensor.reductions import min as min
from argosy.tensor.reductions import mm as mm
from argosy.tensor.reductions import prod as prod
from argosy.tensor.reductions import sum as sum
from argosy.tensor.shapes import chunk as chunk
from argosy.tensor.shapes import concat as concat
from argosy.tensor.shapes import expand_as as expand_as
from argosy.tensor.shapes import flatten as flatten
from argosy.tensor.shapes import flip as flip
from argosy.tensor.shapes import numel as numel
from argosy.tensor.shapes import reshape as reshape
from argosy.tensor.shapes import shape as shape
from argosy.tensor.shapes import slice as slice
from argosy.tensor.shapes import split as split
from argosy.tensor.shapes import squeeze as squeeze
from argosy.tensor.shapes import stack as stack
from argosy.tensor.shapes import t as t
from argosy.tensor.shapes import tile as tile
from argosy.tensor.shapes import transpose as transpose
from argosy.tensor.shapes import unbind as unbind
from argosy.tensor.shapes import unsqueeze as unsqueeze
from argosy.tensor.shapes import unstack as unstack


def __getattr__(name):
    """What makes new tensors, and what is defined in the dynamic graph."""
    if name.startswith("_"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from argosy import creation

    return getattr(creation, name) if name in creation.__all__ else computing(__name__, name)


__all__ = [
    "abs",
    "add",
    "add_n",
    "all",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "bmm",
    "cast",
    "ceil",
    "chunk",
    "clip",
    "concat",
    "cos",
    "cumsum",
    "divide",
    "dot",
    "equal",
    "erf",
    "exp",
    "expand_as",
    "flatten",
    "flip",
    "floor",
    "floor_divide",
    "gather",
    "gather_nd",
    "greater_equal",
    "greater_than",
    "increment",
    "index_select",
    "is_tensor",
    "less_equal",
    "less_than",
    "log",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "mm",
    "mod",
    "multiply",
    "neg",
    "nonzero",
    "not_equal",
    "numel",
    "pow",
    "prod",
    "reciprocal",
    "remainder",
    "reshape",
    "round",
    "rsqrt",
    "scale",
    "scatter",
    "shape",
    "sign",
    "sin",
    "slice",
    "sort",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "subtract",
    "sum",
    "t",
    "tanh",
    "tile",
    "topk",
    "transpose",
    "unbind",
    "unsqueeze",
    "unstack",
    "where",
]
