"""Learning rates that a script moves on with step(), as a rule once an epoch. Light: without torch and NumPy."""

import math
from typing import Any

from argosy.errors import InvalidArgumentError
from argosy.optimizer._scheduler import LRScheduler

__all__ = [
    "LRScheduler",
    "NoamDecay",
    "ExponentialDecay",
    "NaturalExpDecay",
    "InverseTimeDecay",
    "PolynomialDecay",
    "PiecewiseDecay",
    "CosineAnnealingDecay",
    "StepDecay",
    "MultiStepDecay",
    "LambdaDecay",
    "MultiplicativeDecay",
    "LinearWarmup",
    "LinearLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "OneCycleLR",
    "ReduceOnPlateau",
]


class NoamDecay(LRScheduler):
    """Rises for warmup_steps, then falls with the root of the step.

    >>> rate = paddle.optimizer.lr.NoamDecay(d_model=64, warmup_steps=2, learning_rate=1.0)
    >>> for _ in range(3):
    ...     print(round(rate(), 6))
    ...     rate.step()
    0.0
    0.044194
    0.088388
    """

    def __init__(self, d_model, warmup_steps, learning_rate=1.0, last_epoch=-1, verbose=False):
        self.d_model, self.warmup_steps = d_model, warmup_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self):
        rise = self.warmup_steps**-1.5 * self.last_epoch
        fall = 1 if self.last_epoch == 0 else self.last_epoch**-0.5
        return self.base_lr * self.d_model**-0.5 * min(rise, fall)


class ExponentialDecay(LRScheduler):
    """rate * gamma ^ epoch.

    >>> rate = paddle.optimizer.lr.ExponentialDecay(0.8, gamma=0.5)
    >>> for _ in range(3):
    ...     print(round(rate(), 6))
    ...     rate.step()
    0.8
    0.4
    0.2
    """

    def __init__(self, learning_rate, gamma, last_epoch=-1, verbose=False):
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self):
        return self.base_lr * self.gamma**self.last_epoch


class NaturalExpDecay(ExponentialDecay):
    """rate * e ^ (-gamma * epoch).

    >>> rate = paddle.optimizer.lr.NaturalExpDecay(0.8, gamma=0.5)
    >>> for _ in range(3):
    ...     print(round(rate(), 6))
    ...     rate.step()
    0.8
    0.485225
    0.294304
    """

    def get_lr(self):
        return self.base_lr * math.exp(-self.gamma * self.last_epoch)


class InverseTimeDecay(ExponentialDecay):
    """rate / (1 + gamma * epoch).

    >>> rate = paddle.optimizer.lr.InverseTimeDecay(0.8, gamma=1.0)
    >>> for _ in range(3):
    ...     print(round(rate(), 6))
    ...     rate.step()
    0.8
    0.4
    0.266667
    """

    def get_lr(self):
        return self.base_lr / (1 + self.gamma * self.last_epoch)


class PolynomialDecay(LRScheduler):
    """From the rate to end_lr in decay_steps; with cycle it rises again, ever less.

    >>> rate = paddle.optimizer.lr.PolynomialDecay(0.8, decay_steps=2, end_lr=0.0)
    >>> for _ in range(3):
    ...     print(round(rate(), 6))
    ...     rate.step()
    0.8
    0.4
    0.0
    """

    def __init__(self, learning_rate, decay_steps, end_lr=0.0001, power=1.0, cycle=False, last_epoch=-1, verbose=False):
        if not isinstance(decay_steps, int) or decay_steps <= 0:
            raise InvalidArgumentError(f"PolynomialDecay: decay_steps is an integer above 0; found {decay_steps!r}")
        self.decay_steps, self.end_lr, self.power, self.cycle = decay_steps, end_lr, power, cycle
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self):
        steps, epoch = self.decay_steps, self.last_epoch
        if self.cycle:
            steps *= max(1, math.ceil(epoch / self.decay_steps))
        else:
            epoch = min(epoch, steps)
        return (self.base_lr - self.end_lr) * (1 - epoch / steps) ** self.power + self.end_lr


