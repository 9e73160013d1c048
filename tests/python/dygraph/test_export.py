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


def test_what_is_no_place_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    """It left folders named s4: behind, and the layer in them."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(errors.InvalidArgumentError, match="there is no store for 's4://bucket/net'"):
        paddle.jit.save(Computed(F.relu), "s4://bucket/net", [InputSpec([-1, 4])])
    assert not list(tmp_path.iterdir())
    (tmp_path / "s4:" / "bucket").mkdir(parents=True)
    with pytest.raises(errors.InvalidArgumentError, match="s4://"):
        paddle.jit.save(Computed(F.relu), "s4://bucket/net", [InputSpec([-1, 4])])
    assert not list((tmp_path / "s4:" / "bucket").iterdir())
    paddle.jit.save(Computed(F.relu), "new/folder/net", [InputSpec([-1, 4])])
    assert sorted(file.suffix for file in (tmp_path / "new" / "folder").iterdir()) == [".pdiparams", ".pdmodel", ".pt"]


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


class Towers(paddle.nn.Layer):
    """Lists of inputs, tables, a running statistic and several outputs."""

    def __init__(self):
        super().__init__()
        self.table, self.norm = paddle.nn.Embedding(10, 4, sparse=True), paddle.nn.BatchNorm1D(3)
        self.mix = paddle.nn.Sequential(paddle.nn.Linear(11, 8), paddle.nn.ReLU(), paddle.nn.Linear(8, 2))

    def forward(self, slots, dense):
        pooled = [self.table(slot).sum(axis=1) for slot in slots]
        out = self.mix(paddle.concat([*pooled, self.norm(dense)], axis=1))
        return F.softmax(out), out.sum(axis=1, keepdim=True)


SPECS = [[InputSpec([None, 1], "int64", "a"), InputSpec([None, 1], "int64", "b")], InputSpec([None, 3], "float32", "dense")]


def test_a_layer_is_saved_as_a_program_too(fluid, tmp_path):
    """Also after training, with inputs in lists; the program has the layer's parameters under their names."""
    layer = Towers()
    arrays = [np.array([[1], [2], [9]]), np.array([[3], [3], [0]]), np.random.rand(3, 3).astype("float32")]
    a, b, dense = map(paddle.to_tensor, arrays)
    layer([a, b], dense)  # moves the running statistics
    paddle.jit.save(paddle.jit.to_static(layer, input_spec=SPECS), str(tmp_path / "net"))
    assert layer.training and isinstance(layer.table.weight, paddle.Tensor) and paddle.in_dynamic_mode()
    layer.eval()
    expected = [one.numpy() for one in layer([a, b], dense)]
    exe = paddle.static.Executor()
    program, feeds, fetches = paddle.static.load_inference_model(str(tmp_path / "net"), exe)
    found = exe.run(program, feed=dict(zip(feeds, arrays, strict=True)), fetch_list=fetches)
    assert feeds == ["a", "b", "dense"] and all(np.allclose(one, other, atol=1e-5) for one, other in zip(found, expected, strict=True))
    assert {one.name for one in layer.parameters()} <= {one.name for one in program.list_vars() if one.persistable}


@pytest.mark.parametrize("function", [lambda x: x / x.shape[0], lambda x: x * 2 if float(x.sum()) > -1e9 else x])
def test_a_layer_that_is_no_program_is_saved_as_torchscript_alone(tmp_path, function):
    with pytest.warns(UserWarning, match="net.pt alone: as a program it fails"):
        paddle.jit.save(Computed(function), str(tmp_path / "net"), [InputSpec([-1, 4])])
    assert (tmp_path / "net.pt").exists() and not (tmp_path / "net.pdmodel").exists()


def test_a_program_alone_is_a_layer_that_predicts(tmp_path):
    """As PaddlePaddle writes it: a .pdmodel and a .pdiparams, and no record of torch's."""
    layer, x = paddle.nn.Linear(3, 2), paddle.rand([4, 3])
    paddle.jit.save(layer, str(tmp_path / "linear"), input_spec=[paddle.static.InputSpec([None, 3], "float32", "x")])
    (tmp_path / "linear.pt").unlink()
    again = paddle.jit.load(str(tmp_path / "linear"))
    again.eval()
    assert isinstance(again, paddle.jit.TranslatedLayer)
    assert np.allclose(again(x).numpy(), layer(x).numpy(), atol=1e-6) and again(x).stop_gradient
    with pytest.raises(errors.NotFoundError, match="other.pt: no such file, and no .*other.pdmodel"):
        paddle.jit.load(str(tmp_path / "other"))
