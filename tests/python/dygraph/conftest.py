"""Each test begins in dynamic mode, with the same seed and with names of its own."""

import numpy
import pytest

import paddle


@pytest.fixture(autouse=True)
def dynamic():
    paddle.disable_static()
    paddle.seed(11)
    numpy.random.seed(11)
    with paddle.utils.unique_name.guard():
        yield
    paddle.disable_static()
