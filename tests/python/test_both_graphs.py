"""Layers and functions give the same numbers in a program as in the dynamic graph, with equal parameters."""
import io

import numpy as np
import pytest

import paddle
import paddle.nn.functional as F
from argosy import _core, dispatch, errors
from argosy.dynamic import functional as of_tensors
from argosy.dynamic import functions
from paddle import nn

DRAW = np.random.RandomState(5)
ROWS = DRAW.rand(4, 6).astype("float32") + 0.1
BOXES = DRAW.rand(4, 3, 6).astype("float32")
IMAGES = DRAW.rand(2, 4, 6, 6).astype("float32")
IDS = DRAW.randint(0, 7, [4, 3]).astype("int64")


@pytest.fixture
def static(fluid):
    """Static mode, with programs, names and a scope of its own."""
    paddle.enable_static()
    yield fluid
    paddle.disable_static()


def declared(arrays, batch=True):
    """A variable to feed for each array; the batch's size is open."""
    return [paddle.static.data(f"in{i}", [-1 if batch else len(array), *array.shape[1:]], array.dtype) for i, array in enumerate(arrays)]


def ran(outputs, arrays, startup=True):
    exe = paddle.static.Executor()
    if startup:
        exe.run(paddle.static.default_startup_program())
    return exe.run(feed={f"in{i}": array for i, array in enumerate(arrays)}, fetch_list=list(outputs))


def parts(value):
    return [one for part in value for one in parts(part)] if isinstance(value, (list, tuple)) else [value]


def check(computed, built, tolerance=2e-5):
    assert len(computed) == len(built)
    for tensor, value in zip(computed, built, strict=True):
        want = tensor.numpy()
        assert want.size == value.size, (want.shape, value.shape)
        assert np.allclose(want.reshape(-1), np.asarray(value).reshape(-1), atol=tolerance, rtol=1e-4), np.abs(want.ravel() - value.ravel()).max()
        assert want.ndim == 0 or want.shape == value.shape, (want.shape, value.shape)


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


def loss_of(outputs):
    """A number that every element of the float outputs has a share of."""
    return paddle.add_n([paddle.sum(paddle.sin(one)) for one in parts(outputs) if one.dtype == paddle.float32])


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


ACTIVATIONS = [name for name in ("CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Mish ReLU ReLU6 SELU Sigmoid Silu "
                                 "Softmax Softplus Softshrink Softsign Swish Tanh Tanhshrink ThresholdedReLU").split()]


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_activation_gives_the_same_in_both_graphs(static, name):
    array = (ROWS - 0.6) * 4
    with paddle.fluid.dygraph.guard():
        computed = [getattr(nn, name)()(paddle.to_tensor(array))]
    check(computed, ran([getattr(nn, name)()(*declared([array]))], [array]))


