"""Learning rates of the dynamic graph of 1.8: most move on by themselves, one step at each minimize()."""

import math

from argosy.errors import InvalidArgumentError
from argosy.optimizer import lr

__all__ = [
    "NoamDecay",
    "PiecewiseDecay",
    "NaturalExpDecay",
    "ExponentialDecay",
    "InverseTimeDecay",
    "PolynomialDecay",
    "CosineDecay",
    "LinearLrWarmup",
    "ReduceLROnPlateau",
    "StepDecay",
    "MultiStepDecay",
    "LambdaDecay",
]


class LearningRateDecay:
    """What the rates share: step() is the rate at step_num, and a call is the same and moves on by step_size.

    >>> rate = fluid.dygraph.ExponentialDecay(0.8, decay_steps=1, decay_rate=0.5)
    >>> rate(), rate(), rate.step_num
    (0.8, 0.4, 2)
    """

    def __init__(self, begin=0, step=1, dtype="float32"):
        self.step_num, self.step_size, self.dtype = begin, step, dtype

    def step(self):
        raise NotImplementedError(f"{type(self).__name__} has no step(); a rate computes itself there from step_num")

    def __call__(self):
        found = self.step()
        self._advance()
        return found

    def _rate(self):
        """The rate of the next minimize(), without moving on."""
        return self.step()

    def _advance(self):
        """After a minimize()."""
        self.step_num += self.step_size

    def state_dict(self):
        return {"step_num": self.step_num}

    def set_state_dict(self, state_dict):
        if "step_num" not in state_dict:
            raise InvalidArgumentError(f"{type(self).__name__}: the state lacks step_num; found {', '.join(state_dict) or 'nothing'}")
        self.step_num = state_dict["step_num"]

    set_dict = set_state_dict


class PiecewiseDecay(LearningRateDecay):
    """values[i] before boundaries[i] steps; the last value after all of them.

    >>> rate = fluid.dygraph.PiecewiseDecay([1, 2], [0.4, 0.2, 0.1], begin=0)
    >>> [rate() for _ in range(3)]
    [0.4, 0.2, 0.1]
    """

    def __init__(self, boundaries, values, begin, step=1, dtype="float32"):
        super().__init__(begin, step, dtype)
        if len(values) != len(boundaries) + 1:
            raise InvalidArgumentError(f"PiecewiseDecay: {len(boundaries)} boundaries need {len(boundaries) + 1} values; found {len(values)}")
        self.boundaries, self.values = boundaries, values

    def step(self):
        passed = sum(self.step_num >= boundary for boundary in self.boundaries)
        return self.values[passed]


class _Quotient(LearningRateDecay):
    """A function of the steps divided by decay_steps, with whole parts of the quotient only where staircase."""

    def __init__(self, learning_rate, decay_steps, decay_rate, staircase=False, begin=0, step=1, dtype="float32"):
        super().__init__(begin, step, dtype)
        self.learning_rate, self.decay_steps, self.decay_rate, self.staircase = learning_rate, decay_steps, decay_rate, staircase

    def _quotient(self):
        found = self.step_num / self.decay_steps
        return math.floor(found) if self.staircase else found


class ExponentialDecay(_Quotient):
    """learning_rate * decay_rate ^ (steps / decay_steps).

    >>> rate = fluid.dygraph.ExponentialDecay(0.8, decay_steps=2, decay_rate=0.5, staircase=True)
    >>> [rate() for _ in range(3)]
    [0.8, 0.8, 0.4]
    """

    def step(self):
        return self.learning_rate * self.decay_rate ** self._quotient()


class NaturalExpDecay(_Quotient):
    """learning_rate * e ^ (-decay_rate * steps / decay_steps).

    >>> rate = fluid.dygraph.NaturalExpDecay(0.8, decay_steps=1, decay_rate=0.5)
    >>> [round(rate(), 4) for _ in range(2)]
    [0.8, 0.4852]
    """

    def step(self):
        return self.learning_rate * math.exp(-self.decay_rate * self._quotient())


class InverseTimeDecay(_Quotient):
    """learning_rate / (1 + decay_rate * steps / decay_steps).

    >>> rate = fluid.dygraph.InverseTimeDecay(0.8, decay_steps=1, decay_rate=1.0)
    >>> [rate() for _ in range(2)]
    [0.8, 0.4]
    """

    def step(self):
        return self.learning_rate / (1 + self.decay_rate * self._quotient())


class PolynomialDecay(LearningRateDecay):
    """From learning_rate to end_learning_rate in decay_steps; with cycle it rises again, ever less.

    >>> rate = fluid.dygraph.PolynomialDecay(0.8, decay_steps=2, end_learning_rate=0.0)
    >>> [rate() for _ in range(4)]
    [0.8, 0.4, 0.0, 0.0]
    """

    def __init__(self, learning_rate, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False, begin=0, step=1, dtype="float32"):
        super().__init__(begin, step, dtype)
        self.learning_rate, self.decay_steps, self.end_learning_rate, self.power, self.cycle = learning_rate, decay_steps, end_learning_rate, power, cycle

    def step(self):
        whole = self.decay_steps * max(1, math.ceil(self.step_num / self.decay_steps)) if self.cycle else self.decay_steps
        done = min(self.step_num, whole) / whole
        return (self.learning_rate - self.end_learning_rate) * (1 - done) ** self.power + self.end_learning_rate


