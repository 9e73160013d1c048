"""Opens inference models with PaddlePaddle 2.6.2's own predictor and predicts.

    python tests/parity/predictor.py FOLDER OUT.npz

A model is FOLDER/<model> with one file per parameter, FOLDER/<model>_combined with the files `model` and `params`, or
FOLDER/<model>.pdmodel beside FOLDER/<model>.pdiparams; those that are there are opened.
"""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from model_inputs import inputs_of
from paddle import inference


def configurations(folder):
    """(key, model, Config) of everything saved in `folder`."""
    for model in ("mlp", "ctr_dnn", "cnn"):
        path = os.path.join(folder, model)
        if os.path.isdir(path):
            yield model, model, inference.Config(path)
        if os.path.isdir(path + "_combined"):
            yield model + "_combined", model, inference.Config(os.path.join(path + "_combined", "model"), os.path.join(path + "_combined", "params"))
        if os.path.exists(path + ".pdmodel"):
            yield model, model, inference.Config(path + ".pdmodel", path + ".pdiparams")


def predict(config, model):
    config.disable_glog_info()
    predictor = inference.create_predictor(config)
    fed = inputs_of(model)
    for name in predictor.get_input_names():
        array, lengths = fed[name]
        handle = predictor.get_input_handle(name)
        handle.copy_from_cpu(array)
        if lengths:
            handle.set_lod([[0] + [int(end) for end in np.cumsum(lengths)]])
    predictor.run()
    return predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()


def main(folder, out):
    found = {key: predict(config, model) for key, model, config in configurations(folder)}
    if not found:
        sys.exit("%s holds no model" % folder)
    np.savez(out, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