SMALL, OTHER = ROWS * 0.5, ROWS[::-1].copy()
BOOLEANS, WHOLE = ROWS > 0.5, IDS
FUNCTIONS = {  # name -> (arrays, the arguments behind them)
    **{name: ([SMALL], ()) for name in ("acos asin atan tan sinh cosh asinh atanh expm1 log1p log2 log10 trunc frac sgn deg2rad rad2deg stanh logit isfinite isinf "
                                        "isnan nan_to_num logsumexp count_nonzero nansum nanmean var std norm amax amin tril triu trace diff clone exp log sqrt rsqrt "
                                        "square abs tanh ceil floor round reciprocal sin cos erf sign neg sigmoid mean max min sum prod cumsum t numel shape "
                                        "squeeze flatten argmax argmin sort argsort nonzero zeros_like ones_like is_empty").split()},
    **{name: ([SMALL, OTHER], ()) for name in ("logaddexp hypot heaviside isclose allclose equal_all dist inner add subtract multiply divide maximum minimum pow mod "
                                               "floor_divide less_than less_equal greater_than greater_equal equal not_equal floor_mod expand_as view_as").split()},
    "acosh": ([ROWS + 1], ()), "lerp": ([SMALL, OTHER], (0.3,)), "masked_fill": ([ROWS, BOOLEANS], (7.0,)), "masked_select": ([ROWS, BOOLEANS], ()),
    "bitwise_and": ([WHOLE, WHOLE[::-1].copy() - 4], ()), "bitwise_or": ([WHOLE, WHOLE[::-1].copy() - 4], ()), "bitwise_xor": ([WHOLE, WHOLE[::-1].copy()], ()),
    "bitwise_not": ([WHOLE], ()), "logical_not": ([BOOLEANS], ()), "all": ([BOOLEANS], (1,)), "any": ([BOOLEANS], (1,)),
    "expand": ([BOXES[:, :1]], ([4, 3, 6],)), "broadcast_to": ([ROWS], ([2, 4, 6],)), "moveaxis": ([BOXES], (0, 2)), "unflatten": ([ROWS], (1, [2, 3])),
    "reverse": ([ROWS], ([0, 1],)), "flip": ([ROWS], (1,)), "roll": ([ROWS], (2, 1)), "repeat_interleave": ([ROWS], (2, 1)), "view": ([ROWS], ([2, -1],)),
    "take_along_axis": ([BOXES[:, :, 0].copy(), IDS % 3], (1,)), "index_sample": ([BOXES[:, :, 0].copy(), IDS % 3], ()), "diagonal": ([IMAGES], (1, 2, 3)),
    "mv": ([ROWS, ROWS[0].copy()], ()), "outer": ([ROWS[0].copy(), ROWS[1].copy()], ()), "addmm": ([ROWS, ROWS[:, :4].copy(), ROWS], ()),
    "tensordot": ([BOXES, BOXES], ([[0, 2], [0, 2]],)), "strided_slice": ([ROWS], ([1], [0], [6], [2])), "transpose": ([BOXES], ([1, 0, 2],)),
    "reshape": ([BOXES], ([2, -1],)), "unsqueeze": ([ROWS], (1,)), "tile": ([ROWS], ([2, 1],)), "split": ([ROWS], ([2, -1], 1)), "chunk": ([ROWS], (2, 1)),
    "unbind": ([ROWS], ()), "gather": ([ROWS, IDS[:, 0] % 4], ()), "index_select": ([ROWS, IDS[:, 0] % 4], (1,)), "clip": ([ROWS], (0.2, 0.6)), "cast": ([ROWS], ("int64",)),
    "topk": ([ROWS], (2,)), "scale": ([ROWS], (2.0, 1.0)), "full_like": ([ROWS], (3.0,)), "matmul": ([ROWS, OTHER], (False, True)), "rank": ([ROWS], ()),
    "bmm": ([BOXES, BOXES.transpose(0, 2, 1).copy()], ()), "dot": ([ROWS, OTHER], ()), "where": ([BOOLEANS, ROWS, OTHER], ()),
    "atleast_2d": ([ROWS[0].copy()], ()), "atleast_3d": ([ROWS], ()), "cross": ([BOXES, BOXES[::-1].copy()], (1,)), "cumprod": ([ROWS], (1,)), "logcumsumexp": ([ROWS], (1,)),
    "diag": ([ROWS[0].copy()], (1, 7)), "diag_embed": ([ROWS], (-1,)), "diagflat": ([ROWS[:2].copy()], (1,)), "fmax": ([np.where(BOOLEANS, np.nan, ROWS), OTHER], ()),
    "fmin": ([np.where(BOOLEANS, np.nan, ROWS), OTHER], ()), "ldexp": ([ROWS, np.full_like(ROWS, 2)], ()), "kron": ([ROWS[:2, :3].copy(), OTHER[:, :2].copy()], ()),
    "crop": ([ROWS], ([2, 3], [1, 2])), "take": ([ROWS, IDS - 5], ()), "rot90": ([BOXES], (1, [0, 2])), "cdist": ([ROWS, OTHER * 2], ()), "median": ([ROWS], (1,)),
    "searchsorted": ([np.sort(ROWS, 1), OTHER], ()), "bucketize": ([ROWS, np.sort(OTHER[0])], (False, True)), "kthvalue": ([ROWS], (2, 1)),
    "scatter_nd_add": ([BOXES, IDS[:2, :2] % 3, BOXES[:2, 0].copy()], ()), "index_add": ([ROWS, IDS[:2, 0] % 6, 1, ROWS[:, :2].copy()], ()),
    "index_fill": ([ROWS, np.array([1, 4])], (1, 9.0)), "put_along_axis": ([ROWS, np.array([[0, 3], [1, 2], [5, 4], [2, 0]]), OTHER[:, :2].copy()], (1,)),
    "is_floating_point": ([ROWS], ()), "is_integer": ([IDS], ()), "is_complex": ([ROWS], ()),
}


