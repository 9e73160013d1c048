"""Layers: what is registered, in which order, under which names, and how states travel."""

import copy

import numpy as np
import pytest

import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from argosy import errors


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 3)
        self.norm = nn.BatchNorm1D(3)
        self.scale = self.create_parameter([1], default_initializer=nn.initializer.Constant(2.0))
        self.register_buffer("seen", paddle.zeros([1]))
        self.register_buffer("scratch", paddle.zeros([1]), persistable=False)

    def forward(self, x):
        return self.norm(self.first(x)) * self.scale


def test_parts_are_found_by_name_and_in_order():
    net = Net()
    assert [name for name, _ in net.named_parameters()] == ["scale", "first.weight", "first.bias", "norm.weight", "norm.bias"]
    assert list(net.state_dict()) == ["scale", "seen", "first.weight", "first.bias", "norm.weight", "norm.bias", "norm._mean", "norm._variance"]
    assert [name for name, _ in net.named_sublayers()] == ["first", "norm"] and len(net.buffers()) == 4
    assert [p.name for p in net.parameters()] == ["net_0.w_0", "linear_0.w_0", "linear_0.b_0", "batch_norm1d_0.w_0", "batch_norm1d_0.b_0"]
    assert net.full_name() == "net_0" and net.first.weight.shape == [4, 3]


def test_a_part_before_init_is_an_error():
    class Early(nn.Layer):
        def __init__(self):
            self.part = nn.Linear(1, 1)

    with pytest.raises(errors.InvalidArgumentError, match="before super.*call that first"):
        Early()


def test_attributes_replace_and_delete_parts():
    net = Net()
    net.first = nn.Linear(4, 3, bias_attr=False)
    assert net.first.bias is None and "first.bias" not in net.state_dict()
    net.scale = None
    assert net.scale is None and "scale" not in net.state_dict()
    net.seen = paddle.ones([1])
    assert net.state_dict()["seen"].item() == 1
    del net.norm
    assert not hasattr(net, "norm")
    with pytest.raises(errors.InvalidArgumentError, match="first is a part of the layer; it takes None or another one, found int"):
        net.first = 3


def test_states_travel_and_tell_what_did_not_fit():
    net, other = Net(), Net()
    state = {name: value.numpy() for name, value in net.state_dict().items() if name != "seen"}
    missing, unexpected = other.set_state_dict({**state, "extra": np.ones(1)})
    assert missing == ["seen"] and unexpected == ["extra"]
    assert all((other.state_dict()[name].numpy() == value).all() for name, value in state.items())
    with pytest.warns(UserWarning, match=r"'scale' has shape \[1\] and the state \[2\]; it stays"):
        other.set_state_dict({"scale": np.ones(2)})
    by_name = {p.name: np.full(p.shape, 3.0, "float32") for p in other.state_dict().values()}
    other.set_state_dict(by_name, use_structured_name=False)
    assert other.first.bias.tolist() == [3.0] * 3


def test_train_and_eval_reach_every_layer():
    net = nn.Sequential(nn.Dropout(0.5), nn.Sequential(nn.Dropout(0.5)))
    x = paddle.ones([200])
    assert (net(x).numpy() == 0).any()
    net.eval()
    assert (net(x).numpy() == 1).all()


def test_hooks_change_inputs_and_outputs():
    layer = nn.Linear(2, 2)
    before = layer.register_forward_pre_hook(lambda layer, given: (given[0] * 0,))
    after = layer.register_forward_post_hook(lambda layer, given, found: found + 1)
    assert (layer(paddle.ones([1, 2])).numpy() == 1 + layer.bias.numpy()).all()
    before.remove()
    after.remove()
    assert np.allclose(layer(paddle.ones([1, 2])).numpy(), layer.weight.numpy().sum(0) + layer.bias.numpy())


def test_containers():
    layers = nn.LayerList([nn.Linear(1, 1), nn.ReLU()])
    layers.append(nn.Linear(1, 2)).insert(0, nn.Tanh())
    assert len(layers) == 4 and isinstance(layers[0], nn.Tanh) and list(layers.state_dict()) == ["1.weight", "1.bias", "3.weight", "3.bias"]
    named = nn.Sequential(("a", nn.Linear(2, 3)), ("b", nn.ReLU()))
    assert named["a"].weight.shape == [2, 3] and named(paddle.ones([1, 2])).shape == [1, 3] and len(named[:1]) == 1
    assert len(nn.ParameterList([named["a"].weight]).parameters()) == 1 and sorted(nn.LayerDict({"x": nn.ReLU()}).keys()) == ["x"]


