"""Tensors: Paddle's habits over torch's values."""

import copy
import pickle

import numpy as np
import pytest
import torch

import paddle
from argosy import errors

A = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.5]], "float32")


@pytest.fixture
def a():
    return paddle.to_tensor(A, stop_gradient=False)


def test_what_a_tensor_says_of_itself(a):
    assert a.shape == [2, 3] and isinstance(a.shape, list) and a.ndim == 2 and a.size == 6 and len(a) == 2
    assert a.dtype == paddle.float32 and paddle.to_tensor([1]).dtype == paddle.int64 and not a.stop_gradient
    assert repr(a) == (
        "Tensor(shape=[2, 3], dtype=float32, place=Place(cpu), stop_gradient=False,\n       [[1., -2., 3.],\n        [0.50000000, 4., -1.50000000]])"
    )


@pytest.mark.parametrize(
    "data, dtype",
    [
        (1, "int64"),
        (1.5, "float32"),
        ([1, 2.0], "float32"),
        (True, "bool"),
        (np.float64(1), "float64"),
        (np.array([1], "int32"), "int32"),
        ([np.float64(2.0)], "float64"),
    ],
)
def test_types_of_given_values(data, dtype):
    assert paddle.to_tensor(data).numpy().dtype == dtype


def test_to_tensor_copies():
    values = np.ones(2, "float32")
    made = paddle.to_tensor(values)
    values[0] = 7
    assert made.numpy().tolist() == [1, 1]


def test_text_is_no_tensor():
    with pytest.raises(errors.InvalidArgumentError, match="to_tensor takes numbers.*found str 'abc'"):
        paddle.to_tensor("abc")


def test_numpy_works_on_a_tensor_with_gradient(a):
    assert ((a * 2).numpy() == A * 2).all() and float((a * 2).sum()) == A.sum() * 2
    assert "%.2f" % a.sum() == "%.2f" % A.sum() and f"{a.sum():.1f}" == "5.0"


def test_an_array_does_not_follow_its_tensor(a):
    before = a.numpy()
    a.set_value(A + 1)
    assert (before == A).all()


def test_arrays_and_numbers_beside_operators(a):
    for made in (a + A, A + a, np.float32(2) * a, 2 - a, a / 2, 1 / a, a % 2, -a, a**2, 2**a, a @ a.t()):
        assert isinstance(made, paddle.Tensor)
    assert np.allclose((A + a).numpy(), A + A) and np.allclose((2 - a).numpy(), 2 - A) and ((a > 0).numpy() == (A > 0)).all()


def test_backward_adds_up_and_clears(a):
    (a * a).sum().backward()
    (a * a).sum().backward()
    assert np.allclose(a.grad.numpy(), 4 * A) and np.allclose(a.gradient(), 4 * A)
    a.clear_gradient()
    assert not a.grad.numpy().any()
    a.clear_gradient(False)
    assert a.grad is None


def test_backward_of_many_values_begins_with_ones(a):
    (a * a).backward()
    assert np.allclose(a.grad.numpy(), 2 * A)


def test_backward_of_what_takes_no_gradient_says_so():
    with pytest.warns(UserWarning, match="computed from nothing that takes gradients, and so nothing gets one"):
        paddle.to_tensor([1.0]).backward()


def test_stop_gradient_cuts_off(a):
    cut = a * 2
    cut.stop_gradient = True
    (cut * a).sum().backward()
    assert np.allclose(a.grad.numpy(), 2 * A)
    labels = paddle.to_tensor([1])
    labels.stop_gradient = True
    labels.stop_gradient = False  # integers never have one
    assert labels.stop_gradient


def test_no_grad_in_every_form(a):
    @paddle.no_grad
    def bare():
        return a * 2

    @paddle.no_grad()
    def called():
        return a * 2

    with paddle.no_grad():
        inside = a * 2
        with paddle.enable_grad():
            again = a * 2
    assert bare().stop_gradient and called().stop_gradient and inside.stop_gradient and not again.stop_gradient and not (a * 2).stop_gradient