def called(name, given, more):
    return parts(getattr(paddle, name)(*given, *more))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_gives_the_same_in_both_graphs(static, name):
    given, more = FUNCTIONS[name]
    arrays = [one for one in given if isinstance(one, np.ndarray)]
    with paddle.fluid.dygraph.guard():
        computed = called(name, [paddle.to_tensor(one) if isinstance(one, np.ndarray) else one for one in given], more)
    variables = iter(declared(arrays, batch=False))
    built = called(name, [next(variables) if isinstance(one, np.ndarray) else one for one in given], more)
    if isinstance(built[0], bool):
        assert built == computed
    else:
        check(computed, ran(built, arrays))


SMOOTH = [name for name, (given, _) in FUNCTIONS.items() if given[0].dtype == np.float32 and name not in (
    "ceil floor round sign sgn trunc heaviside isfinite isinf isnan numel shape rank argmax argmin argsort nonzero zeros_like ones_like is_empty full_like cast equal "
    "not_equal less_than less_equal greater_than greater_equal isclose allclose equal_all floor_divide count_nonzero searchsorted bucketize is_floating_point is_complex "
    "is_integer fmax fmin").split()]


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_of_a_function_are_the_same_in_both_graphs(static, name):
    given, more = FUNCTIONS[name]
    arrays = [one for one in given if isinstance(one, np.ndarray)]
    with paddle.fluid.dygraph.guard():
        tensors = [paddle.to_tensor(one) if isinstance(one, np.ndarray) else one for one in given]
        tensors[0].stop_gradient = False
        loss_of(called(name, tensors, more)).backward()
        computed = [tensors[0].grad]
    variables = declared(arrays, batch=False)
    variables[0].stop_gradient = False
    rest = iter(variables)
    built = loss_of(called(name, [next(rest) if isinstance(one, np.ndarray) else one for one in given], more))
    check(computed, ran(paddle.static.gradients(built, [variables[0]]), arrays), 2e-4)


FUNCTIONAL = {
    "smooth_l1_loss": ([ROWS, OTHER], {}), "kl_div": ([np.log(ROWS), OTHER], {"reduction": "batchmean"}), "margin_ranking_loss": ([ROWS, OTHER, np.sign(ROWS - 0.5)], {}),
    "hinge_embedding_loss": ([ROWS, np.sign(ROWS - 0.5)], {}), "cosine_embedding_loss": ([ROWS, OTHER, np.sign(ROWS[:, 0] - 0.5)], {}),
    "triplet_margin_loss": ([ROWS, OTHER, ROWS * 2], {"swap": True}), "soft_margin_loss": ([ROWS, np.sign(ROWS - 0.5)], {}),
    "sigmoid_focal_loss": ([ROWS, BOOLEANS.astype("float32")], {}), "label_smooth": ([ROWS], {}), "normalize": ([ROWS], {"p": 3}), "softplus": ([ROWS], {"beta": 2.0}),
    "nll_loss": ([np.log(ROWS), IDS[:, 0] % 6], {}), "cross_entropy": ([ROWS, IDS[:, :1] % 6], {"label_smoothing": 0.1}),
    "multi_label_soft_margin_loss": ([ROWS, BOOLEANS.astype("float32")], {}), "dice_loss": ([ROWS, IDS[:, :1] % 6], {}), "maxout": ([IMAGES], {"groups": 2}),
    "pad": ([BOXES], {"pad": [1, 2], "data_format": "NCL"}), "sequence_mask": ([IDS[:, 0]], {"maxlen": 8}), "zeropad2d": ([IMAGES], {"padding": 1}),
    "channel_shuffle": ([IMAGES], {"groups": 2}), "pixel_shuffle": ([IMAGES], {"upscale_factor": 2}), "pixel_unshuffle": ([IMAGES], {"downscale_factor": 2}),
    "interpolate": ([IMAGES], {"scale_factor": 2}), "unfold": ([IMAGES], {"kernel_sizes": [2, 3], "strides": 2, "paddings": 1}),
    "npair_loss": ([ROWS, OTHER, np.array([0.0, 1.0, 0.0, 2.0], "float32")], {}), "poisson_nll_loss": ([ROWS, OTHER * 3], {"full": True}),
    "gaussian_nll_loss": ([ROWS, OTHER, ROWS[:, 0].copy()], {"full": True}), "multi_margin_loss": ([ROWS, IDS[:, 0] % 6], {"p": 2}),
    "rrelu": ([ROWS - 0.5], {"training": False}), "scaled_dot_product_attention": ([IMAGES, IMAGES, IMAGES], {"is_causal": True}),
    "binary_cross_entropy_with_logits": ([ROWS, BOOLEANS.astype("float32"), None, "mean", np.full([6], 3, "float32")], {}),
}


