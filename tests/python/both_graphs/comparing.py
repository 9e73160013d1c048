"""What the tests of both graphs share: arrays, and running the same in a program as on tensors."""

import numpy as np

import paddle

DRAW = np.random.RandomState(5)
ROWS = DRAW.rand(4, 6).astype("float32") + 0.1
BOXES = DRAW.rand(4, 3, 6).astype("float32")
IMAGES = DRAW.rand(2, 4, 6, 6).astype("float32")
IDS = DRAW.randint(0, 7, [4, 3]).astype("int64")


def declared(arrays, batch=True):
    """A variable to feed for each array; the batch's size is open."""
    return [paddle.static.data(f"in{i}", [-1 if batch else len(array), *array.shape[1:]], array.dtype) for i, array in enumerate(arrays)]


def ran(outputs, arrays, startup=True):
    exe = paddle.static.Executor()
    if startup:
        exe.run(paddle.static.default_startup_program())
    return exe.run(feed={f"in{i}": array for i, array in enumerate(arrays)}, fetch_list=list(outputs))


def parts(value):
    return [one for part in value for one in parts(part)] if isinstance(value, (list, tuple)) else [value]


def check(computed, built, tolerance=2e-5):
    assert len(computed) == len(built)
    for tensor, value in zip(computed, built, strict=True):
        want = tensor.numpy()
        assert want.size == value.size, (want.shape, value.shape)
        assert np.allclose(want.reshape(-1), np.asarray(value).reshape(-1), atol=tolerance, rtol=1e-4, equal_nan=True), np.abs(
            want.ravel() - value.ravel()
        ).max()
        assert want.ndim == 0 or want.shape == value.shape, (want.shape, value.shape)


def loss_of(outputs):
    """A number that every element of the float outputs has a share of."""
    return paddle.add_n([paddle.sum(paddle.sin(one)) for one in parts(outputs) if one.dtype == paddle.float32])


SMALL, OTHER = ROWS * 0.5, ROWS[::-1].copy()
BOOLEANS, WHOLE = ROWS > 0.5, IDS
