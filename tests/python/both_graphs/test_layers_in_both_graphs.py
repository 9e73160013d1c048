"""Layers and activations give the same numbers in a program as in the dynamic graph, with equal parameters."""

import numpy as np
import pytest
from comparing import BOXES, IDS, IMAGES, ROWS, check, declared, loss_of, parts, ran

import paddle
import paddle.nn.functional as F
from paddle import nn


class Mixture(nn.Layer):
    def __init__(self):
        super().__init__()
        self.towers = nn.LayerList([nn.Linear(6, 3) for _ in range(2)])
        self.scale = self.create_parameter([3], default_initializer=nn.initializer.Normal())
        self.rest = nn.LayerDict({"last": nn.Sequential(("drop", nn.Dropout(0.5)), ("out", nn.Linear(3, 1)))})

    def forward(self, x):
        return self.rest["last"](paddle.add_n([F.relu(tower(x)) for tower in self.towers]) * self.scale)


LAYERS = {
    "Linear": (lambda: nn.Linear(6, 3), [ROWS]),
    "Linear of 3 axes": (lambda: nn.Linear(6, 3, bias_attr=False), [BOXES]),
    "Embedding": (lambda: nn.Embedding(7, 5), [IDS]),
    "Embedding with padding": (lambda: nn.Embedding(7, 5, padding_idx=2, sparse=True), [IDS]),
    "Bilinear": (lambda: nn.Bilinear(6, 6, 2), [ROWS, ROWS[::-1].copy()]),
    "BatchNorm1D": (lambda: nn.BatchNorm1D(6), [ROWS]),
    "BatchNorm2D": (lambda: nn.BatchNorm2D(4), [IMAGES]),
    "BatchNorm": (lambda: nn.BatchNorm(4, act="relu", moving_mean_name="mean"), [IMAGES]),
    "LayerNorm": (lambda: nn.LayerNorm(6), [BOXES]),
    "LayerNorm of two axes": (lambda: nn.LayerNorm([3, 6]), [BOXES]),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), [IMAGES]),
    "InstanceNorm2D": (lambda: nn.InstanceNorm2D(4), [IMAGES]),
    "SpectralNorm": (lambda: nn.SpectralNorm([4, 6], power_iters=2), [ROWS]),
    "LocalResponseNorm": (lambda: nn.LocalResponseNorm(3), [IMAGES]),
    "Conv1D": (lambda: nn.Conv1D(3, 2, 3, stride=2, padding=1), [BOXES]),
    "Conv1D, channels behind": (lambda: nn.Conv1D(6, 2, 2, data_format="NLC"), [BOXES]),
    "Conv2D": (lambda: nn.Conv2D(4, 2, 3, padding=[1, 2], dilation=2), [IMAGES]),
    "Conv2D of groups": (lambda: nn.Conv2D(4, 4, 3, padding="SAME", groups=2, bias_attr=False), [IMAGES]),
    "Conv2DTranspose": (lambda: nn.Conv2DTranspose(4, 2, 3, stride=2), [IMAGES]),
    "Conv1DTranspose": (lambda: nn.Conv1DTranspose(4, 2, 3, stride=2, dilation=2, groups=2), [IMAGES[:, :, 0].copy()]),
    "Conv3DTranspose": (lambda: nn.Conv3DTranspose(2, 4, 2, dilation=2, groups=2), [IMAGES.reshape(2, 2, 2, 6, 6).copy()]),
    "UpsamplingBilinear2D": (lambda: nn.UpsamplingBilinear2D(scale_factor=2), [IMAGES]),
    "MaxPool1D": (lambda: nn.MaxPool1D(2), [BOXES]),
    "AvgPool1D": (lambda: nn.AvgPool1D(2, stride=1, padding=1), [BOXES]),
    "AdaptiveMaxPool1D": (lambda: nn.AdaptiveMaxPool1D(2), [BOXES]),
    "AdaptiveAvgPool1D": (lambda: nn.AdaptiveAvgPool1D(3), [BOXES]),
    "MaxPool2D": (lambda: nn.MaxPool2D(2), [IMAGES]),
    "AvgPool2D": (lambda: nn.AvgPool2D(3, stride=2, padding=1), [IMAGES]),
    "AdaptiveAvgPool2D": (lambda: nn.AdaptiveAvgPool2D([2, 3]), [IMAGES]),
    "AdaptiveMaxPool2D": (lambda: nn.AdaptiveMaxPool2D(2), [IMAGES]),
    "PReLU": (lambda: nn.PReLU(4, init=0.3), [IMAGES - 0.5]),
    "Flatten": (lambda: nn.Flatten(), [BOXES]),
    "Pad2D": (lambda: nn.Pad2D([1, 0, 2, 1]), [IMAGES]),
    "CosineSimilarity": (lambda: nn.CosineSimilarity(axis=1), [ROWS, ROWS[::-1].copy()]),
    "PairwiseDistance": (lambda: nn.PairwiseDistance(), [ROWS, ROWS[::-1].copy()]),
    "SimpleRNN": (lambda: nn.SimpleRNN(6, 4, activation="relu"), [BOXES]),
    "LSTM": (lambda: nn.LSTM(6, 4, num_layers=2, direction="bidirect"), [BOXES]),
    "GRU": (lambda: nn.GRU(6, 4), [BOXES]),
    "GRUCell": (lambda: nn.GRUCell(6, 4), [ROWS]),
    "LSTMCell": (lambda: nn.LSTMCell(6, 4), [ROWS]),
    "RNN": (lambda: nn.RNN(nn.SimpleRNNCell(6, 4)), [BOXES]),
    "BiRNN": (lambda: nn.BiRNN(nn.GRUCell(6, 4), nn.GRUCell(6, 4)), [BOXES]),
    "MultiHeadAttention": (lambda: nn.MultiHeadAttention(6, 2), [BOXES]),
    "MultiHeadAttention with weights": (lambda: nn.MultiHeadAttention(6, 2, need_weights=True), [BOXES]),
    "TransformerEncoder": (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(6, 2, 8, dropout=0.0), 2), [BOXES]),
    "Transformer": (lambda: nn.Transformer(6, 2, 1, 1, 8, dropout=0.0), [BOXES, BOXES[:, :2]]),
    "containers": (Mixture, [ROWS]),
}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("training", [True, False])
def test_a_layer_gives_the_same_in_both_graphs(fluid, name, training):
    make, arrays = LAYERS[name]
    training = training and name != "containers"  # its dropout draws
    with paddle.utils.unique_name.guard():
        layer = make()
    layer.train() if training else layer.eval()
    state = {key: value.numpy() for key, value in layer.state_dict().items()}
    computed = parts(layer(*map(paddle.to_tensor, arrays)))
    paddle.enable_static()
    try:
        with paddle.utils.unique_name.guard():
            same = make()
        same.train() if training else same.eval()
        built = parts(same(*declared(arrays)))
        assert [one.name for one in same.parameters()] == [one.name for one in layer.parameters()]
        assert [one.name for one in same.buffers()] == [one.name for one in layer.buffers()]
        assert {key: list(value.shape) for key, value in same.state_dict().items()} == {key: list(value.shape) for key, value in state.items()}
        exe = paddle.static.Executor()
        exe.run(paddle.static.default_startup_program())
        assert same.set_state_dict(state) == ([], [])
        check(computed, ran(built, arrays, startup=False))
        for key, value in same.state_dict().items():  # running values have moved alike
            assert np.allclose(np.array(value.get_value()), layer.state_dict()[key].numpy(), atol=1e-6), key
    finally:
        paddle.disable_static()


