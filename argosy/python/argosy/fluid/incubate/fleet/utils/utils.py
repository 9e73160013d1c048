"""Programs in files."""

import os

from argosy.errors import InvalidArgumentError, UnimplementedError
from argosy.fluid import framework

__all__ = ["load_program", "save_program", "parse_program", "check_pruned_program_vars"]
_INSTEAD = {
    "program_type_trans": "save_program(load_program(path)): programs are written in their binary form",
    "check_saved_vars_try_dump": "fluid.io.load_inference_model(folder, executor), which says what does not fit",
    "graphviz": "parse_program(program, folder), which writes it as text",
}


def __getattr__(name):
    if name in _INSTEAD:
        raise AttributeError(f"fleet.utils.utils.{name} is not here; use {_INSTEAD[name]}")
    raise AttributeError(f"module 'paddle.fluid.incubate.fleet.utils.utils' has no attribute '{name}'")


def _refuse_text(is_text):
    if is_text:
        raise UnimplementedError("programs are read and written in their binary form; leave is_text=False")


def load_program(model_filename, is_text=False):
    """The program of a file, such as __model__.

    >>> from paddle.fluid.incubate.fleet.utils.utils import load_program, save_program
    >>> save_program(fluid.default_main_program(), "__model__")
    >>> len(load_program("__model__").global_block().ops)
    0
    """
    _refuse_text(is_text)
    with open(model_filename, "rb") as file:
        return framework.Program.parse_from_string(file.read())  # pyright: ignore[reportArgumentType]


def save_program(program, model_filename="__model__", is_text=False):
    """Writes a program to a file.

    >>> from paddle.fluid.incubate.fleet.utils.utils import save_program
    >>> save_program(fluid.default_main_program(), "__model__")
    """
    _refuse_text(is_text)
    with open(model_filename, "wb") as file:
        file.write(program.desc.serialize_to_string())


def parse_program(program, output_dir):
    """Writes a program as text to output_dir/vars_all.log (its variables) and output_dir/ops.log (its operators).

    >>> from paddle.fluid.incubate.fleet.utils.utils import parse_program
    >>> parse_program(fluid.default_main_program(), ".")
    """
    block = program.global_block()
    lists = {"vars_all.log": [str(one) for one in block.vars.values()], "ops.log": [str(one) for one in block.ops]}
    for name, lines in lists.items():
        with open(os.path.join(output_dir, name), "w", encoding="utf-8") as file:
            file.writelines(line.rstrip("\n") + "\n" for line in lines)


def check_pruned_program_vars(train_prog, pruned_prog):
    """True where every persistable variable of the pruned program is one of the other, of the same shape and type.

    >>> from paddle.fluid.incubate.fleet.utils.utils import check_pruned_program_vars
    >>> check_pruned_program_vars(fluid.Program(), fluid.Program())
    True
    """
    of_training = train_prog.global_block()
    for variable in pruned_prog.list_vars():
        if not variable.persistable or variable.name in ("feed", "fetch"):
            continue
        if not of_training.has_var(variable.name):
            raise InvalidArgumentError(f"variable '{variable.name}' of the pruned program is not in the other one")
        other = of_training.var(variable.name)
        if (list(other.shape), other.dtype) != (list(variable.shape), variable.dtype):
            raise InvalidArgumentError(
                f"variable '{variable.name}' has shape {list(variable.shape)} and type {variable.dtype} in the pruned program, "
                f"{list(other.shape)} and {other.dtype} in the other one"
            )
    return True
