"""jit.save: a record that follows its inputs, or an error."""

import numpy as np
import pytest

import paddle
import paddle.nn.functional as F
from argosy import errors
from paddle.static import InputSpec


class Computed(paddle.nn.Layer):
    """A layer of one function."""

    def __init__(self, function):
        super().__init__()
        self.linear, self.function = paddle.nn.Linear(4, 4), function

    def forward(self, x):
        return self.function(self.linear(x))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.reshape([x.shape[0], 2, 2]),
        lambda x: paddle.reshape(x, [x.shape[0] * 2, -1]),
        lambda x: x.reshape([paddle.shape(x)[0], 2, 2]),
        lambda x: x.reshape(paddle.concat([paddle.shape(x)[:1], paddle.full([2], 2, "int32")])),
        lambda x: x + paddle.zeros([x.shape[0], 1]),
        lambda x: paddle.concat([x, paddle.ones([x.shape[0], 3])], 1),
        lambda x: paddle.expand(x.sum(0, keepdim=True), [x.shape[0], 4]),
        lambda x: paddle.tile(x, [x.shape[0], 1]),
        lambda x: x[: x.shape[0] - 1],
        lambda x: x[: paddle.shape(x)[0] - 1],
        lambda x: x[::-1],
        lambda x: x / paddle.numel(x),
        lambda x: x / x.shape[0],
        lambda x: paddle.full([x.shape[0], 2], 3.0),
        lambda x: F.dropout(x, 0.5),
    ],
)
def test_a_record_follows_sizes(tmp_path, function):
    layer = Computed(function)
    paddle.jit.save(layer, str(tmp_path / "net"), [InputSpec([-1, 4])])
    x = paddle.randn([5, 4])
    paddle.seed(3)
    expected = layer(x).numpy()
    paddle.seed(3)
    assert np.allclose(paddle.jit.load(str(tmp_path / "net"))(x).numpy(), expected, atol=1e-5)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.reshape([int(x.shape[0]), 2, 2]),
        lambda x: x * 2 if x.shape[0] > 2 else x,
        lambda x: x + paddle.to_tensor(np.ones([int(x.shape[0]), 1], "float32")),
    ],
)
def test_a_layer_that_decides_by_sizes_is_refused(tmp_path, function):
    with pytest.raises(errors.InvalidArgumentError, match=r"Computed.forward decides by the sizes .*with shapes \[\[2, 4\]\] and run with \[\[3, 4\]\]"):
        paddle.jit.save(Computed(function), str(tmp_path / "net"), [InputSpec([-1, 4])])
    assert not list(tmp_path.iterdir())
    paddle.jit.save(Computed(function), str(tmp_path / "net"), [InputSpec([3, 4])])


class Signed(paddle.nn.Layer):
    def forward(self, x):
        return x * 2 if x.mean() > 0 else x - 1


def test_a_layer_that_decides_by_values_is_refused(tmp_path):
    with pytest.raises(errors.InvalidArgumentError, match="Signed.forward decides by the values .*output 0 of the record has other values"):
        paddle.jit.save(Signed(), str(tmp_path / "net"), [InputSpec([-1, 4])])
    assert not list(tmp_path.iterdir())


def test_what_a_layer_counts_stays_as_it_was(tmp_path):
    layer = paddle.nn.Sequential(paddle.nn.Conv2D(1, 2, 3), paddle.nn.BatchNorm2D(2))
    before = {name: part.numpy() for name, part in layer.state_dict().items()}
    paddle.jit.save(layer, str(tmp_path / "net"), [InputSpec([-1, 1, 8, 8])])
    assert layer.training and all(np.array_equal(part.numpy(), before[name]) for name, part in layer.state_dict().items())


def test_ids_that_a_table_does_not_have_say_nothing(tmp_path):
    table = paddle.nn.Embedding(1, 3)  # the check's other ids lie outside of it
    paddle.jit.save(table, str(tmp_path / "net"), [InputSpec([-1], "int64")])
    assert paddle.jit.load(str(tmp_path / "net"))(paddle.zeros([4], "int64")).shape == [4, 3]
