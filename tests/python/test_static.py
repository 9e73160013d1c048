"""2.x's names: paddle.static, the tensor functions and paddle.nn.functional on variables."""

import numpy
import pytest
import torch

import paddle
import paddle.nn.functional as F
from argosy import errors

A = numpy.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.5]], "float32")
B = numpy.array([[2.0, 1.0, -1.0], [1.5, 2.0, 0.5]], "float32")


@pytest.fixture
def static():
    """Functions without an argument to look at build."""
    paddle.enable_static()
    yield
    paddle.disable_static()


@pytest.fixture
def run(fluid, exe, static):
    """Calls a builder with two variables and returns what it computes of A and B."""

    def compute(build, a=A, b=B):
        x, y = (paddle.static.data(name, list(value.shape), str(value.dtype)) for name, value in (("a", a), ("b", b)))
        built = build(x, y)
        exe.run(fluid.default_startup_program())
        several = isinstance(built, (list, tuple))
        found = exe.run(feed={"a": a, "b": b}, fetch_list=list(built) if several else [built])
        return [numpy.asarray(value) for value in found] if several else numpy.asarray(found[0])

    return compute


BINARY = [
    (lambda x, y: paddle.add(x, y), A + B),
    (lambda x, y: paddle.subtract(x, y), A - B),
    (lambda x, y: paddle.multiply(x, y), A * B),
    (lambda x, y: paddle.divide(x, y), A / B),
    (lambda x, y: paddle.maximum(x, y), numpy.maximum(A, B)),
    (lambda x, y: paddle.minimum(x, y), numpy.minimum(A, B)),
    (lambda x, y: paddle.matmul(x, y, transpose_y=True), A @ B.T),
    (lambda x, y: paddle.pow(x, 2.0), A**2),
    (lambda x, y: paddle.add_n([x, y, x]), 2 * A + B),
    (lambda x, y: paddle.less_than(x, y), A < B),
    (lambda x, y: paddle.equal(x, x), A == A),
    (lambda x, y: paddle.concat([x, y], axis=1), numpy.concatenate([A, B], 1)),
    (lambda x, y: paddle.stack([x, y], axis=1), numpy.stack([A, B], 1)),
    (lambda x, y: paddle.where(x > y, x, y), numpy.maximum(A, B)),
]
UNARY = [
    (lambda x, y: paddle.sum(x, axis=1), A.sum(1)),
    (lambda x, y: paddle.mean(x, axis=0, keepdim=True), A.mean(0, keepdims=True)),
    (lambda x, y: paddle.max(x, axis=1), A.max(1)),
    (lambda x, y: paddle.min(x), A.min()),
    (lambda x, y: paddle.prod(x, axis=1), A.prod(1)),
    (lambda x, y: paddle.reshape(x, [3, -1]), A.reshape(3, 2)),
    (lambda x, y: paddle.transpose(x, [1, 0]), A.T),
    (lambda x, y: paddle.t(x), A.T),
    (lambda x, y: paddle.unsqueeze(x, 1), A[:, None]),
    (lambda x, y: paddle.squeeze(paddle.unsqueeze(x, 0)), A),
    (lambda x, y: paddle.flatten(x), A.ravel()),
    (lambda x, y: paddle.tile(x, [2, 1]), numpy.tile(A, (2, 1))),
    (lambda x, y: paddle.cast(x, "int64"), A.astype("int64")),
    (lambda x, y: paddle.exp(x), numpy.exp(A)),
    (lambda x, y: paddle.abs(x), abs(A)),
    (lambda x, y: paddle.clip(x, max=1.0), A.clip(max=1)),
    (lambda x, y: paddle.scale(x, 2.0, 1.0), 2 * A + 1),
    (lambda x, y: paddle.neg(x), -A),
    (lambda x, y: paddle.argmax(x), A.argmax()),
    (lambda x, y: paddle.argmax(x, axis=1), A.argmax(1)),
    (lambda x, y: paddle.argmax(x, axis=0, keepdim=True, dtype="int32"), A.argmax(0)[None]),
    (lambda x, y: paddle.topk(x, 1, axis=0)[0], A.max(0)[None]),
    (lambda x, y: paddle.topk(x, 1, largest=False)[0], A.min(1)[:, None]),
    (lambda x, y: paddle.sort(x, axis=1), numpy.sort(A, 1)),
    (lambda x, y: paddle.cumsum(x), A.cumsum()),
    (lambda x, y: paddle.cumsum(x, axis=0), A.cumsum(0)),
    (lambda x, y: paddle.gather(x, paddle.assign(numpy.array([2, 0])), axis=1), A[:, [2, 0]]),
    (lambda x, y: paddle.flip(x, [1]), A[:, ::-1]),
    (lambda x, y: paddle.full_like(x, 7.0), numpy.full_like(A, 7)),
    (lambda x, y: paddle.full([2], 3.0), numpy.full(2, 3.0)),
    (lambda x, y: paddle.arange(1, 7, 2), numpy.arange(1, 7, 2)),
    (lambda x, y: paddle.numel(x), 6),
    (lambda x, y: paddle.slice(x, [1], [1], [3]), A[:, 1:3]),
]
OPERATORS = [
    (lambda x, y: x + y, A + B),
    (lambda x, y: 2 - x, 2 - A),
    (lambda x, y: x * 3.0 - 1, A * 3 - 1),
    (lambda x, y: x / 2, A / 2),
    (lambda x, y: 1.0 / y, 1 / B),
    (lambda x, y: y**2, B**2),
    (lambda x, y: -x, -A),
    (lambda x, y: numpy.float32(2) * x, 2 * A),
    (lambda x, y: x[0], A[0]),
    (lambda x, y: x[:, -1], A[:, -1]),
    (lambda x, y: x[..., 1:], A[..., 1:]),
    (lambda x, y: x[1, 1:3], A[1, 1:3]),
    (lambda x, y: x >= y, A >= B),
    (lambda x, y: x != y, A != B),
    (lambda x, y: x.astype("int64"), A.astype("int64")),
    (lambda x, y: x @ paddle.t(y), A @ B.T),
]


