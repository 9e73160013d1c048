"""Three models in the fluid dialect: saves them as inference models, or opens saved ones and predicts.

    python tests/parity/models_fluid.py save FOLDER
    python tests/parity/models_fluid.py predict FOLDER OUT.npz

`save` leaves FOLDER/<model> (one file per parameter), FOLDER/<model>_combined (two files) and FOLDER/expected.npz, the predictions of
the program that was saved. Runs with PaddlePaddle 1.8.5 and with ours, under Python 3.7 and newer.
"""

import os
import sys
import warnings

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
warnings.simplefilter("ignore")

import paddle.fluid as fluid  # noqa: E402
from model_inputs import LENGTHS, VOCABULARY, inputs_of, wave  # noqa: E402

L = fluid.layers


def mlp():
    x = fluid.data("x", [None, 16])
    hidden = L.dropout(L.fc(x, 32, act="relu"), 0.3)
    prediction = L.fc(hidden, 4, act="softmax")
    label = fluid.data("label", [None, 1], dtype="int64")
    return [x], prediction, L.mean(L.cross_entropy(prediction, label))


def ctr_dnn():
    dense = fluid.data("dense_input", [None, 13])
    slots = [fluid.data(slot, [None, 1], dtype="int64", lod_level=1) for slot in LENGTHS]
    pooled = [
        L.sequence_pool(L.embedding(slot, [VOCABULARY, 10], is_sparse=True, param_attr=fluid.ParamAttr(name="SparseFeatFactors")), "sum") for slot in slots
    ]
    hidden = L.concat(pooled + [dense], axis=1)
    for _ in range(3):
        hidden = L.fc(hidden, 40, act="relu")
    prediction = L.fc(hidden, 2, act="softmax")
    label = fluid.data("label", [None, 1], dtype="int64")
    return [dense] + slots, prediction, L.mean(L.cross_entropy(prediction, label))


def cnn():
    image = fluid.data("image", [None, 3, 12, 12])
    first = fluid.nets.simple_img_conv_pool(image, 8, 3, 2, 2, act="relu")
    second = L.pool2d(L.batch_norm(L.conv2d(first, 8, 3, padding=1), act="relu"), 2, "avg", 2)
    prediction = L.fc(second, 10, act="softmax")
    label = fluid.data("label", [None, 1], dtype="int64")
    return [image], prediction, L.mean(L.cross_entropy(prediction, label))


MODELS = {"mlp": mlp, "ctr_dnn": ctr_dnn, "cnn": cnn}


def feed_of(model, place):
    return {name: fluid.create_lod_tensor(array, [lengths], place) if lengths else array for name, (array, lengths) in inputs_of(model).items()}


def save(folder):
    place = fluid.CPUPlace()
    executor = fluid.Executor(place)
    expected = {}
    for model, build in MODELS.items():
        main, startup = fluid.Program(), fluid.Program()
        with fluid.program_guard(main, startup), fluid.unique_name.guard(), fluid.scope_guard(fluid.Scope()):
            feeds, prediction, loss = build()
            test = main.clone(for_test=True)
            fluid.optimizer.Adam(0.001).minimize(loss)
            executor.run(startup)
            for index, parameter in enumerate(main.all_parameters()):
                value = wave(parameter.shape, index)
                fluid.global_scope().find_var(parameter.name).get_tensor().set(np.abs(value) if parameter.name.endswith("w_2") else value, place)
            names = [variable.name for variable in feeds]
            expected[model] = expected[model + "_combined"] = executor.run(
                test, feed=dict(feed_of(model, place), label=np.zeros((len(prediction_rows(model)), 1), "int64")), fetch_list=[prediction]
            )[0]
            fluid.io.save_inference_model(os.path.join(folder, model), names, [prediction], executor, main)
            fluid.io.save_inference_model(
                os.path.join(folder, model + "_combined"), names, [prediction], executor, main, model_filename="model", params_filename="params"
            )
    np.savez(os.path.join(folder, "expected.npz"), **expected)


def prediction_rows(model):
    array, lengths = next(iter(inputs_of(model).values()))
    return lengths or array


def predict(folder, out):
    place = fluid.CPUPlace()
    executor = fluid.Executor(place)
    found = {}
    for model in MODELS:
        for name, files in ((model, {}), (model + "_combined", {"model_filename": "model", "params_filename": "params"})):
            with fluid.scope_guard(fluid.Scope()):
                program, feeds, fetches = fluid.io.load_inference_model(os.path.join(folder, name), executor, **files)
                fed = feed_of(model, place)
                found[name] = executor.run(program, feed={feed: fed[feed] for feed in feeds}, fetch_list=fetches)[0]
    np.savez(out, **found)


if __name__ == "__main__":
    {"save": save, "predict": predict}[sys.argv[1]](*sys.argv[2:])