class PiecewiseDecay(LRScheduler):
    """values[i] before boundaries[i]; the last value after all of them.

    >>> rate = paddle.optimizer.lr.PiecewiseDecay(boundaries=[1, 2], values=[0.8, 0.4, 0.1])
    >>> for _ in range(3):
    ...     print(round(rate(), 6))
    ...     rate.step()
    0.8
    0.4
    0.1
    """

    def __init__(self, boundaries, values, last_epoch=-1, verbose=False):
        if len(values) != len(boundaries) + 1:
            raise InvalidArgumentError(f"PiecewiseDecay: {len(boundaries)} boundaries take {len(boundaries) + 1} values; found {len(values)}")
        self.boundaries, self.values = list(boundaries), list(values)
        super().__init__(values[0], last_epoch, verbose)

    def get_lr(self):
        return self.values[sum(self.last_epoch >= boundary for boundary in self.boundaries)]


class CosineAnnealingDecay(LRScheduler):
    """Along a cosine from the rate to eta_min in T_max, and back.

    >>> rate = paddle.optimizer.lr.CosineAnnealingDecay(0.8, T_max=2)
    >>> for _ in range(3):
    ...     print(round(rate(), 6))
    ...     rate.step()
    0.8
    0.4
    0.0
    """

    def __init__(self, learning_rate, T_max, eta_min=0, last_epoch=-1, verbose=False):
        if not isinstance(T_max, int) or T_max <= 0:
            raise InvalidArgumentError(f"CosineAnnealingDecay: T_max is an integer above 0; found {T_max!r}")
        self.T_max, self.eta_min = T_max, float(eta_min)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self):
        return self.eta_min + (self.base_lr - self.eta_min) * (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2


class StepDecay(LRScheduler):
    """Times gamma after every step_size epochs.

    >>> rate = paddle.optimizer.lr.StepDecay(0.8, step_size=2, gamma=0.5)
    >>> for _ in range(3):
    ...     print(round(rate(), 6))
    ...     rate.step()
    0.8
    0.8
    0.4
    """

    def __init__(self, learning_rate, step_size, gamma=0.1, last_epoch=-1, verbose=False):
        if not isinstance(step_size, int) or step_size <= 0:
            raise InvalidArgumentError(f"StepDecay: step_size is an integer above 0; found {step_size!r}")
        self.step_size, self.gamma = step_size, gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self):
        return self.base_lr * self.gamma ** (self.last_epoch // self.step_size)


class MultiStepDecay(LRScheduler):
    """Times gamma at each milestone.

    >>> rate = paddle.optimizer.lr.MultiStepDecay(0.8, milestones=[1, 2], gamma=0.5)
    >>> for _ in range(3):
    ...     print(round(rate(), 6))
    ...     rate.step()
    0.8
    0.4
    0.2
    """

    def __init__(self, learning_rate, milestones, gamma=0.1, last_epoch=-1, verbose=False):
        if list(milestones) != sorted(set(milestones)):
            raise InvalidArgumentError(f"MultiStepDecay: milestones rise; found {list(milestones)}")
        self.milestones, self.gamma = list(milestones), gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self):
        return self.base_lr * self.gamma ** sum(self.last_epoch >= milestone for milestone in self.milestones)


class LambdaDecay(LRScheduler):
    """rate * lr_lambda(epoch).

    >>> rate = paddle.optimizer.lr.LambdaDecay(0.8, lambda epoch: 1 / (1 + epoch))
    >>> for _ in range(3):
    ...     print(round(rate(), 6))
    ...     rate.step()
    0.8
    0.4
    0.266667
    """

    def __init__(self, learning_rate, lr_lambda: Any, last_epoch=-1, verbose=False):
        if not callable(lr_lambda):
            raise InvalidArgumentError(f"{type(self).__name__}: lr_lambda is a function of the epoch; found {type(lr_lambda).__name__}")
        self.lr_lambda: Any = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self):
        return self.base_lr * self.lr_lambda(self.last_epoch)


class MultiplicativeDecay(LambdaDecay):
    """Times lr_lambda(epoch) at every epoch.

    >>> rate = paddle.optimizer.lr.MultiplicativeDecay(0.8, lambda epoch: 0.5)
    >>> for _ in range(3):
    ...     print(round(rate(), 6))
    ...     rate.step()
    0.8
    0.4
    0.2
    """

    def get_lr(self):
        return self.base_lr * math.prod(self.lr_lambda(epoch) for epoch in range(1, self.last_epoch + 1))


