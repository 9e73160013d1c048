"""Saving and loading under 2.x's names: a prefix for the files .pdmodel and .pdiparams, or a folder."""

import os
import tempfile

from argosy import _places
from argosy.errors import InvalidArgumentError, NotFoundError
from argosy.fluid import framework, io, state_file
from argosy.fluid.io import load, load_program_state, load_vars, save_vars, set_program_state

__all__ = [
    "save",
    "load",
    "load_program_state",
    "set_program_state",
    "save_vars",
    "load_vars",
    "save_inference_model",
    "load_inference_model",
    "normalize_program",
    "serialize_program",
    "serialize_persistables",
    "deserialize_program",
    "deserialize_persistables",
    "save_to_file",
    "load_from_file",
]


def save(program, model_path, protocol=4):
    """fluid.save; the pickle's protocol is 4.

    >>> y, exe = paddle.static.nn.fc(paddle.static.data("x", [None, 2]), 1), paddle.static.Executor()
    >>> result = exe.run(paddle.static.default_startup_program())
    >>> paddle.static.save(paddle.static.default_main_program(), "saved")
    """
    if protocol != 4:
        raise InvalidArgumentError(f"save: the files are written with protocol 4; found {protocol}")
    io.save(program, model_path)


def save_inference_model(path_prefix, feed_vars, fetch_vars, executor, program=None, clip_extra=True, legacy_format=False):
    """Writes path_prefix + .pdmodel and .pdiparams: what computes fetch_vars from feed_vars.

    The program has no attributes that only training needs, and one form: clip_extra and legacy_format change nothing.

    >>> x = paddle.static.data("x", [None, 2])
    >>> y, exe = paddle.static.nn.fc(x, 1), paddle.static.Executor()
    >>> result = exe.run(paddle.static.default_startup_program())
    >>> paddle.static.save_inference_model("exported/model", [x], [y], exe)
    """
    folder, stem = _places.split(path_prefix)
    state_file.check_prefix(os.fspath(path_prefix))
    feeds = [feed_vars] if isinstance(feed_vars, framework.Variable) else feed_vars
    program = program or (feeds[0].block.program if feeds else None)
    io.save_inference_model(folder, [var.name for var in feeds], fetch_vars, executor, program, stem + ".pdmodel", stem + ".pdiparams")


def load_inference_model(path_prefix, executor, model_filename=None, params_filename=None):
    """[program, names to feed, variables to fetch]. A folder is what fluid.io.save_inference_model wrote.

    >>> x = paddle.static.data("x", [None, 2])
    >>> y, exe = paddle.static.nn.fc(x, 1), paddle.static.Executor()
    >>> result = exe.run(paddle.static.default_startup_program())
    >>> paddle.static.save_inference_model("exported/model", [x], [y], exe)
    >>> paddle.static.load_inference_model("exported/model", exe)[1]
    ['x']
    """
    path = os.fspath(path_prefix)
    if _places.is_folder(path):
        return io.load_inference_model(path, executor, model_filename, params_filename)
    folder, stem = _places.split(path)
    model, params = model_filename or stem + ".pdmodel", params_filename or stem + ".pdiparams"
    if not _places.is_stored(path) and not os.path.exists(os.path.join(folder, model)):
        raise NotFoundError(f"{path}: neither a folder nor the prefix of a model; there is no {os.path.join(folder, model)}")
    return io.load_inference_model(folder, executor, model, params)


def normalize_program(program, feed_vars, fetch_vars, skip_prune_program=False):
    """A copy of the program with only what computes fetch_vars from feed_vars; all of it where skip_prune_program.

    >>> x = paddle.static.data("x", [None, 2])
    >>> y = paddle.static.nn.fc(x, 1)
    >>> program = paddle.static.normalize_program(paddle.static.default_main_program(), [x], [y])
    """
    names = [[var.name for var in ([vars] if isinstance(vars, framework.Variable) else vars)] for vars in (feed_vars, fetch_vars)]
    return program.clone() if skip_prune_program else program._prune(*names)


def serialize_program(feed_vars, fetch_vars, program=None):
    """The bytes of the part of the program that computes fetch_vars from feed_vars.

    >>> x = paddle.static.data("x", [None, 2])
    >>> content = paddle.static.serialize_program([x], [paddle.static.nn.fc(x, 1)])
    >>> type(paddle.static.deserialize_program(content)).__name__
    'Program'
    """
    program = framework.default_main_program() if program is None else program
    return normalize_program(program, feed_vars, fetch_vars).desc.serialize_to_string()


def _is_parameter(variable):
    return variable.persistable and variable.name not in ("feed", "fetch")


def serialize_persistables(feed_vars, fetch_vars, executor, program=None):
    """The bytes of the parameters of what computes fetch_vars from feed_vars: those of a .pdiparams file. None where there are none.

    >>> x = paddle.static.data("x", [None, 2])
    >>> y, exe = paddle.static.nn.fc(x, 1), paddle.static.Executor()
    >>> result = exe.run(paddle.static.default_startup_program())
    >>> content = paddle.static.serialize_persistables([x], [y], exe)
    >>> paddle.static.deserialize_persistables(paddle.static.default_main_program(), content, exe)
    """
    part = normalize_program(framework.default_main_program() if program is None else program, feed_vars, fetch_vars)
    if not any(map(_is_parameter, part.list_vars())):
        return None
    with tempfile.TemporaryDirectory() as folder:
        io.save_vars(executor, folder, part, predicate=_is_parameter, filename="parameters")
        return load_from_file(os.path.join(folder, "parameters"))


def deserialize_persistables(program, data, executor):
    """Gives the parameters of a program their values from bytes of serialize_persistables.

    >>> x = paddle.static.data("x", [None, 2])
    >>> y, exe = paddle.static.nn.fc(x, 1), paddle.static.Executor()
    >>> result = exe.run(paddle.static.default_startup_program())
    >>> content = paddle.static.serialize_persistables([x], [y], exe)
    >>> paddle.static.deserialize_persistables(paddle.static.default_main_program(), content, exe)
    """
    if not isinstance(data, bytes):
        raise InvalidArgumentError(f"deserialize_persistables takes bytes of serialize_persistables; found {type(data).__name__}")
    with tempfile.TemporaryDirectory() as folder:
        save_to_file(os.path.join(folder, "parameters"), data)
        io.load_vars(executor, folder, program, predicate=_is_parameter, filename="parameters")


def deserialize_program(data):
    """The program of bytes that serialize_program gave.

    >>> x = paddle.static.data("x", [None, 2])
    >>> content = paddle.static.serialize_program([x], [paddle.static.nn.fc(x, 1)])
    >>> type(paddle.static.deserialize_program(content)).__name__
    'Program'
    """
    return framework.Program.parse_from_string(data)


def save_to_file(path, content):
    """Writes bytes to a file, whole or not at all.

    >>> paddle.static.save_to_file("content", b"12")
    >>> paddle.static.load_from_file("content")
    b'12'
    """
    if not isinstance(content, bytes):
        raise InvalidArgumentError(f"save_to_file writes bytes; found {type(content).__name__}")
    state_file.write_bytes(path, content)


def load_from_file(path):
    """The bytes of a file.

    >>> paddle.static.save_to_file("content", b"12")
    >>> paddle.static.load_from_file("content")
    b'12'
    """
    with open(path, "rb") as file:
        return file.read()
