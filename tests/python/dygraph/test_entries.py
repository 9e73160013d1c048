"""The functions of the operators' entries on tensors: the kernels that programs run, recorded by autograd."""

import numpy as np
import pytest
import torch
import torch.nn.functional as reference

import paddle
from argosy import _core

F = paddle.nn.functional
# Of F -> what the table calls it, and torch's own.
ACTIVATIONS = {
    "relu": ("relu", reference.relu),
    "relu6": ("relu6", reference.relu6),
    "sigmoid": ("sigmoid", torch.sigmoid),
    "tanh": ("tanh", torch.tanh),
    "log_sigmoid": ("logsigmoid", reference.logsigmoid),
    "softsign": ("softsign", reference.softsign),
    "swish": ("swish", reference.silu),
    "tanhshrink": ("tanh_shrink", reference.tanhshrink),
    "elu": ("elu", reference.elu),
    "gelu": ("gelu", reference.gelu),
    "softmax": ("softmax", lambda x: torch.softmax(x, -1)),
}


@pytest.fixture
def numbers():
    return np.linspace(-4, 4, 24, dtype="float32").reshape(4, 6)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_activation_is_torchs_with_its_gradient(name, numbers):
    x, y = paddle.to_tensor(numbers, stop_gradient=False), torch.tensor(numbers, requires_grad=True)
    out, expected = getattr(F, name)(x), ACTIVATIONS[name][1](y)
    (out * out).sum().backward()
    (expected * expected).sum().backward()
    np.testing.assert_allclose(out.numpy(), expected.detach().numpy(), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_both_graphs_compute_the_same(name, numbers):
    fluid = paddle.fluid
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        out = getattr(fluid.layers, ACTIVATIONS[name][0])(fluid.data("x", [None, 6]))
        (built,) = fluid.Executor().run(fluid.default_main_program(), feed={"x": numbers}, fetch_list=[out])
    np.testing.assert_array_equal(built, getattr(F, name)(paddle.to_tensor(numbers)).numpy())


def test_every_function_of_the_table_is_there_for_tensors():
    made = {name for name, value in vars(_core.layers).items() if getattr(value, "__text_signature__", None)}
    assert len(made) > 100
    assert made == {name for name in vars(_core.on_tensors) if not name.startswith("__")}


def test_lists_numbers_and_several_results(numbers):
    x, on_tensors = torch.tensor(numbers), _core.on_tensors
    assert torch.equal(on_tensors.concat([x, x], axis=1), torch.cat([x, x], 1))
    assert torch.equal(on_tensors.pow(x, torch.tensor([2.0])), x**2)
    values, places = on_tensors.topk(x, 2)
    assert torch.equal(values, x.topk(2).values) and torch.equal(places, x.topk(2).indices)


def test_messages_name_the_function_and_the_argument(numbers):
    with pytest.raises(TypeError, match=r"relu\(\) argument 'x' must be a tensor, not str"):
        _core.on_tensors.relu("x")
    with pytest.raises(TypeError, match=r"concat\(\) argument 'input' must be a list of tensors, not int"):
        _core.on_tensors.concat([torch.tensor(numbers), 1])
    with pytest.raises(ValueError, match=r"relu: clamp is not supported for complex types"):
        _core.on_tensors.relu(torch.zeros(2, dtype=torch.complex64))
    with pytest.raises(TypeError, match=r"less_than\(\) argument 'cond' must be left out on tensors, not Tensor"):
        _core.on_tensors.less_than(torch.zeros(2), torch.ones(2), cond=torch.zeros(2))
