"""The files of fluid.save: pickled dicts from names to arrays, and nothing else.

They are written in a form that any version of NumPy reads. Reading takes arrays, texts, numbers, lists, tuples and dicts only: a
pickle that calls anything else is refused, because running what a file says is not loading it.
"""

import io
import mmap
import os
import pickle
import tempfile

import numpy

from argosy import _core, _places
from argosy.errors import DataLossError, InvalidArgumentError, NotFoundError

__all__ = ["check_prefix", "write", "write_bytes", "loads", "read_object", "read_prefix", "read_folder"]

_ALLOWED = {
    ("numpy", "ndarray"): numpy.ndarray,
    ("numpy", "dtype"): numpy.dtype,
    ("numpy.core.multiarray", "_reconstruct"): None,
    ("numpy._core.multiarray", "_reconstruct"): None,
    ("numpy.core.multiarray", "scalar"): None,
    ("numpy._core.multiarray", "scalar"): None,
    ("_codecs", "encode"): None,
    ("collections", "OrderedDict"): None,
    ("builtins", "tuple"): None,
    ("builtins", "set"): None,
}


_LARGE = 256 << 20  # bytes of arrays, from which on a file goes to the disk piece by piece


class _Pickler(pickle.Pickler):
    def reducer_override(self, value):
        if not isinstance(value, numpy.ndarray):
            return NotImplemented
        whole = numpy.ascontiguousarray(value)
        return numpy.ndarray, (value.shape, value.dtype.str, whole.tobytes())


class _Unpickler(pickle.Unpickler):
    def find_class(self, module, name):
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"it holds a {module}.{name}, which is no array")
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def check_prefix(model_path):
    if not os.path.basename(model_path):
        raise InvalidArgumentError(f"model_path is a folder and the first part of a file name, such as 'model/ctr'; found {model_path!r}")
    if _places.is_stored(model_path) and "?" in model_path:
        raise InvalidArgumentError(f"model_path is the first part of a name, and {model_path!r} has settings behind it; set AWS_REGION, …")


def write_bytes(path, data):
    """The whole file or none of it: a kill leaves the old one."""
    _places.make_parent(path)
    _core.write_file(os.fspath(path), data)


def write(path, state, protocol=4):
    """To a file, the whole or nothing of it, or into an open io.BytesIO."""
    if isinstance(path, io.BytesIO):
        _Pickler(path, protocol=protocol).dump(state)
        return
    if _bytes_of(state) > _LARGE:
        _write_large(path, state, protocol)
        return
    buffer = io.BytesIO()
    _Pickler(buffer, protocol=protocol).dump(state)
    write_bytes(path, buffer.getbuffer())


def _bytes_of(state):
    """Of the arrays in it."""
    if isinstance(state, numpy.ndarray):
        return state.nbytes
    members = state.values() if isinstance(state, dict) else state if isinstance(state, (list, tuple)) else ()
    return sum(map(_bytes_of, members))


def _write_large(path, state, protocol):
    """By way of a second file beside it, so that what is saved is in memory once, and one array of it twice."""
    _places.make_parent(path)
    with tempfile.TemporaryFile(dir=_places.scratch_folder(path)) as file:
        pickler = _Pickler(file, protocol=protocol)
        pickler.fast = True  # it would keep a copy of every array that it has written
        pickler.dump(state)
        file.flush()
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
            _core.write_file(os.fspath(path), whole)


_DAMAGE = (pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError, IndexError, KeyError, UnicodeDecodeError)


def loads(file, what, encoding="bytes"):
    """What an open file holds. Anything that is not made of arrays is an error that begins with `what`."""
    try:
        return _Unpickler(file, encoding=encoding).load()
    except _DAMAGE as error:
        raise DataLossError(f"{what}: {error}") from None


def read_object(path, writer="fluid.save"):
    """What a file holds, whatever is made of arrays."""
    if _places.is_stored(path):
        return loads(io.BytesIO(_places.read(path)), f"{path}: not a file of {writer}", "latin1")
    try:
        with open(_places.local(path), "rb") as file:
            return loads(file, f"{path}: not a file of {writer}", "latin1")
    except FileNotFoundError:
        raise NotFoundError(f"{path}: no such file; {writer} writes it") from None


def _read(path):
    state = read_object(path)
    if not isinstance(state, dict) or not all(isinstance(value, numpy.ndarray) for value in state.values()):
        raise DataLossError(f"{path}: not a dict from names to arrays")
    return state


def read_prefix(model_path):
    """The dict of model_path.pdparams, with that of .pdopt where there is one."""
    check_prefix(model_path)
    stem = model_path.removesuffix(".pdparams").removesuffix(".pdopt").removesuffix(".pdmodel")
    state = _read(stem + ".pdparams")
    if _places.exists(stem + ".pdopt"):
        state |= _read(stem + ".pdopt")
    return state


def write_ledger(model_path, text):
    """What the values beside it were trained on. Of values that no servers held, there is none, and one of other values goes."""
    path = model_path + ".pdledger"
    if text:
        write_bytes(path, text.encode())
    elif os.path.isfile(path):
        os.remove(path)


def ledger_of(path):
    """The text of the ledger beside a file that save() wrote; empty: there is none."""
    stem, ending = os.path.splitext(path)
    if ending not in (".pdparams", ".pdopt") or not os.path.isfile(stem + ".pdledger"):
        return ""
    with open(stem + ".pdledger", encoding="utf-8") as file:
        return file.read()


def read_folder(folder):
    """The dict of a folder of tensor files, each named after its variable."""
    state = {}
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if os.path.isfile(path) and name not in ("__model__", "__ledger__"):
            with open(path, "rb") as file:
                state[name] = _core.decode_tensor(file.read())  # pyright: ignore[reportArgumentType]
    return state
