"""Functions of one element compute with the kernels of the operators' table, and give what numpy and torch give: of any shape and kind."""

import inspect

import numpy as np
import pytest
import torch

import paddle
from argosy.dynamic import elementwise, math, trigonometry

FUNCTIONS = {
    "abs": np.abs,
    "acos": np.arccos,
    "asin": np.arcsin,
    "atan": np.arctan,
    "ceil": np.ceil,
    "cos": np.cos,
    "exp": np.exp,
    "floor": np.floor,
    "log": np.log,
    "reciprocal": lambda x: 1 / x,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sign": np.sign,
    "sin": np.sin,
    "sqrt": np.sqrt,
    "square": np.square,
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}
COMPLEX = sorted(set(FUNCTIONS) - {"ceil", "floor", "sign"})
SMOOTH = sorted(set(FUNCTIONS) - {"ceil", "floor", "sign", "abs"})


@pytest.mark.parametrize("name", [*FUNCTIONS, "erf", "round"])
def test_the_table_computes(name):
    """Its kernel is the program's: there is no second definition in Python."""
    places = [vars(module)[name] for module in (elementwise, trigonometry, math) if name in vars(module)]
    assert len(places) == 1
    assert f"_entries.{name}(x)" in inspect.getsource(inspect.unwrap(places[0]))


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 1, 4)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_any_shape(name, shape):
    values = np.random.RandomState(3).uniform(0.1, 0.9, shape)
    found = getattr(paddle, name)(paddle.to_tensor(values))
    assert found.shape == list(shape)
    assert np.allclose(found.numpy(), FUNCTIONS[name](values))


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers(name):
    values = np.array([0.5 + 0.25j, -0.5 + 2j])
    found = getattr(paddle, name)(paddle.to_tensor(values))
    assert np.allclose(found.numpy(), FUNCTIONS[name](values))
    assert np.iscomplexobj(found.numpy()) == (name != "abs")


def test_whole_numbers_stay_whole_where_they_can():
    whole = paddle.to_tensor([-2, 0, 3])
    for name in ("abs", "sign", "square", "round", "floor", "ceil"):
        found = getattr(paddle, name)(whole)
        assert found.dtype == paddle.int64, name
    assert paddle.exp(whole).dtype == paddle.float32


def test_halves_go_away_from_zero():
    values = paddle.to_tensor([0.5, 1.5, -2.5, -0.4], stop_gradient=False)
    found = paddle.round(values)
    assert found.tolist() == [1.0, 2.0, -3.0, 0.0]
    assert np.signbit(found.numpy()).tolist() == [False, False, True, True]


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_of_gradients(name):
    values = [0.25, 0.5]
    x = paddle.to_tensor(values, dtype="float64", stop_gradient=False)
    slope = paddle.grad(getattr(paddle, name)(x).sum(), x, create_graph=True)[0]
    bend = paddle.grad(slope.sum(), x)[0]
    other = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    first = torch.autograd.grad(getattr(torch, name)(other).sum(), other, create_graph=True)[0]
    assert np.allclose(slope.numpy(), first.detach().numpy())
    assert np.allclose(bend.numpy(), torch.autograd.grad(first.sum(), other)[0].numpy())


def test_a_result_without_a_tensor_that_wants_gradients_has_none():
    with paddle.no_grad():
        assert paddle.exp(paddle.to_tensor([1.0], stop_gradient=False)).stop_gradient
    assert not paddle.exp(paddle.to_tensor([1.0], stop_gradient=False)).stop_gradient


def test_what_has_no_complex_numbers_says_so():
    with pytest.raises(Exception, match="floor"):
        paddle.floor(paddle.to_tensor([1j]))
