"""Functions and layers whose results PaddlePaddle 2.6.2 gives otherwise, or where it has none to compare; and arguments that cannot be."""

import numpy as np
import pytest

import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from argosy import errors

A = np.random.RandomState(1).uniform(-1, 1, (3, 4)).astype("float32")


def t(array):
    return paddle.to_tensor(array)


def image(*shape):
    return paddle.to_tensor(np.random.RandomState(2).uniform(-1, 1, shape).astype("float32"))


def test_fold_undoes_unfold_with_uneven_padding():
    x = image(1, 2, 5, 6)
    columns = F.unfold(x, 2, 2, [1, 0, 0, 2])
    assert np.allclose(F.fold(columns, [5, 6], 2, 2, [1, 0, 0, 2]).numpy(), x.numpy())


def test_weighted_margin_losses_are_one_a_sample():
    weight, label = t([1.0, 2.0, 3.0, 4.0]), t([1, 3, 0])
    each = F.multi_margin_loss(t(A), label, weight=weight, reduction="none")
    assert each.shape == [3]
    expected = [sum(max(0, w * (1 - row[y] + row[i])) for i in range(4) if i != y) / 4 for row, y, w in zip(A, [1, 3, 0], [2.0, 4.0, 1.0])]
    assert np.allclose(each.numpy(), expected, atol=1e-6)
    assert np.allclose(F.multi_margin_loss(t(A), label, weight=weight, reduction="sum").numpy(), sum(expected), atol=1e-6)


def test_the_triplet_layer_uses_the_distance_that_it_is_given():
    def distance(one, other):
        return (one - other).abs().max(-1) + 0.1

    given = nn.TripletMarginWithDistanceLoss(distance, margin=3.0)(t(A), t(A + 1), t(A - 3))
    assert np.isclose(given.item(), 1.1 - 3.1 + 3.0)
    assert np.isclose(nn.TripletMarginWithDistanceLoss(margin=3.0)(t(A), t(A + 1), t(A - 3)).item(), 0.0)  # lengths are 2 and 6


def test_spectral_norm_has_the_gradient_of_what_it_computes():
    layer, x = nn.SpectralNorm([3, 4], power_iters=0), paddle.to_tensor(A, stop_gradient=False)
    layer(x).sum().backward()
    step = 1e-3
    for place in ((0, 0), (1, 2), (2, 3)):
        moved = [A.copy(), A.copy()]
        moved[0][place] += step
        moved[1][place] -= step
        slope = (layer(t(moved[0])).sum() - layer(t(moved[1])).sum()).item() / (2 * step)
        assert abs(slope - x.grad.numpy()[place]) < 2e-2 * max(1, abs(slope))
    assert sorted(layer.state_dict()) == ["weight_u", "weight_v"] and not [p for p in layer.parameters() if p.trainable]


def test_a_sparse_hierarchical_loss_has_gradients_of_its_rows():
    layer = nn.HSigmoidLoss(4, 6, is_sparse=True)
    layer(t(A), t([1, 3, 0])).sum().backward()
    assert layer.weight._torch.grad.is_sparse


def test_draws_follow_their_distributions():
    assert abs(np.median(paddle.ones([20000]).cauchy_(2.0, 3.0).numpy()) - 2) < 0.2
    slopes = nn.RReLU(0.2, 0.6)
    x = paddle.full([1000], -1.0)
    assert slopes(x).numpy().std() > 0.05
    slopes.eval()
    assert np.allclose(slopes(x).numpy(), -0.4)
    paddle.seed(1)
    first, again = paddle.ones([4]).uniform_(seed=5), paddle.ones([4]).uniform_(seed=5)
    assert first.tolist() == again.tolist()