@pytest.mark.parametrize("name", LAYERS)
def test_a_seed_gives_a_layer_the_same_first_values_in_both_graphs(fluid, name):
    make, _ = LAYERS[name]
    paddle.seed(9)
    drawn = {key: value.numpy() for key, value in make().state_dict().items()}
    paddle.enable_static()
    try:
        paddle.seed(9)
        layer = make()
        paddle.static.Executor().run(paddle.static.default_startup_program())
        for key, value in layer.state_dict().items():
            found = np.array(value.get_value())
            if "padding" in name:  # the row of the padding is 0 in the dynamic graph alone, as in 2.6.2
                found, drawn[key] = np.delete(found, 2, 0), np.delete(drawn[key], 2, 0)
            assert np.array_equal(found, drawn[key]), key
    finally:
        paddle.disable_static()


@pytest.mark.parametrize("name", LAYERS)
def test_gradients_of_a_layer_are_the_same_in_both_graphs(fluid, name):
    make, arrays = LAYERS[name]
    layer = make()
    layer.eval() if name == "containers" else layer.train()
    state = {key: value.numpy() for key, value in layer.state_dict().items()}
    trained_parts = [key for key, value in layer.named_parameters() if not value.stop_gradient]
    loss_of(layer(*map(paddle.to_tensor, arrays))).backward() if trained_parts else None
    computed = {key: value.grad for key, value in layer.named_parameters() if key in trained_parts}
    if not trained_parts:
        return
    paddle.enable_static()
    try:
        same = make()
        same.eval() if name == "containers" else same.train()
        wanted = dict(same.named_parameters())
        gradients = paddle.static.gradients(loss_of(same(*declared(arrays))), [wanted[key] for key in trained_parts])
        exe = paddle.static.Executor()
        exe.run(paddle.static.default_startup_program())
        same.set_state_dict(state)
        found = ran(gradients, arrays, startup=False)
        for key, value in zip(trained_parts, found, strict=True):
            want = computed[key]._torch.to_dense().numpy()  # of a sparse table too
            assert np.allclose(want, value, atol=3e-4, rtol=1e-3), (key, np.abs(want - value).max())
    finally:
        paddle.disable_static()


ACTIVATIONS = [
    name
    for name in (
        "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Mish ReLU ReLU6 SELU Sigmoid Silu "
        "Softmax Softplus Softshrink Softsign Swish Tanh Tanhshrink ThresholdedReLU"
    ).split()
]


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_activation_gives_the_same_in_both_graphs(static, name):
    array = (ROWS - 0.6) * 4
    with paddle.fluid.dygraph.guard():
        computed = [getattr(nn, name)()(paddle.to_tensor(array))]
    check(computed, ran([getattr(nn, name)()(*declared([array]))], [array]))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_gradients_of_an_activation_are_the_same_in_both_graphs(static, name):
    array = (ROWS - 0.6) * 4
    with paddle.fluid.dygraph.guard():
        tensor = paddle.to_tensor(array, stop_gradient=False)
        loss_of([getattr(nn, name)()(tensor)]).backward()
        computed = [tensor.grad]
    (x,) = declared([array])
    x.stop_gradient = False
    check(computed, ran(paddle.static.gradients(loss_of([getattr(nn, name)()(x)]), [x]), [array]), 2e-4)