class LinearWarmup(LRScheduler):
    """From start_lr to end_lr in warmup_steps; then `learning_rate`, a number or a scheduler that starts there.

    >>> rate = paddle.optimizer.lr.LinearWarmup(0.8, warmup_steps=2, start_lr=0.0, end_lr=0.8)
    >>> for _ in range(3):
    ...     print(round(rate(), 6))
    ...     rate.step()
    0.0
    0.4
    0.8
    """

    def __init__(self, learning_rate, warmup_steps, start_lr, end_lr, last_epoch=-1, verbose=False):
        if end_lr <= start_lr:
            raise InvalidArgumentError(f"LinearWarmup: end_lr {end_lr} is not above start_lr {start_lr}")
        self.learning_rate, self.warmup_steps, self.start_lr, self.end_lr = learning_rate, warmup_steps, start_lr, end_lr
        super().__init__(start_lr, last_epoch, verbose)

    def get_lr(self):
        if self.last_epoch < self.warmup_steps:
            return self.start_lr + (self.end_lr - self.start_lr) * self.last_epoch / self.warmup_steps
        if isinstance(self.learning_rate, LRScheduler):
            self.learning_rate.step(self.last_epoch - self.warmup_steps)
            return self.learning_rate()
        return self.learning_rate


class LinearLR(LRScheduler):
    """From start_factor to end_factor times the rate in total_steps.

    >>> rate = paddle.optimizer.lr.LinearLR(0.8, total_steps=2, start_factor=0.5)
    >>> for _ in range(3):
    ...     print(round(rate(), 6))
    ...     rate.step()
    0.4
    0.6
    0.8
    """

    def __init__(self, learning_rate, total_steps, start_factor=1.0 / 3, end_factor=1.0, last_epoch=-1, verbose=False):
        if not 0 < start_factor <= 1.0 or not 0 <= end_factor <= 1.0 or total_steps <= 0:
            raise InvalidArgumentError(f"LinearLR: factors are from 0 to 1 and total_steps above 0; found {start_factor}, {end_factor} and {total_steps}")
        self.total_steps, self.start_factor, self.end_factor = total_steps, start_factor, end_factor
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self):
        share = min(self.last_epoch, self.total_steps) / self.total_steps
        return self.base_lr * (self.start_factor + (self.end_factor - self.start_factor) * share)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Along a cosine from the rate to eta_min, again and again: in T_0 steps at first, and T_mult times as many each time.

    >>> rate = paddle.optimizer.lr.CosineAnnealingWarmRestarts(0.8, T_0=2)
    >>> for _ in range(3):
    ...     print(round(rate(), 6))
    ...     rate.step()
    0.8
    0.4
    0.8
    """

    def __init__(self, learning_rate, T_0, T_mult=1, eta_min=0, last_epoch=-1, verbose=False):
        if not isinstance(T_0, int) or T_0 <= 0 or not isinstance(T_mult, int) or T_mult < 1:
            raise InvalidArgumentError(f"CosineAnnealingWarmRestarts: T_0 and T_mult are integers above 0; found {T_0!r} and {T_mult!r}")
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self):
        since, length = self.last_epoch, self.T_0
        while since >= length:
            since, length = since - length, length * self.T_mult
        return self.eta_min + (self.base_lr - self.eta_min) * (1 + math.cos(math.pi * since / length)) / 2


class CyclicLR(LRScheduler):
    """Up and down between two rates; 'triangular2' halves the height each time, 'exp_range' lowers it with every step.

    >>> rate = paddle.optimizer.lr.CyclicLR(0.1, 0.5, step_size_up=2)
    >>> for _ in range(3):
    ...     print(round(rate(), 6))
    ...     rate.step()
    0.1
    0.3
    0.5
    """

    def __init__(
        self,
        base_learning_rate,
        max_learning_rate,
        step_size_up,
        step_size_down=None,
        mode="triangular",
        exp_gamma=1.0,
        scale_fn=None,
        scale_mode="cycle",
        last_epoch=-1,
        verbose=False,
    ):
        if (mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None) or scale_mode not in ("cycle", "iterations"):
            raise InvalidArgumentError(
                f"CyclicLR: mode is 'triangular', 'triangular2' or 'exp_range', scale_mode 'cycle' or 'iterations'; found {mode!r}, {scale_mode!r}"
            )
        self.max_lr, self.up, self.cycle = max_learning_rate, step_size_up, step_size_up + (step_size_down or step_size_up)
        kinds = {"triangular": lambda x: 1.0, "triangular2": lambda x: 0.5 ** (x - 1), "exp_range": lambda x: exp_gamma**x}
        self.scale_fn = scale_fn or kinds[mode]
        self.by_steps = scale_mode == "iterations" if scale_fn is not None else mode == "exp_range"
        super().__init__(base_learning_rate, last_epoch, verbose)

    def get_lr(self):
        cycle, within = divmod(self.last_epoch, self.cycle)
        height = within / self.up if within <= self.up else (self.cycle - within) / (self.cycle - self.up)
        return self.base_lr + (self.max_lr - self.base_lr) * height * self.scale_fn(self.last_epoch if self.by_steps else cycle + 1)


class OneCycleLR(LRScheduler):
    """Up to max_learning_rate in phase_pct of the steps and down to end_learning_rate; three_phase goes down as far as it began first.

    >>> rate = paddle.optimizer.lr.OneCycleLR(0.8, total_steps=10)
    >>> for _ in range(3):
    ...     print(round(rate(), 6))
    ...     rate.step()
    0.032
    0.416
    0.8
    """

    def __init__(
        self,
        max_learning_rate,
        total_steps,
        divide_factor=25.0,
        end_learning_rate=0.0001,
        phase_pct=0.3,
        anneal_strategy="cos",
        three_phase=False,
        last_epoch=-1,
        verbose=False,
    ):
        if anneal_strategy not in ("cos", "linear") or not 0 <= phase_pct <= 1 or total_steps <= 0:
            raise InvalidArgumentError(
                "OneCycleLR: anneal_strategy is 'cos' or 'linear', phase_pct from 0 to 1, total_steps above 0; "
                f"found {anneal_strategy!r}, {phase_pct}, {total_steps}"
            )
        first, top = max_learning_rate / divide_factor, phase_pct * total_steps - 1
        self.total_steps, self.anneal = total_steps, anneal_strategy
        self.ends = [0, top, 2 * phase_pct * total_steps - 2, total_steps - 1] if three_phase else [0, top, total_steps - 1]
        self.rates = [first, max_learning_rate, first, end_learning_rate] if three_phase else [first, max_learning_rate, end_learning_rate]
        super().__init__(first, last_epoch, verbose)

    def get_lr(self):
        if self.last_epoch > self.total_steps:
            raise InvalidArgumentError(f"OneCycleLR: step {self.last_epoch} of {self.total_steps}")
        phase = next((i for i, end in enumerate(self.ends[1:]) if self.last_epoch <= end), len(self.ends) - 2)
        share = (self.last_epoch - self.ends[phase]) / (self.ends[phase + 1] - self.ends[phase])
        begin, end = self.rates[phase], self.rates[phase + 1]
        return end + (begin - end) * ((1 + math.cos(math.pi * share)) / 2 if self.anneal == "cos" else 1 - share)


class ReduceOnPlateau(LRScheduler):
    """Times factor where the metric that step() is given has not got better for `patience` calls.

    >>> rate = paddle.optimizer.lr.ReduceOnPlateau(0.8, factor=0.5, patience=0)
    >>> for _ in range(3):
    ...     print(round(rate(), 6))
    ...     rate.step(1.0)
    0.8
    0.8
    0.4
    """

    _state = ("cooldown_counter", "best", "num_bad_epochs", "last_epoch", "last_lr")

    def __init__(
        self, learning_rate, mode="min", factor=0.1, patience=10, threshold=1e-4, threshold_mode="rel", cooldown=0, min_lr=0, epsilon=1e-8, verbose=False
    ):
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs") or not factor < 1.0:
            raise InvalidArgumentError(
                f"ReduceOnPlateau: mode is 'min' or 'max', threshold_mode 'rel' or 'abs', factor below 1; found {mode!r}, {threshold_mode!r}, {factor!r}"
            )
        self.mode, self.factor, self.patience, self.threshold, self.threshold_mode = mode, factor, patience, threshold, threshold_mode
        self.cooldown, self.min_lr, self.epsilon = cooldown, min_lr, epsilon
        self.cooldown_counter, self.num_bad_epochs = 0, 0
        self.best: Any = None
        self.base_lr = self.last_lr = float(learning_rate)
        self.last_epoch, self.verbose = 0, verbose

    def _better(self, metric):
        margin = self.best * self.threshold if self.threshold_mode == "rel" else self.threshold
        return metric < self.best - margin if self.mode == "min" else metric > self.best + margin

    def step(self, metrics, epoch=None):
        metric = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            return
        if self.best is None or self._better(metric):
            self.best, self.num_bad_epochs = metric, 0
        else:
            self.num_bad_epochs += 1
        if self.num_bad_epochs > self.patience:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
            lower = max(self.last_lr * self.factor, self.min_lr)
            if self.last_lr - lower > self.epsilon:
                self.last_lr = lower
                self._report()
