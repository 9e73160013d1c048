"""The same three models in the 2.x dialect: saves them as <prefix>.pdmodel and <prefix>.pdiparams, or opens saved ones and predicts.

    python tests/parity/models_static.py save FOLDER
    python tests/parity/models_static.py predict FOLDER OUT.npz

Runs with PaddlePaddle 2.6.2 and with ours.
"""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import paddle
from model_inputs import LENGTHS, VOCABULARY, inputs_of, wave
from paddle import static
from paddle.nn import functional


def mlp():
    x = static.data("x", [None, 16], "float32")
    hidden = functional.dropout(static.nn.fc(x, 32, activation="relu"), 0.3)
    return [x], functional.softmax(static.nn.fc(hidden, 4))


def ctr_dnn():
    dense = static.data("dense_input", [None, 13], "float32")
    slots = [static.data(slot, [None, 1], "int64", lod_level=1) for slot in LENGTHS]
    pooled = []
    for slot in slots:
        rows = static.nn.embedding(slot, [VOCABULARY, 10], is_sparse=True, param_attr=paddle.ParamAttr(name="SparseFeatFactors"))
        pooled.append(static.nn.sequence_pool(paddle.reshape(rows, [-1, 10]), "sum"))
    hidden = paddle.concat(pooled + [dense], axis=1)
    for _ in range(3):
        hidden = static.nn.fc(hidden, 40, activation="relu")
    return [dense] + slots, static.nn.fc(hidden, 2, activation="softmax")


def cnn():
    image = static.data("image", [None, 3, 12, 12], "float32")
    first = functional.max_pool2d(static.nn.conv2d(image, 8, 3, act="relu"), 2, 2)
    second = functional.avg_pool2d(static.nn.batch_norm(static.nn.conv2d(first, 8, 3, padding=1), act="relu"), 2, 2)
    return [image], functional.softmax(static.nn.fc(paddle.flatten(second, 1), 10))


MODELS = {"mlp": mlp, "ctr_dnn": ctr_dnn, "cnn": cnn}


def feed_of(model, names):
    fed = {name: value for name, value in inputs_of(model).items() if name in names}
    return {name: paddle.base.create_lod_tensor(array, [lengths], paddle.CPUPlace()) if lengths else array for name, (array, lengths) in fed.items()}


def save(folder):
    executor = static.Executor(paddle.CPUPlace())
    expected = {}
    for model, build in MODELS.items():
        main, startup = static.Program(), static.Program()
        with static.program_guard(main, startup), paddle.utils.unique_name.guard(), static.scope_guard(static.global_scope().new_scope()):
            feeds, prediction = build()
            executor.run(startup)
            for index, parameter in enumerate(main.all_parameters()):
                value = wave(parameter.shape, index)
                static.global_scope().find_var(parameter.name).get_tensor().set(np.abs(value) if parameter.name.endswith("w_2") else value, paddle.CPUPlace())
            names = [variable.name for variable in feeds]
            expected[model] = executor.run(main.clone(for_test=True), feed=feed_of(model, names), fetch_list=[prediction])[0]
            static.save_inference_model(os.path.join(folder, model), feeds, [prediction], executor, program=main)
    np.savez(os.path.join(folder, "expected.npz"), **expected)


def predict(folder, out):
    executor = static.Executor(paddle.CPUPlace())
    found = {}
    for model in MODELS:
        with static.scope_guard(static.global_scope().new_scope()):
            program, feeds, fetches = static.load_inference_model(os.path.join(folder, model), executor)
            found[model] = executor.run(program, feed=feed_of(model, feeds), fetch_list=fetches)[0]
    np.savez(out, **found)


if __name__ == "__main__":
    paddle.enable_static()
    {"save": save, "predict": predict}[sys.argv[1]](*sys.argv[2:])
