"""Attention, cells and first values, beyond what the comparison with PaddlePaddle 2.6.2 covers."""

import numpy as np
import pytest

import paddle
import paddle.nn as nn
from argosy import errors

first = nn.initializer


def sequences(*shape):
    return paddle.to_tensor(np.random.RandomState(0).uniform(-1, 1, shape).astype("float32"))


def test_a_cache_gives_step_by_step_what_a_mask_gives_at_once():
    layer, x, memory = nn.TransformerDecoderLayer(8, 2, 16, 0.0), sequences(2, 4, 8), sequences(2, 3, 8)
    whole = layer(x, memory, paddle.tril(paddle.ones([4, 4], "bool")))
    cache, steps = layer.gen_cache(memory), []
    for i in range(4):
        out, cache = layer(x[:, i : i + 1], memory, cache=cache)
        steps.append(out)
    assert np.allclose(paddle.concat(steps, 1).numpy(), whole.numpy(), atol=1e-5)
    assert cache[0].k.shape == [2, 2, 4, 4] and isinstance(cache[1], nn.MultiHeadAttention.StaticCache)


def test_a_transformer_learns_and_keeps_its_state(tmp_path):
    net, src, tgt = nn.Transformer(8, 2, 1, 1, 16, 0.1), sequences(4, 5, 8), sequences(4, 3, 8)
    optimizer = paddle.optimizer.Adam(0.01, parameters=net.parameters())
    losses = []
    for _ in range(20):
        loss = ((net(src, tgt) - 1) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.item())
    assert losses[-1] < 0.8 * losses[0]
    paddle.save(net.state_dict(), str(tmp_path / "net.pdparams"))
    other = nn.Transformer(8, 2, 1, 1, 16, 0.1)
    assert other.set_state_dict(paddle.load(str(tmp_path / "net.pdparams"))) == ([], [])
    net.eval(), other.eval()
    assert np.array_equal(net(src, tgt).numpy(), other(src, tgt).numpy())


def test_dropout_of_attention_rests_while_evaluating():
    layer, x = nn.MultiHeadAttention(8, 2, dropout=0.5), sequences(2, 4, 8)
    assert not np.allclose(layer(x).numpy(), layer(x).numpy())
    layer.eval()
    assert np.array_equal(layer(x).numpy(), layer(x).numpy())


class Counting(nn.RNNCellBase):
    """States in a dict, one of integers."""

    state_shape = {"total": (2,), "steps": (-1, 1)}
    state_dtype = {"total": "float32", "steps": "int64"}

    def forward(self, inputs, states, scale=1.0):
        new = {"total": states["total"] + scale * inputs["x"], "steps": states["steps"] + 1}
        return (new["total"], inputs["x"]), new


def test_a_cell_of_ones_own_runs_over_structures():
    x = sequences(3, 4, 2)
    (totals, same), last = nn.RNN(Counting())({"x": x}, None, paddle.to_tensor([4, 2, 1]), scale=2.0)
    assert np.allclose(totals.numpy()[0], 2 * np.cumsum(x.numpy()[0], 0), atol=1e-6) and np.array_equal(same.numpy(), x.numpy())
    assert last["steps"].tolist() == [[4], [2], [1]] and np.allclose(last["total"].numpy()[2], 2 * x.numpy()[2, 0])


REFUSED = {
    "embed_dim can be divided by num_heads; found 8 and 3": lambda: nn.MultiHeadAttention(8, 3),
    "num_heads is above 0": lambda: nn.MultiHeadAttention(8, 0),
    "several parameters would be called 'w'": lambda: nn.MultiHeadAttention(8, 2, weight_attr=paddle.ParamAttr(name="w")),
    "several parameters would be called 'b'": lambda: nn.TransformerEncoderLayer(8, 2, 4, bias_attr="b"),
    "type is MultiHeadAttention.Cache or StaticCache": lambda: nn.MultiHeadAttention(8, 2).gen_cache(sequences(1, 2, 8), type=dict),
    "dim_feedforward is above 0": lambda: nn.TransformerEncoderLayer(8, 2, 0),
    "activation is a function of paddle.nn.functional; found 'foo'": lambda: nn.TransformerDecoderLayer(8, 2, 4, activation="foo"),
    "TransformerEncoderLayer.weight_attr=….* a list of 2; found 3": lambda: nn.TransformerEncoderLayer(8, 2, 4, weight_attr=[None] * 3),
    "a list of 1 to 3; found 4": lambda: nn.Transformer(8, 2, 1, 1, 4, weight_attr=[None] * 4),
    "d_model is above 0": lambda: nn.Transformer(0),
    "hidden_size is above 0": lambda: nn.GRUCell(2, 0),
    "activation is 'tanh' or 'relu'": lambda: nn.SimpleRNNCell(2, 2, "gelu"),
    "one input_size; found 2 and 3": lambda: nn.BiRNN(nn.GRUCell(2, 2), nn.GRUCell(3, 2)),
    "initial_states are those of both cells": lambda: nn.BiRNN(nn.GRUCell(2, 2), nn.GRUCell(2, 2))(sequences(1, 2, 2), sequences(1, 2)),
    "groups is a whole number above 0; found 0": lambda: first.Dirac(0),
    "Dirac is for parameters of 3": lambda: nn.Linear(2, 2, first.Dirac()),
    "which 3 groups share; found shape \\[4, 2, 1\\]": lambda: nn.Conv1D(2, 4, 1, weight_attr=first.Dirac(3)),
    "Orthogonal is for parameters of 2": lambda: nn.Linear(2, 2, bias_attr=first.Orthogonal()),
    "gain is a number": lambda: first.Orthogonal(None),
    "Bilinear is for parameters of 4 axes": lambda: nn.Linear(2, 2, first.Bilinear()),
    "nonlinearity is one of": lambda: first.calculate_gain("foo"),
    "param is a number": lambda: first.calculate_gain("leaky_relu", "x"),
    "weight_init is an initializer": lambda: first.set_global_initializer(3),
}


@pytest.mark.parametrize("match", REFUSED)
def test_what_cannot_be_is_named(match):
    with pytest.raises(errors.InvalidArgumentError, match=match):
        REFUSED[match]()


def test_orthogonal_rows_stand_at_right_angles():
    for shape in ([3, 5], [5, 3], [4, 2, 3]):
        made = paddle.create_parameter(shape, "float32", default_initializer=first.Orthogonal(2.0)).numpy().reshape(shape[0], -1)
        product = made @ made.T if len(made) <= made.shape[1] else made.T @ made
        assert np.allclose(product, 4 * np.eye(len(product)), atol=1e-5)


def test_initializers_of_shapes_are_of_both_graphs():
    attr = paddle.ParamAttr(initializer=first.Constant(1.0))
    attr.initializer = first.Orthogonal()
    assert isinstance(attr.initializer, first.Orthogonal)
    attr.initializer = first.Constant(2.0)
    assert nn.Linear(2, 2, attr).weight.tolist() == [[2.0, 2.0], [2.0, 2.0]]
    paddle.enable_static()
    made = [nn.Conv2D(1, 1, 3, weight_attr=paddle.ParamAttr(initializer=kind())).weight for kind in (first.Orthogonal, first.Dirac, first.Bilinear)]
    paddle.static.Executor().run(paddle.static.default_startup_program())
    assert all(np.any(np.array(one.get_value())) for one in made)
    assert np.array(made[1].get_value())[0, 0].tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
