"""State dicts in files, by 1.8's names of them."""

from argosy.framework.io import load, save_state

__all__ = ["save_dygraph", "load_dygraph"]


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