X = np.ones((2, 4, 6, 6), "float32")
REFUSED = {
    "variance is 0 or more; found -1": lambda: F.gaussian_nll_loss(t(A), t(A), t(A * 0 - 1)),
    "variance has the input's shape": lambda: F.gaussian_nll_loss(t(A), t(A), t(A[:2])),
    "input is float32 or float64": lambda: F.gaussian_nll_loss(t([1]), t([1.0]), t([1.0])),
    "epsilon is above 0; found 0": lambda: F.poisson_nll_loss(t(A), t(A), epsilon=0),
    "poisson_nll_loss: input and label have one shape": lambda: F.poisson_nll_loss(t(A), t(A[:2])),
    "a label for each row": lambda: F.multi_margin_loss(t(A), t([1])),
    "a weight for each of 4 classes; found 2": lambda: F.multi_margin_loss(t(A), t([1, 0, 2]), weight=t([1.0, 2.0])),
    "soft_margin_loss: input and label have one shape": lambda: F.multi_label_soft_margin_loss(t(A), t(A[:2])),
    "margin is 0 or more; found -1": lambda: F.triplet_margin_with_distance_loss(t(A), t(A), t(A), margin=-1),
    "negative have one shape": lambda: F.triplet_margin_with_distance_loss(t(A), t(A), t(A[:2])),
    "distances are above 0": lambda: F.triplet_margin_with_distance_loss(t(A), t(A), t(A), lambda p, q: (p - q).sum(-1)),
    "anchor has no values": lambda: F.npair_loss(paddle.zeros([0, 2]), t(A), t([1])),
    "num_classes is 2 or more; found 1": lambda: F.hsigmoid_loss(t(A), t([0, 0, 0]), 1, t(A)),
    "labels are 0 to 3; found 0 to 7": lambda: F.hsigmoid_loss(t(A), t([0, 7, 0]), 4, t(A)),
    "path_table and path_code come together": lambda: F.hsigmoid_loss(t(A), t([0, 1, 0]), 4, t(A), path_table=t([[0]])),
    "HSigmoidLoss: num_classes is 2 or more": lambda: nn.HSigmoidLoss(4, 1),
    "affine_grid: theta is": lambda: F.affine_grid(t(A), [1, 1, 2, 2]),
    "grid_sample: mode is 'bilinear' or 'nearest'; found 'cubic'": lambda: F.grid_sample(t(X), paddle.zeros([2, 1, 1, 2]), "cubic"),
    "padding_mode is .*; found 'wrap'": lambda: F.grid_sample(t(X), paddle.zeros([2, 1, 1, 2]), padding_mode="wrap"),
    "align_corners is True or False; found 1": lambda: F.grid_sample(t(X), paddle.zeros([2, 1, 1, 2]), align_corners=1),
    "kernel_sizes is a number or two": lambda: F.fold(paddle.ones([1, 4, 4]), [3, 3], [2, 2, 2]),
    "paddings is a number, two or four": lambda: F.unfold(t(X), 2, paddings=[1, 2, 3]),
    "x is \\[batch, channels \\* window, windows\\]": lambda: F.fold(t(X), [3, 3], 2),
    "x is \\[batch, channels, height, width\\]": lambda: F.unfold(t(A), 2),
    "data_format is 'NCHW'; found 'NHWC'": lambda: F.max_unpool2d(t(X), t(X.astype("int32")), 2, data_format="NHWC"),
    "x and indices are NCHW of one shape": lambda: F.max_unpool2d(t(A), t(A), 2),
    "output_size of axis 1 is between 10 and 14; found 20": lambda: F.max_unpool2d(t(X), t(X.astype("int32")), 2, output_size=[12, 20]),
    "output_size has 2 or 4 sizes": lambda: F.max_unpool2d(t(X), t(X.astype("int32")), 2, output_size=[12]),
    "padding is a number, or one an axis": lambda: F.max_unpool2d(t(X), t(X.astype("int32")), 2, padding="SAME"),
    "shift_ratio is above 0 and below 0.5": lambda: F.temporal_shift(t(X), 2, 0.5),
    "2 frames can be divided by; found 3": lambda: F.temporal_shift(t(X), 3),
    "temporal_shift: data_format is": lambda: F.temporal_shift(t(X), 2, data_format="NCL"),
    "are \\[time, batch, beam\\]": lambda: F.gather_tree(t([[1]]), t([[1]])),
    "0 <= lower <= upper <= 1": lambda: F.rrelu(t(A), 0.5, 0.2),
    "alpha is 0 or more": lambda: F.elu_(t(A), -1.0),
    "changes a Tensor; found list": lambda: F.relu_([1.0]),
    "reduction is .*; found 'all'": lambda: nn.MultiMarginLoss(reduction="all"),
    "x has 3 or 4 axes": lambda: nn.Softmax2D()(t(A)),
    "groups is a whole number above 0; found 0": lambda: nn.ChannelShuffle(0),
    "downscale_factor is a whole number above 0; found 1.5": lambda: nn.PixelUnshuffle(1.5),
    "PixelUnshuffle: data_format": lambda: nn.PixelUnshuffle(2, "NCL"),
    "MaxUnPool1D: data_format": lambda: nn.MaxUnPool1D(2, data_format="foo"),
    "dim is one of its axes; found \\[3, 4\\] and dim 2": lambda: nn.SpectralNorm([3, 4], 2),
    "polygamma: n is a whole number": lambda: paddle.polygamma(t(A), -1),
    "multigammaln: p is 1 or more": lambda: paddle.multigammaln(t(A), 0),
    "renorm: axis is one of 2; found 2": lambda: paddle.renorm(t(A), 2.0, 2, 1.0),
    "offset is for matrices without wrap": lambda: t(X).fill_diagonal_(1.0, 1),
}


