"""fluid.layers' functions that are those of 2.x under other names of arguments, and what they are made of."""

import numpy as np
import pytest
from comparing import declared, parts, ran

import paddle

DRAW = np.random.RandomState(9)
X = DRAW.uniform(-2, 2, [3, 4]).astype("float32")
Y = DRAW.uniform(-2, 2, [3, 4]).astype("float32")
SQUARE = DRAW.uniform(-2, 2, [4, 4]).astype("float32")
IMAGE = DRAW.uniform(-2, 2, [2, 4, 4, 4]).astype("float32")
ROWS, WHOLE = np.array([[0], [2]]), np.array([[1, 0], [3, 2], [0, 0]])

CALLS = """
    L.addmm(x, x, s, alpha=2.0, beta=0.5)                     | paddle.addmm(x, x, s, beta=0.5, alpha=2.0)
    L.cross(x[:, :3], y[:, :3], 1)                            | paddle.cross(x[:, :3], y[:, :3], axis=1)
    L.diag(diagonal=x[0])                                     | paddle.diag(x[0])
    L.diag_embed(x, 1)                                        | paddle.diag_embed(x, 1)
    L.dist(x, y, 1)                                           | paddle.dist(x, y, 1)
    L.elementwise_equal(x, x)                                 | paddle.equal(x, x)
    L.flip(x, dims=[0])                                       | paddle.flip(x, axis=[0])
    L.full([2, 3], 1.5, None, "float32")                      | paddle.full([2, 3], 1.5)
    L.full_like(x, 2.0)                                       | paddle.full_like(x, 2.0)
    L.index_sample(x, w)                                      | paddle.index_sample(x, w)
    L.index_select(x, w[0], dim=1)                            | paddle.index_select(x, w[0], axis=1)
    L.kron(x, y)                                              | paddle.kron(x, y)
    L.log1p(L.abs(x))                                         | paddle.log1p(paddle.abs(x))
    L.logsumexp(x, dim=1, keepdim=True)                       | paddle.logsumexp(x, axis=1, keepdim=True)
    L.meshgrid([x[0], y[1]])                                  | paddle.meshgrid([x[0], y[1]])
    L.nonzero(x)                                              | paddle.nonzero(x)
    L.roll(x, 1, dims=1)                                      | paddle.roll(x, 1, axis=1)
    L.scatter_nd(r, x[:2], [5, 4])                            | paddle.scatter_nd(r, x[:2], [5, 4])
    L.scatter_nd_add(ref=x, index=r, updates=y[:2])           | paddle.scatter_nd_add(x, r, y[:2])
    L.shard_index(r, 4, 2, 1)                                 | paddle.shard_index(r, 4, 2, 1)
    L.stanh(x, 0.5, 2.0)                                      | paddle.stanh(x, 0.5, 2.0)
    L.t(x)                                                    | paddle.t(x)
    L.trace(x, dim1=1, dim2=0)                                | paddle.trace(x, axis1=1, axis2=0)
    L.tril(x, -1)                                             | paddle.tril(x, -1)
    L.triu(input=x, diagonal=1)                               | paddle.triu(x, 1)
    L.arange(1, 7, 2, "int64")                                | paddle.arange(1, 7, 2, "int64")
    L.eye(2, 3)                                               | paddle.eye(2, 3)
    L.eye(2, batch_shape=[3, 2])                              | paddle.eye(2).expand([3, 2, 2, 2])
    L.hard_shrink(x, 0.7)                                     | F.hardshrink(x, 0.7)
    L.softshrink(x, alpha=0.3)                                | F.softshrink(x, 0.3)
    L.thresholded_relu(x, 0.4)                                | F.thresholded_relu(x, 0.4)
    L.selu(x)                                                 | F.selu(x)
    L.mish(x)                                                 | F.mish(x)
    L.maxout(m, 2)                                            | F.maxout(m, 2)
    L.pixel_shuffle(m, 2)                                     | F.pixel_shuffle(m, 2)
    L.temporal_shift(m, 2, 0.25)                              | F.temporal_shift(m, 2, 0.25)
    L.unfold(m, [2, 2])                                       | F.unfold(m, [2, 2])
    L.multiplex([x, y], index=t)                              | paddle.multiplex([x, y], t)
    L.npair_loss(x, y, k, 0.01)                               | F.npair_loss(x, y, k, 0.01)
    L.clamp(x, -1.0, 0.5)                                     | paddle.clip(x, -1.0, 0.5)
    L.brelu(x, -0.5, 1)                                       | paddle.clip(x, -0.5, 1.0)
    L.soft_relu(x, 1.5)                                       | paddle.log(1 + paddle.exp(paddle.clip(x, -1.5, 1.5)))
    L.fsp_matrix(m, m)                                        | paddle.einsum("bcij,bdij->bcd", m, m) / 16.0
    L.shuffle_channel(m, 2)                                   | m.reshape([2, 2, 2, 4, 4]).transpose([0, 2, 1, 3, 4]).reshape([2, 4, 4, 4])
"""


