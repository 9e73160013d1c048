"""paddle.save and paddle.load: PaddlePaddle 2.x's pickles of states, and of anything that is made of tensors, numbers, texts, lists and dicts.

A state dict is {name: array} with the parameters' own names under StructuredToParameterName@@; a tensor elsewhere is (name, array). A file is
written whole under a name of its own and renamed, so that several processes may save to one path. Reading runs nothing that a file says.
"""

import io
import os
import pickle
from typing import Any

import numpy
import torch

from argosy import _core, _places, graph_mode
from argosy.dynamic.creation import to_tensor
from argosy.dynamic.tensor import Parameter, Tensor
from argosy.errors import InvalidArgumentError, NotFoundError
from argosy.fluid import state_file

__all__ = ["save", "load", "save_state", "tensors_of"]

_NAMES = "StructuredToParameterName@@"


_VALUES = (Tensor, _core.Variable, _core.LoDTensor)  # of the dynamic graph; of programs, whose values are in the global scope; and such values


def _array(value):
    if isinstance(value, Tensor):
        return value.numpy()
    return _core.to_array(value if isinstance(value, _core.LoDTensor) else value.get_value())


def _holds_tensor(value):
    if isinstance(value, dict):
        return any(map(_holds_tensor, value.values()))
    return any(map(_holds_tensor, value)) if isinstance(value, (list, tuple, set)) else isinstance(value, _VALUES)


def _is_state(value):
    """Names of tensors, and dicts of other things, such as a scheduler's."""
    return isinstance(value, dict) and all(isinstance(one, _VALUES) or (isinstance(one, dict) and not _holds_tensor(one)) for one in value.values())


def _plain(value):
    """`value` with (name, array) for tensors."""
    if isinstance(value, _VALUES):
        return getattr(value, "name", ""), _array(value)
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(one) for one in value)
    if isinstance(value, (str, bytes, int, float, bool, type(None), numpy.ndarray, numpy.generic, set)):
        return value
    raise InvalidArgumentError(
        f"paddle.save takes tensors, arrays, numbers, texts, lists and dicts; found {type(value).__name__}; of a layer or an optimizer save its state_dict()"
    )


def save(obj, path, protocol=4, **configs):
    """Writes a state dict or another object of tensors, to a file or into an io.BytesIO.

    >>> layer = nn.Linear(2, 1)
    >>> paddle.save(layer.state_dict(), "linear.pdparams")
    >>> layer.set_state_dict(paddle.load("linear.pdparams"))
    ([], [])
    """
    if configs:
        raise InvalidArgumentError(f"paddle.save has no option {', '.join(configs)}")
    if not isinstance(protocol, int) or not 2 <= protocol <= pickle.HIGHEST_PROTOCOL:
        raise InvalidArgumentError(f"protocol is a number from 2 to {pickle.HIGHEST_PROTOCOL}; found {protocol!r}")
    if not isinstance(path, io.BytesIO) and not os.path.basename(path):
        raise InvalidArgumentError(f"paddle.save: the path has no file name: {path!r}")
    if _is_state(obj):
        plain = {key: _array(value) if isinstance(value, _VALUES) else value for key, value in obj.items()}
        plain[_NAMES] = {key: getattr(value, "name", key) for key, value in obj.items() if isinstance(value, _VALUES)}
    else:
        plain = _plain(obj)
    state_file.write(path, plain, protocol)


def save_state(state_dict, path, protocol=4, **configs):
    """As save; a state dict goes to path.pdparams, or path.pdopt where it holds no parameter, unless the path has an extension.

    >>> paddle.framework.save(nn.Linear(2, 1).state_dict(), "linear")
    >>> sorted(paddle.load("linear.pdparams"))
    ['bias', 'weight']
    """
    if _is_state(state_dict) and not isinstance(path, io.BytesIO) and not os.path.splitext(path)[1]:
        path += ".pdparams" if any(isinstance(value, (Parameter, _core.Parameter)) for value in state_dict.values()) else ".pdopt"
    save(state_dict, path, protocol, **configs)


def _tensor(values):
    if values.dtype == numpy.uint16:  # bfloat16's bits
        return Tensor(torch.from_numpy(values.copy()).view(torch.bfloat16))
    return to_tensor(values)


def _is_named(value):
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], numpy.ndarray)


def _contains_named(value):
    if isinstance(value, dict):
        return any(map(_contains_named, value.values()))
    return _is_named(value) or (isinstance(value, (list, tuple)) and any(map(_contains_named, value)))


def _loaded(value, named, return_numpy):
    """`value` with tensors for (name, array) where there are such pairs, and otherwise for arrays."""
    if _is_named(value) if named else isinstance(value, numpy.ndarray):
        name, values = value if named else (None, value)
        if return_numpy:
            return values
        made = _tensor(values)
        made._name = name
        return made
    if isinstance(value, dict):
        return {key: _loaded(one, named, return_numpy) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_loaded(one, named, return_numpy) for one in value)
    return value


def tensors_of(found, return_numpy=False) -> Any:
    """What a file of save held, with tensors in it."""
    return _loaded(found, _contains_named(found), return_numpy)


def _opened(found, return_numpy, keep_name_table):
    names = found.pop(_NAMES, None) if isinstance(found, dict) else None
    result = tensors_of(found, return_numpy or not graph_mode.in_dynamic_mode())
    return {**result, _NAMES: names} if keep_name_table and names is not None else result


def load(path, return_numpy=False, keep_name_table=False) -> Any:
    """What save wrote, here or in PaddlePaddle, from a file or from where an io.BytesIO stands. A prefix gives (what its .pdparams holds, what its
    .pdopt holds), None for one that is not there.

    >>> paddle.save({"step": 3, "mean": paddle.ones([2])}, "state.pd")
    >>> found = paddle.load("state.pd")
    >>> found["step"], found["mean"].tolist()
    (3, [1.0, 1.0])
    """
    if isinstance(path, io.BytesIO):
        return _opened(
            state_file.loads(path, "paddle.load: the io.BytesIO holds, from where it stands, nothing of paddle.save", "latin1"), return_numpy, keep_name_table
        )
    if _places.exists(path) and not _places.is_folder(path):
        return _opened(state_file.read_object(path, "paddle.save"), return_numpy, keep_name_table)
    parts = [path + suffix if _places.exists(path + suffix) else None for suffix in (".pdparams", ".pdopt")]
    if not any(parts):
        raise NotFoundError(f"{path}: no such file, nor {path}.pdparams or {path}.pdopt")
    return tuple(None if part is None else load(part, return_numpy, keep_name_table) for part in parts)
