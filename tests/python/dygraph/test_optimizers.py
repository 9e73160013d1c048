"""Optimizers on tensors: rules, states, clips and rates. Numbers of every rule against PaddlePaddle are in tests/parity/dynamic.py."""

import numpy as np
import pytest
import torch

import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from argosy import errors
from argosy.fluid import optimizer as fluid_optimizers

X = np.random.RandomState(0).rand(8, 4).astype("float32")
KINDS = {
    "SGD": {},
    "Momentum": {},
    "Adagrad": {},
    "Adadelta": {},
    "Adam": {},
    "AdamW": {},
    "Adamax": {},
    "RMSProp": {"momentum": 0.5, "centered": True},
    "Lamb": {},
}


def train(net, optimizer, steps):
    for _ in range(steps):
        F.mse_loss(net(paddle.to_tensor(X)), paddle.to_tensor(X.sum(1, keepdims=True))).backward()
        optimizer.step()
        optimizer.clear_grad()
    return [p.numpy() for p in net.parameters()]


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_goes_on_where_it_was_taken(kind):
    net, other = nn.Linear(4, 1), nn.Linear(4, 1)
    optimizer = getattr(paddle.optimizer, kind)(learning_rate=0.05, parameters=net.parameters(), **KINDS[kind])
    second = getattr(paddle.optimizer, kind)(learning_rate=0.05, parameters=other.parameters(), **KINDS[kind])
    train(net, optimizer, 7)
    renamed = {key.replace("linear_0", "linear_1"): value.numpy() for key, value in optimizer.state_dict().items()}
    other.set_state_dict({name: value.numpy() for name, value in net.state_dict().items()})
    second.set_state_dict(renamed)
    for one, two in zip(train(net, optimizer, 5), train(other, second, 5)):
        assert np.allclose(one, two, 1e-6, 1e-7)


def test_the_state_is_there_before_the_first_step():
    layer = nn.Linear(2, 3)
    optimizer = paddle.optimizer.Adam(paddle.optimizer.lr.StepDecay(0.1, 2), parameters=layer.parameters())
    state = optimizer.state_dict()
    assert list(state) == [f"linear_0.{part}_{kind}_0" for kind in ("moment1", "moment2", "beta1_pow_acc", "beta2_pow_acc") for part in ("w_0", "b_0")] + [
        "LR_Scheduler"
    ]
    assert state["linear_0.w_0_moment1_0"].shape == [2, 3] and abs(state["linear_0.b_0_beta1_pow_acc_0"].item() - 0.9) < 1e-6
    assert state["linear_0.w_0_moment1_0"].name == "linear_0.w_0_moment1_0" and state["LR_Scheduler"] == {"last_epoch": 0, "last_lr": 0.1}


def test_states_that_do_not_fit_are_named():
    optimizer = paddle.optimizer.Adam(parameters=nn.Linear(2, 3).parameters())
    with pytest.raises(errors.InvalidArgumentError, match="the state has no 'linear_0.w_0_moment1_0'; it has x"):
        optimizer.set_state_dict({"x": np.ones(1)})
    state = optimizer.state_dict() | {"linear_0.w_0_moment2_0": np.ones((3, 2), "float32")}
    with pytest.raises(errors.InvalidArgumentError, match=r"moment2_0' has shape \[3, 2\]; expected \[2, 3\]"):
        optimizer.set_state_dict(state)


def test_adam_equals_torch_over_many_steps():
    net = nn.Linear(4, 1)
    twin = [p._torch.detach().clone().requires_grad_() for p in net.parameters()]
    theirs = torch.optim.Adam(twin, 0.01)
    found = train(net, paddle.optimizer.Adam(0.01, parameters=net.parameters()), 100)
    for _ in range(100):
        theirs.zero_grad()
        torch.nn.functional.mse_loss(torch.from_numpy(X) @ twin[0] + twin[1], torch.from_numpy(X.sum(1, keepdims=True))).backward()
        theirs.step()
    assert all(np.allclose(one, two.detach().numpy(), 1e-4, 1e-5) for one, two in zip(found, twin))