@pytest.mark.parametrize("match", REFUSED)
def test_what_cannot_be_is_named(match):
    with pytest.raises(errors.InvalidArgumentError, match=match):
        REFUSED[match]()


def test_changes_in_place_reach_views_and_gradients():
    x = t(A)
    inner = x._torch
    assert x.exp_() is x and x._torch is inner and np.allclose(x.numpy(), np.exp(A))
    weight, x = paddle.to_tensor(A, stop_gradient=False), t(A)
    assert not paddle.where_(x > 0, x, weight).stop_gradient  # what is written takes gradients
    x.sum().backward()
    assert np.allclose(weight.grad.numpy(), A <= 0)
    with pytest.raises(errors.InvalidArgumentError, match="inside of paddle.no_grad"):
        weight.tanh_()
    with paddle.no_grad():
        weight.tanh_()
    assert weight.is_leaf and not weight.stop_gradient and np.allclose(weight.numpy(), np.tanh(A))


@pytest.mark.parametrize(
    "lists, types",
    [
        ({}, "bfloat16 bfloat16 float32"),
        ({"custom_black_list": {"matmul_v2"}}, "float32 float32 float32"),
        ({"custom_black_list": ["elementwise_sub"], "custom_white_list": ["relu"]}, "bfloat16 float32 bfloat16"),
        ({"custom_white_list": {"relu"}, "enable": False}, "float32 float32 float32"),
        ({"custom_white_list": {"relu"}, "level": "O0"}, "float32 float32 float32"),
    ],
)
def test_lists_choose_the_type_of_functions(lists, types):
    layer, x = nn.Linear(4, 4), t(A)
    with paddle.amp.auto_cast(dtype="bfloat16", **lists):
        product = layer(x)
        found = [product, 2 - product, F.relu(x)]
    assert [one.dtype for one in found] == [getattr(paddle, name) for name in types.split()]
    assert F.relu(layer(x)).dtype == paddle.float32
    sum(one.astype("float32").sum() for one in found).backward()
    assert layer.weight.grad.dtype == paddle.float32


def test_lists_reach_layers_that_compute_by_themselves():
    x = image(2, 3, 4)
    layers = [nn.LSTM(4, 3), nn.RNN(nn.GRUCell(4, 3)), nn.MultiHeadAttention(4, 2)]
    with paddle.amp.auto_cast(dtype="bfloat16", custom_black_list=["rnn", "matmul"]):
        found = [layers[0](x)[0], layers[1](x)[0], layers[2](x)]
    assert [one.dtype for one in found] == [paddle.float32] * 3
    normalize = nn.BatchNorm1D(4)
    with paddle.amp.auto_cast(dtype="bfloat16", custom_white_list=["batch_norm"]):
        assert normalize(t(A)).dtype == paddle.bfloat16
    assert normalize._mean.dtype == paddle.float32 and normalize._mean.abs().sum().item() > 0


@pytest.mark.parametrize(
    "lists, match",
    [
        ({"custom_white_list": {"foo"}}, "custom_white_list=….: 'foo' is no operator"),
        ({"custom_black_list": [3]}, "custom_black_list=….: 3 is no operator"),
        ({"custom_white_list": ["relu"], "custom_black_list": ["relu"]}, "both name relu"),
    ],
)
def test_lists_that_cannot_be_are_named(lists, match):
    with pytest.raises(errors.InvalidArgumentError, match=match), paddle.amp.auto_cast(dtype="bfloat16", **lists):
        pass
