"""The functions of paddle.nn.functional give the same numbers, and gradients, in a program as on tensors."""

import numpy as np
import pytest
from comparing import BOOLEANS, BOXES, DRAW, IDS, IMAGES, OTHER, ROWS, check, declared, loss_of, parts, ran

import paddle
import paddle.nn.functional as F

VOLUMES = DRAW.rand(2, 2, 4, 6, 6).astype("float32")
LINES = np.arange(24, dtype="float32").reshape(2, 2, 6) % 7
FUNCTIONAL = {
    **{
        name: ([(ROWS - 0.6) * 4], {})
        for name in (
            "celu elu gelu glu hardshrink hardsigmoid hardswish hardtanh leaky_relu log_sigmoid log_softmax mish relu relu6 selu sigmoid silu softmax "
            "softshrink softsign swish tanh tanhshrink thresholded_relu"
        ).split()
    },
    **{name: ([ROWS, OTHER], {}) for name in "l1_loss mse_loss square_error_cost cosine_similarity pairwise_distance".split()},
    **{name: ([ROWS * 0.8, BOOLEANS.astype("float32")], {}) for name in "binary_cross_entropy log_loss".split()},
    **{name: ([IMAGES], {"training": False}) for name in "dropout dropout2d alpha_dropout".split()},
    "dropout3d": ([VOLUMES], {"training": False}),
    "adaptive_avg_pool1d": ([LINES], {"output_size": 4}),
    "adaptive_avg_pool2d": ([IMAGES], {"output_size": [2, 4]}),
    "avg_pool1d": ([LINES], {"kernel_size": 3, "padding": 1}),
    "avg_pool2d": ([IMAGES], {"kernel_size": 3, "stride": 2, "padding": 1}),
    "conv1d": ([LINES, DRAW.rand(3, 2, 2).astype("float32")], {"padding": 1}),
    "conv1d_transpose": ([LINES, DRAW.rand(2, 3, 2).astype("float32")], {"stride": 2}),
    "conv2d": ([IMAGES, DRAW.rand(2, 4, 3, 3).astype("float32")], {"dilation": 2}),
    "conv2d_transpose": ([IMAGES, DRAW.rand(4, 2, 3, 3).astype("float32")], {"stride": 2, "output_size": [14, 13]}),
    "batch_norm": ([IMAGES, ROWS[0, :4].copy(), ROWS[1, :4].copy()], {}),
    "layer_norm": ([ROWS], {"normalized_shape": [6]}),
    "group_norm": ([IMAGES], {"num_groups": 2}),
    "instance_norm": ([IMAGES], {}),
    "local_response_norm": ([IMAGES], {"size": 3}),
    "bilinear": ([ROWS, OTHER, DRAW.rand(3, 6, 6).astype("float32")], {}),
    "linear": ([ROWS, DRAW.rand(6, 3).astype("float32"), ROWS[0, :3].copy()], {}),
    "embedding": ([IDS, DRAW.rand(7, 5).astype("float32")], {}),
    "one_hot": ([IDS], {"num_classes": 7}),
    "prelu": ([ROWS - 0.5, np.array([0.25], "float32")], {}),
    "softmax_with_cross_entropy": ([ROWS, IDS[:, :1] % 6], {}),
    "triplet_margin_with_distance_loss": ([ROWS, OTHER, ROWS * 2], {}),
    "upsample": ([IMAGES], {"scale_factor": 2}),
    "max_pool1d": ([LINES], {"kernel_size": 3, "stride": 2, "padding": 1, "return_mask": True}),
    "max_pool2d": ([IMAGES], {"kernel_size": 3, "stride": 2, "padding": 1, "return_mask": True}),
    "adaptive_max_pool1d": ([LINES], {"output_size": 4, "return_mask": True}),
    "adaptive_max_pool2d": ([IMAGES], {"output_size": [2, 3], "return_mask": True}),
    "smooth_l1_loss": ([ROWS, OTHER], {}),
    "kl_div": ([np.log(ROWS), OTHER], {"reduction": "batchmean"}),
    "margin_ranking_loss": ([ROWS, OTHER, np.sign(ROWS - 0.5)], {}),
    "hinge_embedding_loss": ([ROWS, np.sign(ROWS - 0.5)], {}),
    "cosine_embedding_loss": ([ROWS, OTHER, np.sign(ROWS[:, 0] - 0.5)], {}),
    "triplet_margin_loss": ([ROWS, OTHER, ROWS * 2], {"swap": True}),
    "soft_margin_loss": ([ROWS, np.sign(ROWS - 0.5)], {}),
    "sigmoid_focal_loss": ([ROWS, BOOLEANS.astype("float32")], {}),
    "label_smooth": ([ROWS], {}),
    "normalize": ([ROWS], {"p": 3}),
    "softplus": ([ROWS], {"beta": 2.0}),
    "nll_loss": ([np.log(ROWS), IDS[:, 0] % 6], {}),
    "cross_entropy": ([ROWS, IDS[:, :1] % 6], {"label_smoothing": 0.1}),
    "multi_label_soft_margin_loss": ([ROWS, BOOLEANS.astype("float32")], {}),
    "dice_loss": ([ROWS, IDS[:, :1] % 6], {}),
    "maxout": ([IMAGES], {"groups": 2}),
    "pad": ([BOXES], {"pad": [1, 2], "data_format": "NCL"}),
    "sequence_mask": ([IDS[:, 0]], {"maxlen": 8}),
    "zeropad2d": ([IMAGES], {"padding": 1}),
    "channel_shuffle": ([IMAGES], {"groups": 2}),
    "pixel_shuffle": ([IMAGES], {"upscale_factor": 2}),
    "pixel_unshuffle": ([IMAGES], {"downscale_factor": 2}),
    "interpolate": ([IMAGES], {"scale_factor": 2}),
    "unfold": ([IMAGES], {"kernel_sizes": [2, 3], "strides": 2, "paddings": 1}),
    "npair_loss": ([ROWS, OTHER, np.array([0.0, 1.0, 0.0, 2.0], "float32")], {}),
    "poisson_nll_loss": ([ROWS, OTHER * 3], {"full": True}),
    "gaussian_nll_loss": ([ROWS, OTHER, ROWS[:, 0].copy()], {"full": True}),
    "multi_margin_loss": ([ROWS, IDS[:, 0] % 6], {"p": 2}),
    "rrelu": ([ROWS - 0.5], {"training": False}),
    "scaled_dot_product_attention": ([IMAGES, IMAGES, IMAGES], {"is_causal": True}),
    "conv3d": ([VOLUMES, DRAW.rand(4, 1, 2, 3, 3).astype("float32"), ROWS[0, :4].copy()], {"groups": 2, "stride": [1, 2, 2], "padding": [0, 1, 1]}),
    "conv3d_transpose": ([VOLUMES, DRAW.rand(2, 3, 2, 2, 2).astype("float32")], {"stride": 2, "output_size": [9, 12, 13]}),
    "max_pool3d": ([VOLUMES], {"kernel_size": 3, "stride": 2, "padding": 1, "return_mask": True}),
    "avg_pool3d": ([VOLUMES], {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True}),
    "adaptive_avg_pool3d": ([VOLUMES], {"output_size": [2, None, 4]}),
    "adaptive_max_pool3d": ([VOLUMES], {"output_size": 2, "return_mask": True}),
    "max_unpool1d": ([BOXES[:, :, :3].copy(), np.tile(np.array([1, 2, 5], "int32"), [4, 3, 1])], {"kernel_size": 2}),
    "max_unpool2d": ([IMAGES[:, :, :1, :2].copy(), np.tile(np.array([[1, 3]], "int32"), [2, 4, 1, 1])], {"kernel_size": 2, "output_size": [2, 4]}),
    "max_unpool3d": ([VOLUMES[:, :, :1, :1, :2].copy(), np.tile(np.array([[[1, 3]]], "int32"), [2, 2, 1, 1, 1])], {"kernel_size": 2}),
    "affine_grid": ([DRAW.rand(2, 2, 3).astype("float32")], {"out_shape": [2, 3, 4, 5], "align_corners": False}),
    "grid_sample": ([IMAGES, DRAW.rand(2, 3, 3, 2).astype("float32") * 2.4 - 1.2], {"padding_mode": "border"}),
    "temporal_shift": ([IMAGES], {"seg_num": 2}),
    "fold": ([DRAW.rand(2, 12, 12).astype("float32")], {"output_sizes": [4, 5], "kernel_sizes": 2}),
    "gather_tree": ([IDS.reshape(3, 2, 2), IDS.reshape(3, 2, 2) % 2], {}),
    "ctc_loss": ([DRAW.rand(5, 2, 4).astype("float32"), np.array([[1, 2], [3, 1]], "int32"), np.array([5, 4]), np.array([2, 1])], {}),
    "hsigmoid_loss": ([ROWS, IDS[:, :1], 7, DRAW.rand(6, 6).astype("float32"), ROWS[0].copy()], {}),
    "binary_cross_entropy_with_logits": ([ROWS, BOOLEANS.astype("float32"), None, "mean", np.full([6], 3, "float32")], {}),
}


