"""fluid.dygraph: 1.x's names of the dynamic graph."""
from argosy.distributed.environment import ParallelEnv
from argosy.distributed.parallel import DataParallel
from argosy.dynamic.creation import to_tensor
from argosy.dynamic.gradients import grad, no_grad
from argosy.dynamic.tensor import Tensor
from argosy.framework.io import load, save_state
from argosy.graph_mode import disable_static as enable_dygraph
from argosy.graph_mode import enable_static as disable_dygraph
from argosy.graph_mode import guard
from argosy.graph_mode import in_dygraph_mode as enabled
from argosy.nn.containers import LayerList, ParameterList, Sequential
from argosy.nn.layer import Layer
from argosy.nn.norm import BatchNorm

__all__ = ["guard", "enabled", "enable_dygraph", "disable_dygraph", "to_variable", "no_grad", "grad", "Layer", "LayerList", "ParameterList", "Sequential",
           "BatchNorm", "DataParallel", "ParallelEnv", "save_dygraph", "load_dygraph"]


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


def save_dygraph(state_dict, model_path):
    """Writes model_path.pdparams, or .pdopt of an optimizer's state.

    >>> fluid.save_dygraph(nn.Linear(2, 1).state_dict(), "linear")
    >>> parameters, optimizer = fluid.load_dygraph("linear")
    >>> sorted(parameters)
    ['bias', 'weight']
    """
    save_state(state_dict, model_path)


def load_dygraph(model_path, **configs):
    """(parameters, optimizer's state) that save_dygraph wrote, None for one that is not there.

    >>> fluid.save_dygraph(nn.Linear(2, 1).state_dict(), "linear")
    >>> parameters, optimizer = fluid.load_dygraph("linear")
    >>> sorted(parameters)
    ['bias', 'weight']
    """
    stem = model_path.removesuffix(".pdparams").removesuffix(".pdopt")
    return load(stem, **configs)