def test_initializers_and_attributes():
    layer = nn.Linear(
        300,
        200,
        weight_attr=paddle.ParamAttr(name="w", initializer=nn.initializer.Normal(1.0, 0.1), learning_rate=0.5, trainable=False),
        bias_attr=nn.initializer.Constant(0.25),
    )
    assert abs(layer.weight.numpy().mean() - 1) < 0.01 and layer.weight.name == "w" and layer.weight.stop_gradient
    assert layer.weight.optimize_attr["learning_rate"] == 0.5 and (layer.bias.numpy() == 0.25).all()
    bound = (6 / 500) ** 0.5
    assert bound * 0.95 < abs(nn.Linear(300, 200).weight.numpy()).max() <= bound
    assert nn.Linear(2, 2, weight_attr=nn.initializer.Assign([[1, 2], [3, 4]])).weight.tolist() == [[1, 2], [3, 4]]
    assert abs(nn.Conv2D(3, 64, 5).weight.numpy().std() - (2 / 75) ** 0.5) < 0.01


def test_deep_copies_have_parameters_of_their_own():
    net = Net()
    other = copy.deepcopy(net)
    other.first.weight.set_value(np.zeros((4, 3), "float32"))
    assert net.first.weight.numpy().any() and isinstance(other.first.weight, type(net.first.weight))


def test_the_printed_form():
    assert repr(nn.Sequential(nn.Conv2D(3, 4, 3, padding=1), nn.Sequential(nn.ReLU()))) == (
        "Sequential(\n  (0): Conv2D(3, 4, kernel_size=[3, 3], padding=1, data_format=NCHW)\n  (1): Sequential(\n    (0): ReLU()\n  )\n)"
    )


def test_running_values_follow_the_batch():
    layer, x = nn.BatchNorm2D(2), paddle.to_tensor(np.random.rand(4, 2, 3, 3).astype("float32"))
    layer(x)
    values = x.numpy().transpose(1, 0, 2, 3).reshape(2, -1)
    assert np.allclose(layer._mean.numpy(), 0.1 * values.mean(1)) and np.allclose(layer._variance.numpy(), 0.9 + 0.1 * values.var(1))


def test_a_layer_of_one_function_refuses_what_it_does_not_take():
    with pytest.raises(TypeError, match="unexpected keyword argument 'size'"):
        nn.MSELoss(size=3)


def test_labels_that_do_not_fit_are_named():
    with pytest.raises(errors.InvalidArgumentError, match=r"input \[2, 3\] and label \[2, 2\]; use soft_label=True"):
        F.cross_entropy(paddle.ones([2, 3]), paddle.to_tensor([[0, 1], [1, 2]]))


def test_casting_moves_floats_only():
    net = Net().to(dtype="float64")
    net.register_buffer("count", paddle.to_tensor([1]))
    net.astype("float32")
    assert net.first.weight.dtype == paddle.float32 and net.count.dtype == paddle.int64 and not net.first.weight.stop_gradient


def test_recurrent_layers_stop_where_sequences_end():
    layer, x = nn.LSTM(3, 4, num_layers=2, direction="bidirect"), paddle.randn([2, 5, 3])
    outputs, (h, c) = layer(x, None, paddle.to_tensor([3, 5]))
    alone, (h_alone, _) = layer(x[:1, :3])
    assert outputs.shape == [2, 5, 8] and h.shape == c.shape == [4, 2, 4] and not outputs.numpy()[0, 3:].any()
    assert np.allclose(outputs.numpy()[0, :3], alone.numpy()[0], atol=1e-6) and np.allclose(h.numpy()[:, 0], h_alone.numpy()[:, 0], atol=1e-6)
    assert list(layer.state_dict())[:4] == ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"] and layer.weight_ih_l1.shape == [16, 8]
    with pytest.raises(errors.InvalidArgumentError, match="direction is 'forward' or 'bidirect'; found 'back'"):
        nn.GRU(1, 1, direction="back")


def test_the_default_dtype_reaches_parameters():
    paddle.set_default_dtype("float64")
    try:
        made = nn.Sequential(nn.Conv2D(1, 2, 3), nn.BatchNorm2D(2), nn.Flatten(), nn.Linear(2, 1))
        assert {part.dtype for part in made.state_dict().values()} == {paddle.float64}
        assert made(paddle.randn([2, 1, 3, 3])).dtype == paddle.float64
        paddle.set_default_dtype("float16")
        assert nn.Linear(1, 1).weight.dtype == paddle.float16 and nn.BatchNorm1D(1)._mean.dtype == paddle.float32
    finally:
        paddle.set_default_dtype("float32")
    assert nn.Linear(1, 1).weight.dtype == paddle.float32