@pytest.mark.parametrize("kind", ["SGD", "Momentum", "Adagrad", "Adam"])
def test_rows_of_a_sparse_lookup_move_alone(kind):
    table = nn.Embedding(6, 3, sparse=True)
    before = table.weight.numpy()
    optimizer = getattr(paddle.optimizer, kind)(learning_rate=0.1, parameters=table.parameters())
    for ids in ([1, 4, 1], [4]):
        table(paddle.to_tensor(ids)).sum().backward()
        optimizer.step()
        optimizer.clear_grad(False)
    moved = (table.weight.numpy() != before).any(1)
    assert moved.tolist() == [False, True, False, False, True, False]
    if kind == "SGD":
        assert np.allclose(table.weight.numpy()[1], before[1] - 0.2) and np.allclose(table.weight.numpy()[4], before[4] - 0.2)


def test_rates_are_read_and_set():
    optimizer = paddle.optimizer.SGD(0.01, nn.Linear(1, 1).parameters())
    optimizer.set_lr(0.2)
    assert optimizer.get_lr() == 0.2
    scheduler = paddle.optimizer.lr.ExponentialDecay(1.0, 0.5)
    following = paddle.optimizer.SGD(scheduler, nn.Linear(1, 1).parameters())
    scheduler.step()
    assert following.get_lr() == 0.5
    with pytest.raises(errors.FailedPreconditionError, match="follows a schedule"):
        following.set_lr(1.0)


def test_a_parameter_without_gradient_stays_and_does_not_count():
    used, unused = nn.Linear(4, 1), nn.Linear(4, 1)
    optimizer = paddle.optimizer.Adam(parameters=[*used.parameters(), *unused.parameters()])
    before = unused.weight.numpy()
    train(used, optimizer, 1)
    assert (unused.weight.numpy() == before).all() and abs(optimizer.state_dict()["linear_1.w_0_beta1_pow_acc_0"].item() - 0.9) < 1e-6


def test_need_clip_leaves_a_parameter_out():
    layer = nn.Linear(1, 1, weight_attr=paddle.ParamAttr(need_clip=False, initializer=nn.initializer.Constant(0.0)), bias_attr=nn.initializer.Constant(0.0))
    optimizer = paddle.optimizer.SGD(1.0, layer.parameters(), grad_clip=nn.ClipGradByGlobalNorm(0.5))
    (layer(paddle.to_tensor([[3.0]])) * 2).sum().backward()
    optimizer.step()
    assert layer.weight.item() == -6.0 and abs(layer.bias.item() + 0.5) < 1e-6


def test_minimize_takes_what_backward_left():
    layer = nn.Linear(4, 1)
    optimizer = fluid_optimizers.SGDOptimizer(0.1, parameter_list=layer.parameters())
    before, loss = layer.bias.item(), layer(paddle.to_tensor(X)).sum()
    loss.backward()
    _, pairs = optimizer.minimize(loss)
    assert abs(before - layer.bias.item() - 0.8) < 1e-6 and len(pairs) == 2
    layer.clear_gradients()
    assert not layer.bias.grad.numpy().any()


def test_wide_copies_of_narrow_parameters():
    layer = nn.Linear(1, 1, bias_attr=False, weight_attr=nn.initializer.Constant(1.0)).to(dtype="bfloat16")
    optimizer = paddle.optimizer.SGD(1e-3, layer.parameters(), multi_precision=True)
    for _ in range(8):  # a single step is too small for bfloat16
        layer(paddle.ones([1, 1], "bfloat16")).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
    assert abs(float(optimizer.state_dict()["master_weights"]["linear_0.w_0"]) - 0.992) < 1e-5 and float(layer.weight) < 1.0


def test_schedulers_of_plateaus_have_a_state():
    scheduler = paddle.optimizer.lr.ReduceOnPlateau(1.0, factor=0.5, patience=0)
    optimizer = paddle.optimizer.SGD(scheduler, nn.Linear(1, 1).parameters())
    for loss in (paddle.to_tensor(1.0), paddle.to_tensor(2.0)):
        scheduler.step(loss)
    assert optimizer.get_lr() == 0.5 and optimizer.state_dict()["LR_Scheduler"]["last_lr"] == 0.5


# PaddlePaddle 2.6.2 takes it and does not use it on the CPU; a script that means it is told what has the same steps.
def test_a_rescaled_gradient_is_refused_with_its_substitute():
    with pytest.raises(ValueError, match=r"rescale_grad=0.25: scale the loss instead, and the bounds of grad_clip by as much"):
        paddle.optimizer.Momentum(0.1, rescale_grad=0.25)