@pytest.mark.parametrize("name", FUNCTIONAL)
def test_a_functional_gives_the_same_in_both_graphs(static, name):
    given, more = FUNCTIONAL[name]
    arrays = [one for one in given if isinstance(one, np.ndarray)]
    with paddle.fluid.dygraph.guard():
        computed = [getattr(F, name)(*(paddle.to_tensor(one) if isinstance(one, np.ndarray) else one for one in given), **more)]
    variables = iter(declared(arrays, batch=False))
    check(computed, ran([getattr(F, name)(*(next(variables) if isinstance(one, np.ndarray) else one for one in given), **more)], arrays))


@pytest.mark.parametrize("name", [name for name, (given, _) in FUNCTIONAL.items() if given[0].dtype == np.float32])
def test_gradients_of_a_functional_are_the_same_in_both_graphs(static, name):
    given, more = FUNCTIONAL[name]
    arrays = [one for one in given if isinstance(one, np.ndarray)]
    with paddle.fluid.dygraph.guard():
        tensors = [paddle.to_tensor(one) if isinstance(one, np.ndarray) else one for one in given]
        tensors[0].stop_gradient = False
        loss_of([getattr(F, name)(*tensors, **more)]).backward()
        computed = [tensors[0].grad]
    variables = declared(arrays, batch=False)
    variables[0].stop_gradient = False
    rest = iter(variables)
    built = loss_of([getattr(F, name)(*(next(rest) if isinstance(one, np.ndarray) else one for one in given), **more)])
    check(computed, ran(paddle.static.gradients(built, [variables[0]]), arrays), 2e-4)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_gradients_of_an_activation_are_the_same_in_both_graphs(static, name):
    array = (ROWS - 0.6) * 4
    with paddle.fluid.dygraph.guard():
        tensor = paddle.to_tensor(array, stop_gradient=False)
        loss_of([getattr(nn, name)()(tensor)]).backward()
        computed = [tensor.grad]
    x, = declared([array])
    x.stop_gradient = False
    check(computed, ran(paddle.static.gradients(loss_of([getattr(nn, name)()(x)]), [x]), [array]), 2e-4)


@pytest.mark.parametrize("equation, shapes", [("ij,jk->ik", [(4, 3), (3, 5)]), ("bij,bkj->bik", [(2, 3, 4), (2, 5, 4)]), ("bi,bj->bij", [(2, 3), (2, 4)]),
                                              ("bij->b", [(2, 3, 4)]), ("bi,oij,bj->bo", [(2, 3), (5, 3, 4), (2, 4)]), ("abc,abd,abe->ac", [(2, 3, 4), (2, 3, 5), (2, 3, 6)]),
                                              ("ij,ij", [(2, 3), (2, 3)]), ("ijkl,kl->ji", [(2, 3, 4, 5), (4, 5)]), ("bhid,bhjd->bhij", [(2, 2, 3, 4), (2, 2, 5, 4)])])
def test_einsum_gives_the_same_in_both_graphs(static, equation, shapes):
    arrays = [DRAW.rand(*shape).astype("float32") for shape in shapes]
    with paddle.fluid.dygraph.guard():
        computed = [paddle.einsum(equation, *map(paddle.to_tensor, arrays))]
    check(computed, ran([paddle.einsum(equation, *declared(arrays))], arrays))


INDICES = [np.s_[1], np.s_[-1], np.s_[:, 2], np.s_[1:, None, ::2], np.s_[..., 1:3], np.s_[:, None], np.s_[::-1], np.s_[[2, 0]], np.s_[:, [1, 1]], np.s_[0, [1, 2]]]


@pytest.mark.parametrize("index", INDICES, ids=map(str, INDICES))
def test_an_index_takes_the_same_in_both_graphs(static, index):
    with paddle.fluid.dygraph.guard():
        computed = [paddle.to_tensor(BOXES)[index]]
    check(computed, ran([declared([BOXES], batch=False)[0][index]], [BOXES]))


