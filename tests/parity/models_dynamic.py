"""Two of the models as layers of the dynamic graph: saves them by paddle.jit.save, or opens saved ones by paddle.jit.load and predicts.

    python tests/parity/models_dynamic.py save FOLDER
    python tests/parity/models_dynamic.py predict FOLDER OUT.npz

Runs with PaddlePaddle 2.6.2 and with ours.
"""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import paddle
from model_inputs import inputs_of, wave
from paddle import nn
from paddle.static import InputSpec


def mlp():
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 4), nn.Softmax()), InputSpec([None, 16], "float32", "x")


def cnn():
    layers = nn.Conv2D(3, 8, 3), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Conv2D(8, 8, 3, padding=1), nn.BatchNorm2D(8), nn.ReLU(), nn.AvgPool2D(2, 2)
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(32, 10), nn.Softmax()), InputSpec([None, 3, 12, 12], "float32", "image")


MODELS = {"mlp": mlp, "cnn": cnn}


def fed(model):
    return [paddle.to_tensor(array) for array, _ in inputs_of(model).values()]


def save(folder):
    expected = {}
    for model, build in MODELS.items():
        layer, spec = build()
        for index, (name, value) in enumerate(layer.state_dict().items()):
            array = wave(value.shape, index)
            value.set_value(np.abs(array) if name.endswith("_variance") else array)
        layer.eval()
        expected[model] = layer(*fed(model)).numpy()
        paddle.jit.save(paddle.jit.to_static(layer, input_spec=[spec]), os.path.join(folder, model))
    np.savez(os.path.join(folder, "expected.npz"), **expected)


def predict(folder, out):
    found = {}
    for model in MODELS:
        layer = paddle.jit.load(os.path.join(folder, model))
        layer.eval()
        found[model] = layer(*fed(model)).numpy()
    np.savez(out, **found)


if __name__ == "__main__":
    {"save": save, "predict": predict}[sys.argv[1]](*sys.argv[2:])
