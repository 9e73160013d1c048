"""What a loop in the dynamic graph shows of itself: samples of batches that were trained, once each, and the loss before scaling."""

import types

import numpy as np
import pytest

import paddle
from argosy.dynamic import step_numbers


@pytest.fixture
def shown(monkeypatch):
    """What would be told: [(samples, ratio)] and [(measure, value)]."""
    told = types.SimpleNamespace(steps=[], measures=[])
    core = types.SimpleNamespace(
        is_observed=lambda: True,
        show_step=lambda samples, seconds, ratio: told.steps.append((samples, ratio)) or (seconds < 0 and pytest.fail("a step took no time")),
        show_measure=lambda name, value: told.measures.append((name, value)),
    )
    monkeypatch.setattr(step_numbers, "_core", core)
    monkeypatch.setattr(step_numbers, "_shown", step_numbers._Shown())
    return told


def loader(count=5, size=2):
    return paddle.io.DataLoader(paddle.io.TensorDataset([paddle.ones([count, 3])]), batch_size=size)


def loss_of(x):
    weight = paddle.to_tensor(np.full(3, 2.0, "float32"), stop_gradient=False)
    return (x * weight).mean()


def test_each_trained_batch_counts_once(shown):
    for (x,) in loader():
        loss = loss_of(x)
        loss.backward(retain_graph=True)
        loss.backward()  # a second one of the same batch
    assert shown.steps == [(2, pytest.approx(1 / 3)), (2, pytest.approx(2 / 3)), (1, 1)]
    assert shown.measures[0] == ("loss", 2.0) and len(shown.measures) < 6, "the loss is looked at from time to time"


def test_what_is_scored_is_not_counted(shown):
    for (x,) in loader():
        loss_of(x)
    for (x,) in loader(count=3, size=3):
        loss_of(x).backward()
    assert shown.steps == [(3, 1)]


def test_a_scaled_loss_is_shown_as_it_was(shown):
    scaler = paddle.amp.GradScaler(init_loss_scaling=1024.0)
    scaler.scale(loss_of(paddle.ones([2, 3]))).backward()
    assert shown.measures == [("loss", 2.0)] and shown.steps == []


def test_nobody_is_told_where_nobody_looks(monkeypatch):
    core = types.SimpleNamespace(is_observed=lambda: False)  # and nothing else
    monkeypatch.setattr(step_numbers, "_core", core)
    for (x,) in loader():
        loss_of(x).backward()