def test_variables_of_positions_and_booleans_are_indices(static):
    x, ids, chosen = declared([BOXES, IDS, BOOLEANS[:, 0].copy()], batch=False)
    found = ran([x[ids[0] % 4], x[chosen], x[ids[:, 0] % 4, ids[:, 1] % 3]], [BOXES, IDS, BOOLEANS[:, 0].copy()])
    for value, want in zip(found, (BOXES[IDS[0] % 4], BOXES[BOOLEANS[:, 0]], BOXES[IDS[:, 0] % 4, IDS[:, 1] % 3]), strict=True):
        assert np.array_equal(value, want)


def test_a_variable_has_the_methods_of_a_tensor(static):
    x, = declared([ROWS])
    built = [x.reshape([-1, 2, 3]).sum(axis=1), x.unsqueeze(1).tile([1, 2, 1]), x.astype("float64").T, x.unsqueeze_(-1), (x @ x.t()).max(), x.detach(), x.exp().mean()]
    with paddle.fluid.dygraph.guard():
        y = paddle.to_tensor(ROWS)
        computed = [y.reshape([-1, 2, 3]).sum(axis=1), y.unsqueeze(1).tile([1, 2, 1]), y.astype("float64").T, y.clone().unsqueeze_(-1), (y @ y.t()).max(), y.detach(),
                    y.exp().mean()]
    check(computed, ran(built, [ROWS]))
    assert x.ndim == x.dim() == 2
    with pytest.raises(AttributeError, match="no attribute 'nothing_such'"):
        x.nothing_such()