@pytest.mark.parametrize("build, expected", BINARY + UNARY + OPERATORS)
def test_functions_compute_what_numpy_does(run, build, expected):
    found = run(build)
    numpy.testing.assert_allclose(found.reshape(numpy.shape(expected)), expected, rtol=1e-5, atol=1e-6)


TA, TB = torch.tensor(A), torch.tensor(B)
FUNCTIONS = [
    (lambda x, y: F.relu(x), torch.relu(TA)),
    (lambda x, y: F.leaky_relu(x, 0.1), torch.nn.functional.leaky_relu(TA, 0.1)),
    (lambda x, y: F.gelu(x), torch.nn.functional.gelu(TA)),
    (lambda x, y: F.sigmoid(x), torch.sigmoid(TA)),
    (lambda x, y: F.silu(x), torch.nn.functional.silu(TA)),
    (lambda x, y: F.softmax(x), torch.softmax(TA, -1)),
    (lambda x, y: F.log_softmax(x), torch.log_softmax(TA, -1)),
    (lambda x, y: F.normalize(x), torch.nn.functional.normalize(TA)),
    (lambda x, y: F.cosine_similarity(x, y), torch.cosine_similarity(TA, TB)),
    (lambda x, y: F.l1_loss(x, y), torch.nn.functional.l1_loss(TA, TB)),
]


@pytest.mark.parametrize("build, expected", FUNCTIONS)
def test_functional_computes_what_torch_does(run, build, expected):
    numpy.testing.assert_allclose(run(build).reshape(expected.shape), expected.numpy(), rtol=1e-4, atol=1e-6)