class CosineDecay(LearningRateDecay):
    """Along a cosine from learning_rate to 0 in `epochs` of step_each_epoch steps.

    >>> rate = fluid.dygraph.CosineDecay(0.8, step_each_epoch=1, epochs=2)
    >>> [round(rate(), 6) for _ in range(3)]
    [0.8, 0.4, 0.0]
    """

    def __init__(self, learning_rate, step_each_epoch, epochs, begin=0, step=1, dtype="float32"):
        super().__init__(begin, step, dtype)
        self.learning_rate, self.step_each_epoch, self.epochs = learning_rate, step_each_epoch, epochs

    def step(self):
        return self.learning_rate * 0.5 * (math.cos(self.step_num // self.step_each_epoch * math.pi / self.epochs) + 1)


class NoamDecay(LearningRateDecay):
    """Rises for warmup_steps, then falls with the root of the step.

    >>> rate = fluid.dygraph.NoamDecay(64, warmup_steps=2)
    >>> [round(rate(), 6) for _ in range(2)]
    [0.044194, 0.088388]
    """

    def __init__(self, d_model, warmup_steps, begin=1, step=1, dtype="float32", learning_rate=1.0):
        super().__init__(begin, step, dtype)
        self.d_model, self.warmup_steps, self.learning_rate = d_model, warmup_steps, learning_rate

    def step(self):
        return self.learning_rate * self.d_model**-0.5 * min(self.step_num**-0.5, self.warmup_steps**-1.5 * self.step_num)


class LinearLrWarmup(LearningRateDecay):
    """From start_lr to end_lr in warmup_steps, then `learning_rate`: a number, or another rate, which moves on from the first step.

    >>> rate = fluid.dygraph.LinearLrWarmup(0.4, warmup_steps=2, start_lr=0.0, end_lr=0.4)
    >>> [rate() for _ in range(2)]
    [0.2, 0.4]
    """

    def __init__(self, learning_rate, warmup_steps, start_lr, end_lr, begin=1, step=1, dtype="float32"):
        super().__init__(begin, step, dtype)
        if not isinstance(learning_rate, (int, float, LearningRateDecay)):
            raise TypeError(f"LinearLrWarmup: learning_rate is a number or a LearningRateDecay; found {type(learning_rate).__name__}")
        if not end_lr > start_lr:
            raise InvalidArgumentError(f"LinearLrWarmup: end_lr is above start_lr; found {end_lr} and {start_lr}")
        self.learning_rate, self.warmup_steps, self.start_lr, self.end_lr = learning_rate, warmup_steps, start_lr, end_lr

    def step(self):
        if self.step_num < self.warmup_steps:
            return self.start_lr + (self.end_lr - self.start_lr) * self.step_num / self.warmup_steps
        return self.learning_rate.step() if isinstance(self.learning_rate, LearningRateDecay) else self.learning_rate

    def _advance(self):
        super()._advance()
        if isinstance(self.learning_rate, LearningRateDecay):
            self.learning_rate._advance()

    def state_dict(self):
        inner = self.learning_rate
        return {**super().state_dict(), **({"inner": inner.state_dict()} if isinstance(inner, LearningRateDecay) else {})}

    def set_state_dict(self, state_dict):
        super().set_state_dict(state_dict)
        if isinstance(self.learning_rate, LearningRateDecay):
            self.learning_rate.set_state_dict(state_dict.get("inner", {}))

    set_dict = set_state_dict


class ReduceLROnPlateau(lr.ReduceOnPlateau):
    """Falls to decay_rate of itself once step(loss) has seen no better loss `patience` times.

    >>> rate = fluid.dygraph.ReduceLROnPlateau(0.8, decay_rate=0.5, patience=0)
    >>> for loss in (1.0, 2.0):
    ...     rate.step(loss)
    >>> rate()
    0.4
    """

    def __init__(
        self,
        learning_rate,
        mode="min",
        decay_rate=0.1,
        patience=10,
        verbose=False,
        threshold=1e-4,
        threshold_mode="rel",
        cooldown=0,
        min_lr=0,
        eps=1e-8,
        dtype="float32",
    ):
        super().__init__(learning_rate, mode.lower(), decay_rate, patience, threshold, threshold_mode, cooldown, min_lr, eps, verbose)


class StepDecay(lr.StepDecay):
    """Falls to decay_rate of itself every step_size calls of epoch().

    >>> rate = fluid.dygraph.StepDecay(0.8, step_size=1, decay_rate=0.5)
    >>> rate.epoch()
    >>> rate()
    0.4
    """

    def __init__(self, learning_rate, step_size, decay_rate=0.1):
        super().__init__(learning_rate, step_size, decay_rate)

    epoch = lr.StepDecay.step


class MultiStepDecay(lr.MultiStepDecay):
    """Falls to decay_rate of itself at each of the milestones, in calls of epoch().

    >>> rate = fluid.dygraph.MultiStepDecay(0.8, milestones=[1, 3], decay_rate=0.5)
    >>> rate.epoch()
    >>> rate()
    0.4
    """

    def __init__(self, learning_rate, milestones, decay_rate=0.1):
        super().__init__(learning_rate, milestones, decay_rate)

    epoch = lr.MultiStepDecay.step


class LambdaDecay(lr.LambdaDecay):
    """learning_rate * lr_lambda(calls of epoch()).

    >>> rate = fluid.dygraph.LambdaDecay(0.8, lambda epoch: 0.5**epoch)
    >>> rate.epoch()
    >>> rate()
    0.4
    """

    def __init__(self, learning_rate, lr_lambda):
        super().__init__(learning_rate, lr_lambda)

    epoch = lr.LambdaDecay.step