def test_operators_take_numbers_arrays_and_booleans(static):
    x, = declared([ROWS])
    row = np.arange(6, dtype="float32")
    pairs = [(x + row, ROWS + row), (row - x, row - ROWS), (x @ row.reshape(6, 1), ROWS @ row.reshape(6, 1)), (abs(x - 0.5), abs(ROWS - 0.5)), (2 // (x + 1), 2 // (ROWS + 1)),
             (2 % (x + 1), 2 % (ROWS + 1)), ((x > 0.3) & (x < 0.6), (ROWS > 0.3) & (ROWS < 0.6)), ((x > 0.3) | (x < 0.1), (ROWS > 0.3) | (ROWS < 0.1)),
             (~(x > 0.3), ~(ROWS > 0.3)), (x > row, row < ROWS)]
    for found, (_, wanted) in zip(ran([one for one, _ in pairs], [ROWS]), pairs, strict=True):
        assert np.allclose(found, wanted, atol=1e-6)
    assert len(paddle.zeros([3, 2])) == 3
    with pytest.raises(TypeError, match="has no length: its first size is known only in a run"):
        len(x)


def test_a_program_has_a_state(static, tmp_path):
    x, = declared([ROWS])
    layer = nn.Linear(6, 1)
    paddle.optimizer.Adam(0.1).minimize(paddle.mean(layer(x)))
    paddle.static.Executor().run(paddle.static.default_startup_program())
    program = paddle.static.default_main_program()
    assert set(program.state_dict("param")) == {layer.weight.name, layer.bias.name} and len(program.state_dict("opt")) >= 4
    weight = np.array(layer.weight.get_value())
    paddle.save(program.state_dict(), str(tmp_path / "state"))
    layer.weight.set_value(np.zeros([6, 1], "float32"))
    program.set_state_dict(paddle.load(str(tmp_path / "state")))
    assert np.array_equal(np.array(layer.weight.get_value()), weight)
    with pytest.warns(UserWarning, match="has no persistable variables nobody"):
        program.set_state_dict({"nobody": weight})
    with pytest.raises(errors.InvalidArgumentError, match="mode is one of all, param, opt; found 'most'"):
        program.state_dict("most")


def test_a_layer_of_a_program_stays_as_it_is(static):
    with pytest.raises(errors.UnimplementedError, match="'linear_0.w_0' is a variable of a program, which keeps its type"):
        nn.Linear(2, 1).astype("float64")


def test_a_layer_makes_variables_without_values(static):
    made = nn.Layer().create_tensor(name="later", dtype="int64")
    assert isinstance(made, _core.Variable) and made.name == "later" and made.dtype == paddle.int64


def test_metrics_of_batches_of_programs(static):
    x, label = declared([ROWS, IDS[:, :1] % 6])
    metric = paddle.metric.Accuracy(topk=(1, 2))
    right, = ran([metric.compute(x, label)], [ROWS, IDS[:, :1] % 6])
    best = np.argsort(-ROWS, 1)[:, :2] == IDS[:, :1] % 6
    assert metric.update(right) == pytest.approx([best[:, 0].mean(), best.any(1).mean()])


def test_what_programs_have_no_operators_for_says_so(static):
    x, = declared([ROWS])
    with pytest.raises(errors.UnimplementedError, match="histogram has no operators for Variables of programs"):
        paddle.histogram(x)


def test_public_functions_build_or_are_known_not_to():
    """What is missing is a list: a function that is new in the dynamic graph gets operators, or a place here."""
    tensors = {name for name in functions._TABLE if dispatch.building("argosy.dynamic.x", name) is None}
    layers = {name for name in of_tensors._TABLE if dispatch.building("argosy.dynamic.functional.x", name) is None and not name.endswith("_")}
    assert sorted(tensors) == NOT_BUILT.split()
    assert sorted(layers) == NO_LAYERS_BUILT.split()


NOT_BUILT = """angle as_strided atan2 bincount cholesky cummax cummin digamma erfinv fill_diagonal_tensor gcd histogram i0 i0e i1 i1e imag index_put inverse lcm lgamma mode
multigammaln nextafter polygamma quantile renorm unfold unique unique_consecutive"""
NO_LAYERS_BUILT = """adaptive_avg_pool3d adaptive_max_pool3d affine_grid avg_pool3d conv3d conv3d_transpose ctc_loss fold gather_tree grid_sample hsigmoid_loss max_pool3d
max_unpool1d max_unpool2d max_unpool3d temporal_shift"""


def trained(steps=4):
    """A small model after some steps, in the graph of the mode: its state."""
    paddle.seed(11)
    with paddle.utils.unique_name.guard():
        net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.BatchNorm1D(8), nn.Linear(8, 1))
        optimizer = paddle.optimizer.SGD(0.05, parameters=net.parameters() if paddle.in_dynamic_mode() else None)
    if not paddle.in_dynamic_mode():
        x, y = declared([ROWS, ROWS[:, :1]])
        loss = F.mse_loss(net(x), y)
        optimizer.minimize(loss)
        exe = paddle.static.Executor()
        exe.run(paddle.static.default_startup_program())
        for _ in range(steps):
            exe.run(feed={"in0": ROWS, "in1": ROWS[:, :1].copy()}, fetch_list=[loss])
        return net, {key: np.array(value.get_value()) for key, value in net.state_dict().items()}
    for _ in range(steps):
        F.mse_loss(net(paddle.to_tensor(ROWS)), paddle.to_tensor(ROWS[:, :1])).backward()
        optimizer.step()
        optimizer.clear_grad()
    return net, {key: value.numpy() for key, value in net.state_dict().items()}


def test_a_seed_trains_both_graphs_alike(fluid):
    _, computed = trained()
    paddle.enable_static()
    _, built = trained()
    assert computed.keys() == built.keys()
    for key, value in computed.items():
        assert np.allclose(value, built[key], atol=1e-5), key


def test_states_go_round_in_static_mode(static, tmp_path):
    net, state = trained()
    path = str(tmp_path / "net.pdparams")
    paddle.save(net.state_dict(), path)
    for parameter in net.parameters():
        parameter.set_value(np.zeros(parameter.shape, "float32"))
    assert not np.array(net[0].weight.get_value()).any()
    assert net.set_state_dict(paddle.load(path)) == ([], [])
    assert all(np.array_equal(np.array(value.get_value()), state[key]) for key, value in net.state_dict().items())
    paddle.static.save(paddle.static.default_main_program(), str(tmp_path / "program"))
    net[0].weight.set_value(np.zeros([6, 8], "float32"))
    paddle.static.load(paddle.static.default_main_program(), str(tmp_path / "program"), paddle.static.Executor())
    assert np.array_equal(np.array(net[0].weight.get_value()), state["0.weight"])
    stream = io.BytesIO()
    paddle.save(net.state_dict(), stream)
    paddle.disable_static()
    stream.seek(0)
    same = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.BatchNorm1D(8), nn.Linear(8, 1))
    assert same.set_state_dict(paddle.load(stream)) == ([], [])
    assert np.array_equal(same[0].weight.numpy(), state["0.weight"])