def test_cross_entropy_leaves_ignored_labels_out(run):
    labels = numpy.array([[2], [-100]])
    found = run(lambda x, y: F.cross_entropy(x, y), A, labels)
    numpy.testing.assert_allclose(found, torch.nn.functional.cross_entropy(TA, torch.tensor(labels.ravel())), rtol=1e-5)


def test_the_largest_pass_gradients_on(run):
    def gradient(x, y):
        x.stop_gradient = False
        return paddle.static.gradients(paddle.topk(x, 2, axis=1)[0], [x])[0]

    assert run(gradient).tolist() == [[1, 0, 1], [1, 1, 0]]


def test_splits_give_lists(run):
    first, second = run(lambda x, y: paddle.split(x, [1, 2], axis=1))
    assert (first == A[:, :1]).all() and (second == A[:, 1:]).all()
    assert len(run(lambda x, y: paddle.chunk(y, 3, axis=1))) == 3


def test_a_call_without_a_variable_or_tensor_says_what_it_takes():
    with pytest.raises(errors.InvalidArgumentError, match="paddle.add: the first argument is a Tensor, or a Variable of a static program; found ndarray"):
        paddle.add(A, B)


def test_what_is_of_the_dynamic_graph_says_so_in_static_mode(static):
    assert not paddle.in_dynamic_mode()
    with pytest.raises(errors.FailedPreconditionError, match="paddle.DataParallel is of the dynamic graph.*disable_static"):
        paddle.DataParallel(paddle.nn.Linear(2, 3))


def test_indices_that_do_not_fit_are_named(run):
    for items, message in (
        (slice(None, None, -2), "a step above 0, or is .*found -2"),
        ("a", "by integers, slices, '...', .*found str"),
        ((0, 0, 0), "3 indices"),
    ):
        with pytest.raises(errors.Error, match=message):
            run(lambda x, y: x[items])


def test_a_static_network_trains(fluid, exe):
    x, label = paddle.static.data("x", [None, 4]), paddle.static.data("label", [None, 1], "int64")
    hidden = paddle.static.nn.fc(x, 8, activation="relu", weight_attr=paddle.ParamAttr(initializer=paddle.nn.initializer.XavierNormal()))
    loss = F.cross_entropy(paddle.static.nn.fc(hidden, 2), label)
    scheduler = paddle.optimizer.lr.StepDecay(0.05, 20)
    clip = paddle.nn.ClipGradByGlobalNorm(5.0)
    paddle.optimizer.Adam(scheduler, weight_decay=paddle.regularizer.L2Decay(1e-4), grad_clip=clip).minimize(loss)
    fluid.default_startup_program().random_seed = 5
    exe.run(paddle.static.default_startup_program())
    random = numpy.random.RandomState(1)
    features = random.randn(64, 4).astype("float32")
    feed = {"x": features, "label": (features.sum(1, keepdims=True) > 0).astype("int64")}
    losses = []
    for _ in range(40):
        losses.append(float(exe.run(feed=feed, fetch_list=[loss])[0]))
        scheduler.step()
    assert losses[-1] < 0.3 * losses[0], losses[::10]


def test_an_input_spec_describes_an_input(fluid):
    spec = paddle.static.InputSpec([None, 4], "int64", "x")
    assert repr(spec) == "InputSpec(shape=(-1, 4), dtype=paddle.int64, name=x, stop_gradient=False)"
    assert spec == paddle.static.InputSpec([-1, 4], "int64", "x") and spec.unbatch().shape == (4,) and spec.batch(3).shape == (3, 4)
    assert paddle.static.InputSpec.from_tensor(paddle.static.data("y", [2])).name == "y"


def test_a_model_is_not_saved_where_no_store_is(exe, static, tmp_path, monkeypatch):
    """A local folder s4: was made."""
    monkeypatch.chdir(tmp_path)
    x = paddle.static.data("x", [None, 2])
    with pytest.raises(errors.InvalidArgumentError, match="s4:// is none of"):
        paddle.static.save_inference_model("s4://bucket/model", [x], [x * 2.0], exe)
    assert not list(tmp_path.iterdir())