@pytest.mark.parametrize("name", FUNCTIONAL)
def test_a_functional_gives_the_same_in_both_graphs(static, name):
    given, more = FUNCTIONAL[name]
    arrays = [one for one in given if isinstance(one, np.ndarray)]
    with paddle.fluid.dygraph.guard():
        computed = parts(getattr(F, name)(*(paddle.to_tensor(one) if isinstance(one, np.ndarray) else one for one in given), **more))
    variables = iter(declared(arrays, batch=False))
    check(computed, ran(parts(getattr(F, name)(*(next(variables) if isinstance(one, np.ndarray) else one for one in given), **more)), arrays))


@pytest.mark.parametrize("name", [name for name, (given, _) in FUNCTIONAL.items() if given[0].dtype == np.float32])
def test_gradients_of_a_functional_are_the_same_in_both_graphs(static, name):
    given, more = FUNCTIONAL[name]
    arrays = [one for one in given if isinstance(one, np.ndarray)]
    with paddle.fluid.dygraph.guard():
        tensors = [paddle.to_tensor(one) if isinstance(one, np.ndarray) else one for one in given]
        tensors[0].stop_gradient = False
        loss_of(getattr(F, name)(*tensors, **more)).backward()
        computed = [tensors[0].grad]
    variables = declared(arrays, batch=False)
    variables[0].stop_gradient = False
    rest = iter(variables)
    built = loss_of(getattr(F, name)(*(next(rest) if isinstance(one, np.ndarray) else one for one in given), **more))
    check(computed, ran(paddle.static.gradients(built, [variables[0]]), arrays), 2e-4)


