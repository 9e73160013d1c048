"""paddle.autograd: the numbers of every test but the last two are those that PaddlePaddle 2.6.2 gives for it."""

import gc
import weakref

import numpy as np
import pytest

import paddle
from paddle.autograd import PyLayer


def tensor(values, stop_gradient=False):
    return paddle.to_tensor(values, stop_gradient=stop_gradient)


class Mixed(PyLayer):
    @staticmethod
    def forward(ctx, x, y, scale=2.0):
        ctx.scale = scale
        ctx.save_for_backward(x, y)
        return x * y * scale, [1], x + y

    @staticmethod
    def backward(ctx, of_product, of_sum):
        x, y = ctx.saved_tensor()
        return of_product * y * ctx.scale + of_sum, of_product * x * ctx.scale + of_sum * 10


def test_several_tensors_and_other_values_go_in_and_out():
    x, y = tensor([1.0, 2.0]), tensor([3.0, 4.0])
    product, other, total = Mixed.apply(x, y, scale=3.0)
    assert other == [1] and product.tolist() == [9.0, 24.0] and not product.stop_gradient
    (product.sum() + total.sum()).backward()
    assert x.grad.tolist() == [10.0, 13.0] and y.grad.tolist() == [13.0, 16.0]
    with paddle.no_grad():
        assert Mixed.apply(x, y)[0].stop_gradient


def test_lists_of_tensors_come_out_and_their_gradients_in_lists():
    seen = []

    class Lists(PyLayer):
        @staticmethod
        def forward(ctx, x):
            return [x * 2, x * 3], x * 4

        @staticmethod
        def backward(ctx, *gradients):
            seen.extend(type(one).__name__ for one in gradients)
            return gradients[-1]

    x = tensor([1.0])
    (first, _), last = Lists.apply(x)
    (first + last).backward()
    assert seen == ["list", "Tensor"] and x.grad.item() == 1.0


def test_outputs_without_gradients():
    seen = []

    class Marked(PyLayer):
        @staticmethod
        def forward(ctx, x):
            first = x * 1
            ctx.mark_non_differentiable(first)
            ctx.set_materialize_grads(False)
            return first, x * 2, x * 3

        @staticmethod
        def backward(ctx, *gradients):
            seen.extend(one is None for one in gradients[1:])
            return gradients[1]

    x = tensor([1.0])
    first, second, _ = Marked.apply(x)
    assert first.stop_gradient and not second.stop_gradient
    second.sum().backward()
    assert seen == [False, True] and x.grad.item() == 1.0


def test_a_gradient_may_be_none_but_one_is_returned_for_each_tensor():
    class Picked(PyLayer):
        @staticmethod
        def forward(ctx, x, index):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 5, None

    class Short(Picked):
        @staticmethod
        def backward(ctx, gradient):
            return gradient

    x, index = tensor([1.0]), paddle.to_tensor([1])
    Picked.apply(x, index).backward()
    assert x.grad.item() == 5.0
    with pytest.raises(ValueError, match="Short.backward returned 1 gradients, and forward takes 2 tensors"):
        Short.apply(x, index).backward()


class Cube(PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensor()
        return gradient * 3 * x * x


def test_gradients_of_gradients():
    x = tensor([2.0])
    (first,) = paddle.grad(Cube.apply(x), x, create_graph=True)
    first.backward()
    assert first.item() == 12.0 and x.grad.item() == 12.0


def test_backward_of_several_tensors():
    x = tensor([[1.0, 2.0]])
    y, z = x * x, x * 3
    paddle.autograd.backward([y, z], [paddle.to_tensor([[1.0, 10.0]]), None], True)
    assert x.grad.tolist() == [[5.0, 43.0]]
    paddle.autograd.backward(y)
    assert x.grad.tolist() == [[7.0, 47.0]]
    with pytest.raises(ValueError, match="1 grad_tensors for 2 tensors"):
        paddle.autograd.backward([y, z], [None])
    with pytest.raises(TypeError, match="takes a Tensor or a list of them"):
        paddle.autograd.backward(3)
    with pytest.raises(RuntimeError, match="none of the tensors"):
        paddle.autograd.backward(paddle.ones([1]))


def test_hooks_see_what_is_kept():
    x = tensor([2.0])
    with paddle.autograd.saved_tensors_hooks(lambda kept: kept.numpy(), paddle.to_tensor):
        y = x * x
    y.backward()
    assert x.grad.item() == 4.0
    with paddle.autograd.saved_tensors_hooks(lambda kept: kept.numpy() * 10, paddle.to_tensor):
        y = Cube.apply(x)
    x.clear_grad()
    y.backward()
    assert x.grad.item() == 1200.0


def test_a_layer_of_ones_own_trains_a_parameter():
    class Product(PyLayer):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return paddle.matmul(x, w)

        @staticmethod
        def backward(ctx, gradient):
            x, w = ctx.saved_tensor()
            return paddle.matmul(gradient, w, transpose_y=True), paddle.matmul(x, gradient, transpose_x=True)

    draw = np.random.RandomState(3)
    rows, first = draw.rand(5, 3).astype("float32"), draw.rand(3, 2).astype("float32")
    found = []
    for product in (Product.apply, paddle.matmul):
        layer = paddle.nn.Linear(3, 2, bias_attr=False)
        layer.weight.set_value(first)
        optimizer = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
        for _ in range(3):
            product(tensor(rows), layer.weight).square().mean().backward()
            optimizer.step()
            optimizer.clear_grad()
        found.append(layer.weight.numpy())
    assert np.allclose(found[0], found[1], atol=1e-6) and not np.allclose(found[0], first)


def test_what_apply_returned_is_freed():
    gone = weakref.ref(Cube.apply(tensor([1.0]))._torch)
    gc.collect()
    assert gone() is None


def test_programs_have_no_such_layers(fluid):
    paddle.enable_static()
    try:
        with pytest.raises(RuntimeError, match="Cube.apply is of the dynamic graph"):
            Cube.apply(paddle.static.data("x", [1]))
    finally:
        paddle.disable_static()
