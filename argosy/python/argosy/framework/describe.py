"""`argosy inspect` of files that Python or libtorch has written: a checkpoint of fleet.save, a file of paddle.save (.pdparams, .pdopt), an archive.

argosy inspect checkpoint                      its arrays with sizes and norms, and the other values
argosy inspect checkpoint --diff yesterday     what differs, with status 1 where something does
"""

import argparse
import sys
import zipfile

import numpy
import torch

from argosy import _core
from argosy.errors import DataLossError, InvalidArgumentError
from argosy.fluid import state_file

__all__ = ["entries_of", "main"]

_ZIP = b"PK\x03\x04"


def entries_of(path):
    """{name: array} and {name: text of another value} of what the file holds, by names with dots between the keys."""
    with open(path, "rb") as file:
        archive = file.read(4) == _ZIP
    arrays, values = {}, {}
    _flatten(_read_archive(path) if archive else state_file.read_object(path, "paddle.save or fleet.save"), "", arrays, values)
    return arrays, values


def _read_archive(path):
    """Of C++'s fleet::save and torch::save, or of torch.save: tensors, and nothing that would have to be run."""
    import torch

    _refuse_code_that_runs(path)
    try:
        module = torch.jit.load(path, map_location="cpu")
    except RuntimeError:
        try:
            return torch.load(path, map_location="cpu", weights_only=True)
        except Exception as error:
            raise DataLossError(f"{path}: not an archive of libtorch's tensors: {str(error).splitlines()[0]}") from None
    return dict(module.state_dict())


def _refuse_code_that_runs(path):
    """torch.jit.load runs the __setstate__ of an archive's own classes, with weights_only or without: such an archive stays closed."""
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if "/code/" in name and name.endswith(".py") and b"__setstate__" in archive.read(name):
                    raise InvalidArgumentError(
                        f"{path}: its '{name}' has a __setstate__, which would run when it is opened; save the module's state_dict() instead"
                    )
    except zipfile.BadZipFile as error:
        raise DataLossError(f"{path}: not an archive of libtorch's tensors: {error}") from None


def _flatten(found, name, arrays, values):
    if isinstance(found, dict):
        for key, value in found.items():
            _flatten(value, f"{name}.{key}" if name else str(key), arrays, values)
        return
    array = _array_of(found)
    if array is None and isinstance(found, (list, tuple)) and any(isinstance(one, (dict, list, tuple, numpy.ndarray)) for one in found):
        for i, value in enumerate(found):
            _flatten(value, f"{name}.{i}" if name else str(i), arrays, values)
    elif array is None:
        values[name] = repr(found)
    else:
        arrays[name] = array


def _array_of(found):
    """As the core takes it; nothing where it is no tensor. Names of parameters stand beside their arrays in a file of PaddlePaddle."""
    if isinstance(found, tuple) and len(found) == 2 and isinstance(found[0], str) and isinstance(found[1], numpy.ndarray):
        found = found[1]
    if isinstance(found, torch.Tensor):  # bfloat16 has no form in NumPy
        found = (found.float() if found.dtype == torch.bfloat16 else found).detach().numpy()
    if not isinstance(found, (numpy.ndarray, numpy.generic)) or found.dtype.kind not in "fiub":
        return None
    return numpy.require(found, found.dtype.newbyteorder("="), "C")


def _summary(path):
    arrays, values = entries_of(path)
    size = sum(array.nbytes for array in arrays.values())
    lines = [str(path), f"tensors ({len(arrays)}, {sum(array.size for array in arrays.values()):,} numbers, {size:,} bytes):"]
    lines += [f"  {name:<32} {_core.tensor_line(array)}" for name, array in arrays.items()]
    if values:
        lines += [f"values ({len(values)}):", *(f"  {name:<32} {value}" for name, value in values.items())]
    if ledger := state_file.ledger_of(path):
        lines += ["ledger:", ledger]
    return "\n".join(lines)


def _differences(path, other):
    (ours, our_values), (theirs, their_values) = entries_of(path), entries_of(other)
    lines = [f"'{name}' is in {path} alone" for name in ours.keys() - theirs.keys()]
    lines += [f"'{name}' is in {other} alone" for name in theirs.keys() - ours.keys()]
    for name in ours.keys() & theirs.keys():
        if difference := _core.tensor_difference(ours[name], theirs[name]):
            lines.append(f"'{name}': {difference}")
    for name in our_values.keys() | their_values.keys():
        pair = [values.get(name, "nothing") for values in (our_values, their_values)]
        if pair[0] != pair[1]:
            lines.append(f"'{name}': {pair[0]} against {pair[1]}")
    return sorted(lines), len(ours)


def main(arguments=None):
    """Shows what the command line asks for; returns the status to end with."""
    parser = argparse.ArgumentParser(prog="argosy inspect", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", help="a checkpoint, or a file of paddle.save")
    parser.add_argument("--diff", metavar="OTHER", help="another one: what differs, with status 1 where something does")
    parser.add_argument("--raw", action="store_true", help="of models only")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.raw:
            parser.error(f"'{chosen.path}' has tensors and no program; --raw shows the program of a model")
        if not chosen.diff:
            print(_summary(chosen.path))
            return 0
        lines, count = _differences(chosen.path, chosen.diff)
    except (OSError, RuntimeError, ValueError) as error:
        sys.stderr.write(f"argosy: {error}\n")
        return 1
    print("\n".join(lines) if lines else f"equal: {count} tensors")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
