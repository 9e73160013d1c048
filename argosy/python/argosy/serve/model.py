"""A saved model as Python sees it: its program's operators and its parameters' values."""

import dataclasses
import importlib
from typing import Any

from argosy import _core


@dataclasses.dataclass
class Model:
    """A saved model: (name, dtype, shape, lod_level) of inputs and outputs, operators in order, values by name."""

    inputs: list
    outputs: list
    operators: list
    values: dict
    ranks: dict  # the number of dimensions of each variable


@dataclasses.dataclass
class Operator:
    """An operator of the global block: {slot: [names]} and {attribute: value}."""

    type: str
    inputs: dict
    outputs: dict
    attributes: dict

    def input(self, slot):
        """The only variable of a slot, or None."""
        names = self.inputs.get(slot) or [None]
        return names[0]

    def output(self, slot="Out"):
        """The only variable of a slot."""
        return self.outputs[slot][0]


def open_model(path):
    """The model at `path`: a folder, a file or the common beginning of x.pdmodel and x.pdiparams."""
    predictor = _core.Predictor(str(path))
    content: Any = predictor.program_bytes()
    program = _core.Program.parse_from_string(content)
    operators = []
    for op in program.global_block().ops:
        slots = ({name: op.input(name) for name in op.input_names}, {name: op.output(name) for name in op.output_names})
        operators.append(Operator(op.type, *slots, dict(op.all_attrs())))
    ranks = {name: len(variable.shape) for name, variable in program.global_block().vars.items() if name not in ("feed", "fetch")}
    return Model(predictor.inputs(), predictor.outputs(), operators, predictor.parameters(), ranks)


def optional(package, what):
    """A package that only a conversion needs; an ImportError that says how to get it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise ImportError(f"{what} needs the package {package.split('.')[0]}: pip install {package.split('.')[0]}") from error
