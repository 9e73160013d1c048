"""The schedulers of paddle.optimizer.lr, whose step() a script calls."""

import math

import pytest

from paddle.optimizer import lr

CASES = [
    (lambda: lr.ExponentialDecay(0.5, 0.9), lambda e: 0.5 * 0.9**e),
    (lambda: lr.NaturalExpDecay(0.5, 0.1), lambda e: 0.5 * math.exp(-0.1 * e)),
    (lambda: lr.InverseTimeDecay(0.5, 0.1), lambda e: 0.5 / (1 + 0.1 * e)),
    (lambda: lr.PolynomialDecay(0.5, 3, end_lr=0.1, power=2.0), lambda e: 0.4 * (1 - min(e, 3) / 3) ** 2 + 0.1),
    (lambda: lr.PolynomialDecay(0.5, 2, end_lr=0.1, cycle=True), lambda e: 0.4 * (1 - e / (2 * max(1, math.ceil(e / 2)))) + 0.1),
    (lambda: lr.PiecewiseDecay([2, 4], [0.3, 0.2, 0.1]), lambda e: [0.3, 0.3, 0.2, 0.2, 0.1, 0.1, 0.1, 0.1][e]),
    (lambda: lr.CosineAnnealingDecay(0.5, 4, 0.1), lambda e: 0.1 + 0.4 * (1 + math.cos(math.pi * e / 4)) / 2),
    (lambda: lr.StepDecay(0.5, 3), lambda e: 0.5 * 0.1 ** (e // 3)),
    (lambda: lr.MultiStepDecay(0.5, [1, 4]), lambda e: 0.5 * 0.1 ** ((e >= 1) + (e >= 4))),
    (lambda: lr.LambdaDecay(0.5, lambda e: 1 / (e + 1)), lambda e: 0.5 / (e + 1)),
    (lambda: lr.MultiplicativeDecay(0.5, lambda e: 0.9), lambda e: 0.5 * 0.9**e),
    (lambda: lr.NoamDecay(100, 3), lambda e: 0.1 * min(1 if e == 0 else e**-0.5, e * 3**-1.5)),
    (lambda: lr.LinearWarmup(0.5, 4, 0.1, 0.3), lambda e: 0.1 + 0.05 * e if e < 4 else 0.5),
    (lambda: lr.LinearWarmup(lr.ExponentialDecay(0.5, 0.9), 4, 0.1, 0.3), lambda e: 0.1 + 0.05 * e if e < 4 else 0.5 * 0.9 ** (e - 4)),
]


@pytest.mark.parametrize("make, value", CASES)
def test_the_rate_follows_the_formula(make, value):
    scheduler = make()
    for epoch in range(8):
        assert scheduler() == pytest.approx(value(epoch), rel=1e-9), epoch
        scheduler.step()


def test_a_state_goes_on_where_it_was():
    first = lr.StepDecay(0.5, 2)
    for _ in range(3):
        first.step()
    second = lr.StepDecay(0.5, 2)
    second.set_state_dict(first.state_dict())
    first.step(), second.step()
    assert first() == second() and first.last_epoch == second.last_epoch == 4
    with pytest.raises(ValueError, match="the state lacks last_lr"):
        second.set_state_dict({"last_epoch": 1})


def test_a_plateau_lowers_the_rate_after_patience_and_rests_in_cooldown():
    scheduler = lr.ReduceOnPlateau(1.0, factor=0.5, patience=1, cooldown=2, min_lr=0.3)
    rates = []
    for metric in [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5]:
        scheduler.step(metric)
        rates.append(scheduler())
    assert rates == [1.0, 1.0, 0.5, 0.5, 0.5, 0.5, 0.3, 0.3, 0.3]


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: lr.StepDecay(-1, 2), "learning_rate is a number, 0 or more; found -1"),
        (lambda: lr.StepDecay(0.1, 0), "step_size is an integer above 0; found 0"),
        (lambda: lr.PiecewiseDecay([1], [0.1]), "1 boundaries take 2 values; found 1"),
        (lambda: lr.MultiStepDecay(0.1, [4, 1]), "milestones rise"),
        (lambda: lr.LinearWarmup(0.1, 3, 0.2, 0.1), "end_lr 0.1 is not above start_lr 0.2"),
        (lambda: lr.LambdaDecay(0.1, 3), "lr_lambda is a function of the epoch; found int"),
        (lambda: lr.ReduceOnPlateau(0.1, mode="best"), "mode is 'min' or 'max'"),
    ],
)
def test_arguments_that_do_not_fit_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    "scheduler, expected",
    [
        (lambda: lr.LinearLR(1.0, 4, 0.5), [0.5, 0.625, 0.75, 0.875, 1.0, 1.0]),
        (lambda: lr.CosineAnnealingWarmRestarts(1.0, 2, 2), [1.0, 0.5, 1.0, 0.853553, 0.5, 0.146447, 1.0]),
        (lambda: lr.CyclicLR(0.0, 1.0, 2, mode="triangular2"), [0.0, 0.5, 1.0, 0.5, 0.0, 0.25, 0.5]),
        (lambda: lr.OneCycleLR(1.0, 6, 4.0, 0.0, 0.5, "linear"), [0.25, 0.625, 1.0, 0.666667, 0.333333, 0.0]),
    ],
)
def test_rates_that_rise_and_fall(scheduler, expected):
    scheduler = scheduler()
    for rate in expected:
        assert abs(scheduler() - rate) < 1e-6
        scheduler.step()
