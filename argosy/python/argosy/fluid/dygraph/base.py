"""Switching to the dynamic graph, its tensors and gradients."""

from argosy.dynamic.creation import to_tensor
from argosy.dynamic.gradients import grad, no_grad
from argosy.dynamic.tensor import Tensor
from argosy.graph_mode import disable_dygraph, enable_dygraph, guard
from argosy.graph_mode import in_dygraph_mode as enabled

__all__ = ["no_grad", "grad", "guard", "enable_dygraph", "disable_dygraph", "enable_imperative", "disable_imperative", "enabled", "to_variable"]

enable_imperative, disable_imperative = enable_dygraph, disable_dygraph


def to_variable(value, name=None, zero_copy=None, dtype=None):
    """A tensor of an array; a tensor as it is.

    >>> fluid.dygraph.to_variable(np.ones(2, "float32")).tolist()
    [1.0, 1.0]
    """
    if isinstance(value, Tensor):
        return value
    made = to_tensor(value, dtype)
    made._name = name
    return made
