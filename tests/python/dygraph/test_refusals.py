"""Arguments that could only be ignored are errors that name them."""

import numpy as np
import pytest

import paddle
import paddle.nn.functional as F
from argosy import device, errors


@pytest.fixture
def layer():
    return paddle.nn.Linear(2, 3)


@pytest.mark.parametrize(
    "given, match",
    [
        (lambda layer: layer.weight, "found one Parameter"),
        (lambda layer: layer, "found Linear"),
        (lambda layer: ["weight", 3], "found int '3'"),
        (lambda layer: {"params": layer.parameters()}, "found one dict"),
        (lambda layer: [{"params": layer.weight}], "found one Parameter"),
        (lambda layer: [layer], "found Linear"),
        (lambda layer: 3, "found int"),
    ],
)
def test_an_optimizer_takes_a_list_of_parameters(layer, given, match):
    with pytest.raises(errors.InvalidArgumentError, match=match) as caught:
        paddle.optimizer.SGD(0.1, parameters=given(layer))
    assert isinstance(caught.value, TypeError)


def test_an_optimizer_takes_no_computed_tensor(layer):
    with pytest.raises(errors.InvalidArgumentError, match="is computed from other tensors"):
        paddle.optimizer.SGD(0.1, parameters=list(layer.weight))


def test_a_group_without_params_is_named(layer):
    with pytest.raises(errors.InvalidArgumentError, match="a dict with 'params'; found the keys \\['weights'\\]"):
        paddle.optimizer.SGD(0.1, parameters=[{"weights": layer.parameters()}])


def test_an_optimizer_moves_tensors_and_groups(layer):
    alone = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    optimizer = paddle.optimizer.SGD(0.1, parameters=[alone, {"params": (p for p in layer.parameters())}])
    (alone.sum() + layer.bias.sum()).backward()
    optimizer.step()
    assert np.allclose(alone.numpy(), [0.9, 1.9]) and np.allclose(layer.bias.numpy(), -0.1)


@pytest.mark.parametrize(
    "name, arguments, match",
    [
        ("Adam", {"beta1": 1.5}, "beta1 is 0 or more and less than 1; found 1.5"),
        ("Adam", {"epsilon": -1.0}, "Adam: epsilon is 0 or more; found -1.0"),
        ("AdamW", {"beta2": 1.0}, "beta2"),
        ("Adamax", {"beta1": -0.1}, "beta1"),
        ("Adam", {"beta1": float("nan")}, "beta1"),
        ("RMSProp", {"learning_rate": 0.1, "rho": -1.0}, "RMSProp: rho is 0 or more"),
        ("RMSProp", {"learning_rate": 0.1, "momentum": -1.0}, "momentum"),
    ],
)
def test_numbers_out_of_range(layer, name, arguments, match):
    with pytest.raises(ValueError, match=match):
        getattr(paddle.optimizer, name)(parameters=layer.parameters(), **arguments)


@pytest.mark.parametrize("arguments", [{"batch_size": 4}, {"shuffle": True}, {"drop_last": True}])
def test_a_batch_sampler_makes_the_batches_alone(arguments):
    data = paddle.io.TensorDataset([paddle.ones([8, 1])])
    sampler = paddle.io.BatchSampler(data, batch_size=2)
    with pytest.raises(errors.InvalidArgumentError, match="batch_sampler makes the batches; leave out"):
        paddle.io.DataLoader(data, batch_sampler=sampler, **arguments)
    assert len(list(paddle.io.DataLoader(data, batch_sampler=sampler))) == 4


@pytest.mark.parametrize(
    "make",
    [
        lambda kind: paddle.nn.Conv2D(1, 1, 1, data_format=kind),
        lambda kind: paddle.nn.Conv1DTranspose(1, 1, 1, data_format=kind),
        lambda kind: paddle.nn.MaxPool2D(2, data_format=kind),
        lambda kind: paddle.nn.AdaptiveAvgPool3D(2, data_format=kind),
        lambda kind: paddle.nn.BatchNorm2D(1, data_format=kind),
        lambda kind: paddle.nn.GroupNorm(1, 1, data_format=kind),
        lambda kind: paddle.nn.InstanceNorm2D(1, data_format=kind),
        lambda kind: paddle.nn.LocalResponseNorm(1, data_format=kind),
        lambda kind: F.conv2d(paddle.ones([1, 1, 2, 2]), paddle.ones([1, 1, 1, 1]), data_format=kind),
        lambda kind: F.avg_pool2d(paddle.ones([1, 1, 2, 2]), 2, data_format=kind),
        lambda kind: F.group_norm(paddle.ones([1, 1, 2, 2]), 1, data_format=kind),
    ],
)
def test_a_data_format_that_is_none_is_named(make):
    with pytest.raises(errors.InvalidArgumentError, match="data_format is .*; found 'foo'"):
        make("foo")


def test_a_gpu_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr(device, "_gpu_count", lambda: 0)
    monkeypatch.delenv("ARGOSY_DEVICE", raising=False)
    with pytest.raises(errors.InvalidArgumentError, match="CUDAPlace\\(1\\): libtorch sees no GPU"):
        paddle.ones([1]).cuda(1)


def test_a_request_for_a_gpu_becomes_the_cpu_with_one_warning(monkeypatch):
    monkeypatch.setenv("ARGOSY_DEVICE", "cpu")
    monkeypatch.setitem(device._state, "warned", False)
    with pytest.warns(UserWarning, match="ARGOSY_DEVICE=cpu makes it the CPU") as caught:
        moved = [paddle.ones([1]).cuda(), paddle.ones([1]).cuda(0)]
    assert len(caught) == 1 and all(one.place == paddle.CPUPlace() for one in moved)
