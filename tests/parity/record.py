"""Records what PaddlePaddle 2.6.2's own predictor answers, as one side of `argosy check-online`.

    build/parity/paddle-2.6.2/bin/python tests/parity/record.py FOLDER OUT

For every FOLDER/<model>.pdmodel, OUT/<model>.json gets its inputs and PaddlePaddle's predictions, and OUT the model itself, without the stacks that
say where its operators were built. tests/parity/recorded was made so, from what

    build/parity/paddle-2.6.2/bin/python tests/parity/models_static.py save FOLDER

had saved.
"""

import json
import os
import shutil
import sys

import paddle

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from model_inputs import inputs_of
from predictor import configurations, predict


def column(array, lengths):
    """The samples of an input: rows, or lists of them where it holds sequences."""
    if not lengths:
        return array.tolist()
    ends = [sum(lengths[: i + 1]) for i in range(len(lengths))]
    return [array[end - length : end].tolist() for end, length in zip(ends, lengths)]


def copy_model(source, target):
    """A saved model without the stacks that say where its operators were built."""
    with open(source + ".pdmodel", "rb") as file:
        program = paddle.static.deserialize_program(file.read())
    for op in program.global_block().ops:
        if op.has_attr("op_callstack"):
            op._remove_attr("op_callstack")
    with open(target + ".pdmodel", "wb") as file:
        file.write(program.desc.serialize_to_string())
    if source != target:
        shutil.copy(source + ".pdiparams", target + ".pdiparams")


def main(folder, out):
    paddle.enable_static()
    for key, model, config in configurations(folder):
        copy_model(os.path.join(folder, key), os.path.join(out, key))
        asked = {name: column(*value) for name, value in inputs_of(model).items()}
        with open(os.path.join(out, key + ".json"), "w") as file:
            json.dump({"inputs": asked, "outputs": predict(config, model).tolist()}, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