def test_grad_leaves_tensors_alone(a):
    (first,) = paddle.grad((a**3).sum(), a, create_graph=True)
    (second,) = paddle.grad(first.sum(), [a])
    assert np.allclose(first.numpy(), 3 * A**2) and np.allclose(second.numpy(), 6 * A, atol=1e-5) and a.grad is None


def test_hooks_see_and_change_gradients(a):
    seen = []
    handle = a.register_hook(lambda gradient: seen.append(gradient.shape) or gradient * 2)
    a.sum().backward()
    handle.remove()
    a.sum().backward()
    assert seen == [[2, 3]] and np.allclose(a.grad.numpy(), 3)


def test_set_value_keeps_shape_and_storage(a):
    pointer = a.data_ptr()
    a.set_value(A + 1)
    assert (a.numpy() == A + 1).all() and a.data_ptr() == pointer
    with pytest.raises(errors.InvalidArgumentError, match=r"has shape \[2, 3\]; found \[2\]"):
        a.set_value(np.ones(2))


def test_in_place_functions(a):
    b = paddle.to_tensor(A)
    assert b.add_(b) is b and (b.numpy() == 2 * A).all()
    b.zero_()
    b[0] = 1.5
    b[:, 1] = paddle.to_tensor([7.0, 8.0])
    assert b.tolist() == [[1.5, 7, 1.5], [0, 8, 0]]
    assert b.unsqueeze_(0).shape == [1, 2, 3] and b.reshape_([3, 2]).shape == [3, 2]
    d = paddle.to_tensor(A)
    assert paddle.tanh_(d) is d and np.allclose(d.numpy(), np.tanh(A)) and paddle.finfo("float32").max > 3e38
    c = a * 2
    c.add_(paddle.ones([2, 3]))
    c.sum().backward()
    assert (c.numpy() == 2 * A + 1).all() and (a.grad.numpy() == 2).all()


def test_indices_of_every_kind(a):
    index = paddle.to_tensor([1, 0])
    assert (a[index].numpy() == A[[1, 0]]).all() and (a[[1, 0]].numpy() == A[[1, 0]]).all() and (a[a > 0].numpy() == A[A > 0]).all()
    assert a[0, paddle.to_tensor(1) :].tolist() == A[0, 1:].tolist() and a[..., None].shape == [2, 3, 1]
    assert [row.tolist() for row in a] == A.tolist() and a.item(4) == 4.0 and a.item(1, 1) == 4.0


def test_copies_and_pickles(a):
    for made in (copy.deepcopy(a), pickle.loads(pickle.dumps(a))):
        assert (made.numpy() == A).all() and not made.stop_gradient and made.data_ptr() != a.data_ptr()
    parameter = paddle.create_parameter([2], "float32")
    assert isinstance(copy.deepcopy(parameter), type(parameter)) and copy.deepcopy(parameter).name != parameter.name


def test_functions_name_what_is_no_tensor():
    for call in (lambda: paddle.tanh(A), lambda: paddle.concat([A, A]), lambda: paddle.nn.functional.relu(A)):
        with pytest.raises(errors.InvalidArgumentError, match="the first argument is a Tensor.*found ndarray; paddle.to_tensor makes one"):
            call()


def test_a_function_takes_its_first_argument_by_name():
    a = paddle.to_tensor(A)
    assert paddle.nn.functional.mse_loss(input=a, label=a + 1).item() == 1 and paddle.add(x=a, y=a).shape == [2, 3]


def test_the_default_type_is_that_of_new_floats():
    paddle.set_default_dtype("float64")
    try:
        assert paddle.get_default_dtype() == "float64" and paddle.ones([1]).dtype == paddle.float64 and paddle.to_tensor(1.5).dtype == paddle.float64
    finally:
        paddle.set_default_dtype("float32")
    with pytest.raises(errors.InvalidArgumentError, match="type of floats; found 'int64'"):
        paddle.set_default_dtype("int64")


