"""Tests in static mode, each with programs, names and a scope of its own."""

import pytest

import paddle


@pytest.fixture
def static(fluid):
    """Static mode, with programs, names and a scope of its own."""
    paddle.enable_static()
    yield fluid
    paddle.disable_static()