@pytest.mark.parametrize("ours, same", [[one.strip() for one in line.split("|")] for line in CALLS.strip().splitlines()])
def test_a_function_of_1_8_builds_what_that_of_2_x_computes(static, ours, same):
    arrays = {
        "x": X,
        "y": Y,
        "s": SQUARE,
        "m": IMAGE,
        "r": ROWS,
        "w": WHOLE,
        "t": np.array([[1], [0], [1]], "int32"),
        "k": np.array([0.0, 1.0, 0.0], "float32"),
    }
    known = {"paddle": paddle, "F": paddle.nn.functional, "L": static.layers}
    built = parts(eval(ours, known | dict(zip(arrays, declared(list(arrays.values()), batch=False)))))
    found = ran(built, list(arrays.values()))
    paddle.disable_static()
    expected = parts(eval(same, known | {name: paddle.to_tensor(value) for name, value in arrays.items()}))
    for one, other in zip(found, expected, strict=True):
        assert np.allclose(one, other.numpy(), atol=2e-5) and one.size == other.size and str(one.dtype) == str(other.numpy().dtype)


def taught_loss(x, label, least=-15.0, most=15.0):
    """(losses, gradients) as the operator of 1.8.5 has them."""
    log = np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))
    click = ((label >= -1) & (label < 0)) | (label >= 1)
    estimated = label >= 0
    p = 1 / (1 + np.exp(-np.clip(x, least, most)))
    gradient = np.where(estimated, 2 * p - label, p - click)
    return log - x * click + np.where(estimated, log - x * (label - click), 0), np.where((x >= most) | (x <= least), 0, gradient)


def test_a_teachers_estimate_and_clicks(static):
    logits = np.array([[-20.0], [-3.0], [-0.5], [0.0], [0.7], [2.0], [16.0]], "float32").repeat(4, 0)
    label = np.tile(np.array([[-2.0], [-1.0], [0.3], [1.6]], "float32"), [7, 1])
    x, y = declared([logits, label])
    x.stop_gradient = False
    loss = static.layers.teacher_student_sigmoid_loss(x, y)
    found, gradient = ran([loss, *static.gradients(loss, x)], [logits, label])
    expected, by_logits = taught_loss(logits.astype("float64"), label.astype("float64"))
    assert np.allclose(found, expected, atol=1e-5) and np.allclose(gradient, by_logits, atol=1e-5)
    assert (gradient[:4] == 0).all() and (gradient[-4:] == 0).all() and (gradient[4:-4] != 0).any()


def test_arguments_that_are_not_there_are_named(static):
    (x,) = declared([X])
    with pytest.raises(TypeError, match=r"flip\(\) takes input, dims, name; found 1 arguments in order, and \['axis'\]"):
        static.layers.flip(x, axis=0)
    with pytest.raises(TypeError, match=r"kron\(\): out is not there"):
        static.layers.kron(x, x, out=x)
    with pytest.raises(TypeError, match=r"randperm\(\): out is not there"):
        static.layers.randperm(3, out=x)


@pytest.mark.parametrize("name, args", [("full", ([2], 1.5)), ("full_like", (X, 1.5)), ("randint", (0, 5, [3])), ("randn", ([3],)), ("randperm", (3,))])
def test_where_a_function_computes_is_its_executors(static, name, args):
    args = [declared([X])[0] if one is X else one for one in args]
    function = getattr(static.layers, name)
    function(*args, device=paddle.get_device().partition(":")[0])
    other = "gpu" if paddle.get_device() == "cpu" else "cpu"
    with pytest.raises(NotImplementedError, match=rf"{name}\(\): device='{other}': an operator computes where its Executor does"):
        function(*args, device=other)
    with pytest.raises(ValueError, match="device is 'cpu', 'gpu' or None; found 'tpu'"):
        function(*args, device="tpu")


@pytest.mark.parametrize("stop", [True, False])
def test_stop_gradient_is_what_was_asked_for(static, stop):
    (x,) = declared([X])
    made = [static.layers.full([2], 1.5, stop_gradient=stop), static.layers.full_like(x, 1.5, stop_gradient=stop), static.layers.randn([2], stop_gradient=stop)]
    assert [one.stop_gradient for one in made] == [stop] * 3


def test_a_seed_fixes_the_order_of_randperm(static):
    found = ran([static.layers.randperm(50, seed=3), static.layers.randperm(50, seed=3), static.layers.randperm(50, seed=4)], [])
    assert (found[0] == found[1]).all() and (found[0] != found[2]).any()


@pytest.mark.parametrize("threshold", [1, 20])
def test_mish_has_a_threshold(static, threshold):
    x = np.array([-200.0, -1.5, -0.5, 0.5, 1.5, 200.0], "float32")
    (variable,) = declared([x])
    variable.stop_gradient = False
    out = static.layers.mish(variable, threshold)
    found, gradient = ran([out, *static.gradients(out, variable)], [x])
    wide = x.astype("float64")
    log = np.where(wide > threshold, wide, np.where(wide < -threshold, np.exp(wide), np.log1p(np.exp(np.minimum(wide, 30)))))
    assert np.allclose(found, wide * np.tanh(log), atol=1e-6) and np.isfinite(gradient).all()


def test_random_ones_have_their_shapes(static):
    whole, normal, order, empty = ran(
        [
            static.layers.randint(2, 5, [100]),
            static.layers.randn([50, 2]),
            static.layers.randperm(10),
            static.layers.is_empty(static.layers.ones([1], "float32")),
        ],
        [],
    )
    assert set(whole.tolist()) == {2, 3, 4} and normal.shape == (50, 2) and sorted(order.tolist()) == list(range(10)) and not empty.any()