def test_values_need_the_startup_program(static):
    layer = nn.Linear(2, 1)
    with pytest.raises(errors.FailedPreconditionError, match="'linear_0.w_0' has no value yet; run the startup program first"):
        layer.weight.set_value(np.ones([2, 1], "float32"))
    paddle.static.Executor().run(paddle.static.default_startup_program())
    with pytest.raises(errors.InvalidArgumentError, match=r"shape \[2, 1\]; found \[3\]"):
        layer.weight.set_value(np.ones([3], "float32"))


def test_a_test_program_drops_nothing_and_uses_running_values(static):
    x, = declared([ROWS])
    layer = nn.BatchNorm1D(6)
    out = nn.Dropout(0.5)(layer(x))
    exe, test = paddle.static.Executor(), paddle.static.default_main_program().clone(for_test=True)
    exe.run(paddle.static.default_startup_program())
    found, = exe.run(test, feed={"in0": ROWS}, fetch_list=[out.name])
    assert np.allclose(found, ROWS / np.sqrt(1 + 1e-5), atol=1e-5)


class Numbers(paddle.io.Dataset):
    def __getitem__(self, index):
        return np.full([2], index, "float32"), index

    def __len__(self):
        return 5


class Stream(paddle.io.IterableDataset):
    def __iter__(self):
        return iter([np.full([2], i, "float32")] for i in range(5))


def test_a_loader_feeds_programs(static):
    x, label = paddle.static.data("x", [None, 2]), paddle.static.data("label", [None], "int64")
    exe, total = paddle.static.Executor(), paddle.sum(x) + paddle.sum(label).astype("float32")
    batches = list(paddle.io.DataLoader(Numbers(), batch_size=2, drop_last=True)())
    assert [np.array(one).shape for one in batches[0]] == [(2, 2), (2,)] and len(batches) == 2
    assert float(exe.run(feed=dict(zip(["x", "label"], batches[1], strict=True)), fetch_list=[total])[0]) == 15
    sampler = paddle.io.BatchSampler(Numbers(), batch_size=3)
    fed = [exe.run(feed=batch, fetch_list=[total])[0] for batch in paddle.io.DataLoader(Numbers(), feed_list=[x, label], return_list=False, batch_sampler=sampler)]
    assert [float(one) for one in fed] == [9, 21]
    assert [np.array(part).tolist() for part, in paddle.io.DataLoader(Stream(), batch_size=4)] == [[[i, i] for i in range(4)], [[4, 4]]]
    with pytest.raises(errors.InvalidArgumentError, match="feed_list has 1 variables, and a batch has 2 parts"):
        next(iter(paddle.io.DataLoader(Numbers(), feed_list=[x], return_list=False)))


def test_dicts_of_a_loader_are_for_programs():
    with pytest.raises(errors.InvalidArgumentError, match="return_list=False gives dicts for a static program"):
        paddle.io.DataLoader(Numbers(), return_list=False)


def test_sparse_layers_train_their_rows(static):
    ids, = declared([IDS])
    layer = nn.Embedding(7, 2, sparse=True, weight_attr=paddle.ParamAttr(name="table", initializer=nn.initializer.Constant(1.0)))
    loss = paddle.sum(layer(ids))
    paddle.optimizer.SGD(0.5).minimize(loss)
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    exe.run(feed={"in0": IDS}, fetch_list=[loss])
    assert np.allclose(np.array(layer.weight.get_value())[:, 0], 1 - 0.5 * np.bincount(IDS.ravel(), minlength=7))


def test_constants_of_programs(static):
    built = [paddle.to_tensor([1.0, 2.0]), paddle.eye(2), paddle.arange(3), paddle.randint(2, 4, [50]), paddle.randperm(5), paddle.zeros([2]), paddle.standard_normal([3])]
    values = ran(built, [])
    assert values[0].tolist() == [1, 2] and values[1].tolist() == [[1, 0], [0, 1]] and values[2].tolist() == [0, 1, 2]
    assert set(values[3].tolist()) == {2, 3} and sorted(values[4].tolist()) == [0, 1, 2, 3, 4] and values[6].shape == (3,)
    assert isinstance(built[0], _core.Variable)


