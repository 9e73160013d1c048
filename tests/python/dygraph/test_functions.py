"""Functions whose values here are 2.6.2's."""

import numpy as np
import pytest

import paddle
import paddle.nn.functional as F
from argosy import errors


def _counted(*shape):
    return paddle.arange(int(np.prod(shape)), dtype="float32").reshape(shape)


@pytest.mark.parametrize(
    "arguments, taken",
    [
        ({"shape": [1, 2, -1, 2], "offsets": [0, 1, 0, 1]}, np.s_[:, 1:3, :, 1:]),
        ({"shape": [1, -1, 1, -1]}, np.s_[:, :, :1]),
        ({}, np.s_[:]),
        ({"shape": paddle.to_tensor([1, 2, 2, 1]), "offsets": paddle.to_tensor([0, 2, 0, 2])}, np.s_[:, 2:, :, 2:]),
    ],
)
def test_crop_takes_a_box(arguments, taken):
    x = _counted(1, 4, 2, 3)
    assert np.array_equal(paddle.crop(x, **arguments).numpy(), x.numpy()[taken])


def test_crop_stays_inside():
    with pytest.raises(errors.InvalidArgumentError, match="axis 1 has size 4; found 4 from 1 on"):
        paddle.crop(_counted(1, 4), offsets=[0, 1])


def test_take_reads_the_flattened_tensor():
    x, index = _counted(3, 4), paddle.to_tensor([[-2, 0], [5, 11]])
    assert paddle.take(x, index).tolist() == [[10, 0], [5, 11]] and x.take(index).tolist() == [[10, 0], [5, 11]]
    outside = np.arange(-2, 13)
    for mode in ("wrap", "clip"):
        assert paddle.take(x, paddle.to_tensor(outside), mode).tolist() == np.take(x.numpy(), outside, mode=mode).tolist()
    with pytest.raises(errors.OutOfRangeError, match="positions lie from -12 to 11; found -2 to 12"):
        paddle.take(x, paddle.to_tensor(outside))
    with pytest.raises(errors.InvalidArgumentError, match="found 'near'"):
        paddle.take(x, index, mode="near")


def test_strided_slices_run_backward():
    x = _counted(4, 5)
    assert np.array_equal(paddle.strided_slice(x, [0, 1], [3, 0], [0, 5], [-1, 2]).numpy(), x.numpy()[3:0:-1, ::2])


def test_channels_are_shuffled():
    x = _counted(1, 4, 2, 3)
    assert np.array_equal(F.channel_shuffle(x, 2).numpy(), x.numpy()[:, [0, 2, 1, 3]])
    behind = _counted(1, 2, 2, 4)
    assert np.array_equal(F.channel_shuffle(behind, 2, "NHWC").numpy(), behind.numpy()[..., [0, 2, 1, 3]])


def test_pixels_become_channels():
    assert F.pixel_unshuffle(_counted(1, 1, 4, 4), 2).flatten().tolist() == [0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 12, 14, 5, 7, 13, 15]
    found = F.pixel_unshuffle(_counted(1, 4, 4, 2), 2, "NHWC")
    assert found.shape == [1, 2, 2, 8] and found.flatten().tolist()[:8] == [0, 2, 8, 10, 1, 3, 9, 11]
    assert np.array_equal(F.pixel_shuffle(found, 2, "NHWC").numpy(), _counted(1, 4, 4, 2).numpy())
    with pytest.raises(errors.InvalidArgumentError, match="pixel_shuffle: data_format is 'NCHW' or 'NHWC'; found 'foo'"):
        F.pixel_shuffle(found, 2, "foo")


def test_dice_loss():
    found = F.dice_loss(paddle.to_tensor([[0.2, 0.8], [0.7, 0.3]]), paddle.to_tensor([[1], [1]]))
    assert abs(found.item() - 0.4500027) < 1e-6
    with pytest.raises(errors.InvalidArgumentError, match=r"found input \[2, 2\] and label \[2\]"):
        F.dice_loss(paddle.ones([2, 2]), paddle.to_tensor([1, 1]))


def test_gradients_are_limited_together():
    x = paddle.to_tensor([3.0, 4.0], stop_gradient=False)
    (x * x).sum().backward()
    assert paddle.nn.utils.clip_grad_norm_([x, paddle.ones([1])], 5.0).item() == 10 and np.allclose(x.grad.numpy(), [3, 4], atol=1e-5)
    assert paddle.nn.utils.clip_grad_norm_(x, 50.0, float("inf")).item() == pytest.approx(4) and np.allclose(x.grad.numpy(), [3, 4], atol=1e-5)
    paddle.nn.utils.clip_grad_value_([x], 3.5)
    assert np.allclose(x.grad.numpy(), [3, 3.5], atol=1e-5)
    with pytest.raises(errors.InvalidArgumentError, match="norm_type is one of inf, 0, 1, 2; found 3"):
        paddle.nn.utils.clip_grad_norm_([x], 1.0, 3)
    x.grad = paddle.to_tensor([float("nan"), 0.0])
    with pytest.raises(errors.InvalidArgumentError, match="the norm of the gradients is nan"):
        paddle.nn.utils.clip_grad_norm_([x], 1.0, error_if_nonfinite=True)