def test_seeds_repeat_everything_random():
    def drawn():
        paddle.seed(5)
        return [
            made.numpy()
            for made in (
                paddle.randn([3]),
                paddle.rand([3]),
                paddle.randint(0, 9, [3]),
                paddle.nn.Linear(3, 2).weight,
                paddle.nn.functional.dropout(paddle.ones([8])),
                paddle.randperm(5),
                paddle.uniform([3], seed=4),
            )
        ]

    assert all((one == other).all() for one, other in zip(drawn(), drawn()))


def test_bfloat16_travels_as_bits():
    made = paddle.to_tensor([1.0, 2.5]).astype("bfloat16")
    assert made.dtype == paddle.bfloat16 and made.numpy().dtype == "uint16" and "2.50000000" in repr(made)


def test_torch_takes_tensors():
    assert isinstance(torch.add(paddle.to_tensor(A), 1), torch.Tensor)


def test_halves_are_rounded_away_from_zero():
    values = [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 2.4, -2.6, 0.49999997, 8388609.0]
    rounded = [1, 2, 3, -1, -2, -3, 2, -3, 0, 8388609]  # as 2.6.2
    x = paddle.to_tensor(values, stop_gradient=False)
    assert paddle.round(x).tolist() == rounded and paddle.to_tensor(values).round_().tolist() == rounded
    paddle.round(x).sum().backward()
    assert not x.grad.numpy().any()


BACKWARD = [
    np.s_[::-1],
    np.s_[::-2],
    np.s_[3:0:-1],
    np.s_[:, ::-1],
    np.s_[..., ::-2],
    np.s_[1, ::-1],
    np.s_[::-1, None, 1:, ::-1],
    np.s_[1:3:-1],
    np.s_[-2::-3, 1],
    np.s_[::-1, [0, 2]],
    np.s_[[0, 3], :, ::-1],
    np.s_[::-1, ..., 0],
    np.s_[9:-9:-2],
]


@pytest.mark.parametrize("index", BACKWARD, ids=str)
def test_slices_run_backward(index):
    values = np.arange(60, dtype="float32").reshape(4, 5, 3)
    x = paddle.to_tensor(values, stop_gradient=False)
    found, weights = x[index], np.arange(values[index].size, dtype="float32").reshape(values[index].shape)
    assert np.array_equal(found.numpy(), values[index])
    (found * paddle.to_tensor(weights)).sum().backward()
    expected = np.zeros_like(values)
    expected[index] = weights
    assert np.array_equal(x.grad.numpy(), expected)


@pytest.mark.parametrize("index", BACKWARD, ids=str)
def test_slices_are_written_backward(index):
    values = np.arange(60, dtype="float32").reshape(4, 5, 3)
    written = -np.arange(values[index].size, dtype="float32").reshape(values[index].shape)
    x = paddle.to_tensor(values)
    x[index] = written
    values[index] = written
    assert np.array_equal(x.numpy(), values)


def test_gradients_go_through_what_is_written_backward():
    x, y = (paddle.to_tensor(values, stop_gradient=False) for values in ([1.0, 2.0, 3.0], [5.0, 6.0]))
    z = x * 2
    z[:0:-1] = y
    (z * paddle.to_tensor([1.0, 10.0, 100.0])).sum().backward()
    assert z.tolist() == [2, 6, 5] and x.grad.tolist() == [2, 0, 0] and y.grad.tolist() == [100, 10]


def test_the_seed_has_a_name():
    paddle.seed(seed=1)
    first = paddle.rand([3]).tolist()
    paddle.seed(1)
    assert paddle.rand([3]).tolist() == first


def test_a_dtype_says_its_name(a):
    assert str(a.dtype) == "paddle.float32" and repr(a.dtype) == "<VarType.FP32: 5>" and isinstance(a.dtype, paddle.dtype)
    assert str(paddle.bool) == "paddle.bool" and f"{paddle.bfloat16}" == "paddle.bfloat16"