def test_drawn_positions_follow_the_weights(static):
    weights, = declared([np.array([[0.0, 1.0, 3.0]] * 200, "float32")])
    alone, pair = ran([paddle.multinomial(weights), paddle.multinomial(weights, 2)], [np.array([[0.0, 1.0, 3.0]] * 200, "float32")])
    assert set(alone.ravel().tolist()) == {1, 2} and 110 < (alone == 2).sum() < 190
    assert all(sorted(row) == [1, 2] for row in pair.tolist())


def test_sums_of_a_click_model_go_on_over_batches(static):
    x, label = paddle.static.data("x", [None, 1]), paddle.static.data("label", [None, 1], "int64")
    sums = paddle.static.ctr_metric_bundle(x, label)
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    given, wanted = np.array([[0.25], [0.75]], "float32"), np.array([[0], [1]])
    for _ in range(2):
        found = exe.run(feed={"x": given, "label": wanted}, fetch_list=list(sums))
    assert [float(one) for one in found] == pytest.approx([0.25, 1.0, 2.0, 2 * (1 / (1 + np.exp(-given))).sum(), 2.0, 4.0])
    with pytest.raises(errors.InvalidArgumentError, match="leave ins_tag_weight out"):
        paddle.static.ctr_metric_bundle(x, label, x)


def test_a_fed_value_may_leave_out_last_axes_of_size_1(static):
    x = paddle.static.data("x", [None, 1])
    exe = paddle.static.Executor()
    assert exe.run(feed={"x": np.ones([3], "float32")}, fetch_list=[x + x])[0].shape == (3, 1)
    tensor = paddle.fluid.core.LoDTensor()
    tensor.set(np.ones([2], "float32"))
    assert exe.run(feed={"x": tensor}, fetch_list=[x + x])[0].shape == (2, 1)
    with pytest.raises(errors.InvalidArgumentError, match=r"fed shape \[3, 2\], expected \[-1, 1\]"):
        exe.run(feed={"x": np.ones([3, 2], "float32")}, fetch_list=[x + x])


@pytest.fixture
def no_job(monkeypatch):
    for name in ("TRAINING_ROLE", "PADDLE_TRAINING_ROLE", "PADDLE_PSERVERS_IP_PORT_LIST", "PADDLE_PSERVER_IPS", "PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM"):
        monkeypatch.delenv(name, raising=False)


def test_a_script_for_servers_trains_alone_without_a_launcher(static, no_job):
    from paddle.distributed import fleet

    made = fleet.Fleet(_core.Fleet())
    with pytest.warns(UserWarning, match="no parameter servers, and this process trains alone; start the script by fleetrun"):
        made.init()
    assert made.is_worker() and made.is_first_worker() and not made.is_server() and (made.worker_num(), made.server_num()) == (1, 0)
    ids, = declared([IDS[:, :1]])
    loss = paddle.mean(paddle.static.nn.sparse_embedding(ids, [7, 2]))
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = True
    made.distributed_optimizer(paddle.optimizer.SGD(0.5), strategy).minimize(loss)
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    made.init_worker()
    losses = [float(exe.run(feed={"in0": IDS[:, :1].copy()}, fetch_list=[loss])[0]) for _ in range(3)]
    made.stop_worker()
    assert losses[0] > losses[1] > losses[2]


def test_what_a_script_says_of_its_program(static):
    options = paddle.static.default_main_program()._fleet_opt
    options["stat_var_names"] = ["auc"]
    assert paddle.static.default_main_program()._fleet_opt == {"stat_var_names": ["auc"]}
    with pytest.raises(errors.InvalidArgumentError, match="workers write no fields"):
        options["dump_fields"] = ["x"]
    with pytest.raises(errors.InvalidArgumentError, match="_fleet_opt has dump_fields_path, .* found 'colour'"):
        options["colour"] = "red"


def test_workers_write_nothing_of_batches_to_files():
    from paddle.distributed import fleet

    strategy = fleet.DistributedStrategy()
    strategy.trainer_desc_configs = {"dump_fields_path": "", "dump_fields": [], "stat_var_names": []}
    with pytest.raises(errors.InvalidArgumentError, match="trainer_desc_configs: dump_fields = "):
        strategy.trainer_desc_configs = {"dump_fields": ["x"]}
    with pytest.raises(AttributeError, match="trainer_desc_configs has no setting 'colour'"):
        strategy.trainer_desc_configs = {"colour": 1}
    with pytest.warns(UserWarning, match="adam_d2sum = True: servers move dense parameters of Adam by Adam's own rule"):
        strategy.adam_d2sum = True