OWN_TREE = [ROWS, IDS[:, :1], 7, DRAW.rand(6, 6).astype("float32"), None, np.array([[0, 2, -1], [0, 1, 4], [0, 2, 5], [0, -1, 3]]), IDS % 2]
FURTHER = {  # other arguments of functions with a row above
    "channels behind": ("conv3d", [np.moveaxis(VOLUMES, 1, -1).copy(), DRAW.rand(3, 2, 2, 2, 2).astype("float32")], {"data_format": "NDHWC"}),
    "SAME": ("conv3d", [VOLUMES, DRAW.rand(3, 2, 2, 3, 2).astype("float32")], {"padding": "SAME", "stride": 2}),
    "images between the lines": ("interpolate", [IMAGES], {"size": [9, 4], "mode": "bilinear"}),
    "images by a factor": ("interpolate", [np.moveaxis(IMAGES, 1, -1).copy()], {"scale_factor": 1.5, "mode": "bilinear", "data_format": "NHWC"}),
    "corners on corners": ("interpolate", [IMAGES], {"size": [9, 4], "mode": "bilinear", "align_corners": True}),
    "the largest of windows over the edge": ("max_pool3d", [VOLUMES], {"kernel_size": 3, "stride": 2, "ceil_mode": True}),
    "means that count the padding": ("avg_pool3d", [VOLUMES], {"kernel_size": 2, "padding": 1, "exclusive": False}),
    "a divisor of one's own": ("avg_pool3d", [VOLUMES], {"kernel_size": 2, "divisor_override": 3}),
    "frames with channels behind": ("temporal_shift", [np.moveaxis(IMAGES, 1, -1).copy()], {"seg_num": 2, "data_format": "NHWC"}),
    "a tree of one's own": ("hsigmoid_loss", OWN_TREE, {}),
    "padded windows": (
        "fold",
        [DRAW.rand(2, 12, 16).astype("float32")],
        {"output_sizes": [4, 5], "kernel_sizes": 2, "strides": [2, 1], "paddings": [2, 0, 2, 0]},
    ),
}


@pytest.mark.parametrize("case", FURTHER)
def test_other_arguments_of_a_functional_give_the_same_in_both_graphs(static, case):
    name, given, more = FURTHER[case]
    arrays = [one for one in given if isinstance(one, np.ndarray)]
    with paddle.fluid.dygraph.guard():
        computed = parts(getattr(F, name)(*(paddle.to_tensor(one) if isinstance(one, np.ndarray) else one for one in given), **more))
    variables = iter(declared(arrays, batch=False))
    check(computed, ran(parts(getattr(F, name)(*(next(variables) if isinstance(one, np.ndarray) else one for one in given), **more)), arrays))


@pytest.mark.parametrize("padding_idx", [None, 3, -1])
@pytest.mark.parametrize("sparse", [False, True])
def test_an_id_below_0_is_outside_the_table(static, padding_idx, sparse):
    """padding_idx=-1 is the table's last row, and no padding_idx is none: the id -1 is neither, and no quiet row of zeros."""
    ids, table = np.array([[2, -1]], "int64"), np.ones([7, 5], "float32")
    with paddle.fluid.dygraph.guard():
        weight = paddle.to_tensor(table, stop_gradient=False)
        with pytest.raises(IndexError, match="id -1 at position 1 is outside the table with 7 rows"):
            F.embedding(paddle.to_tensor(ids), weight, padding_idx=padding_idx, sparse=sparse)
    rows = F.embedding(*declared([ids, table], batch=False), padding_idx=padding_idx, sparse=sparse)
    with pytest.raises(ValueError, match="variable 'in0': id -1 at position 1 is outside the table 'in1' with 7 rows"):
        ran([rows], [ids, table])
