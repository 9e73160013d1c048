"""The update rules on lists of torch tensors: what each remembers of a parameter, and a step.

They are the formulas of argosy's optim room, on whole lists, so that torch makes one call of many small parameters.
"""
import dataclasses
import math
from collections.abc import Callable

import torch

__all__ = ["Rule", "RULES", "count_of_power"]


@dataclasses.dataclass(frozen=True)
class Rule:
    """step(rate, values, gradients, states, count, numbers): states has a list for each accumulator; count is the number of this step, from 1."""

    step: Callable
    accumulators: tuple = ()
    powers: tuple = ()  # hyper-parameters whose powers are part of the state, as beta1_pow_acc


def _sgd(rate, values, gradients, states, count, numbers):
    torch._foreach_add_(values, gradients, alpha=-rate)


def _momentum(rate, values, gradients, states, count, numbers):
    velocity, mu = states["velocity"], numbers["mu"]
    torch._foreach_mul_(velocity, mu)
    torch._foreach_add_(velocity, gradients)
    if numbers["use_nesterov"]:
        torch._foreach_add_(values, gradients, alpha=-rate)
        torch._foreach_add_(values, velocity, alpha=-rate * mu)
    else:
        torch._foreach_add_(values, velocity, alpha=-rate)


def _adagrad(rate, values, gradients, states, count, numbers):
    moment = states["moment"]
    torch._foreach_addcmul_(moment, gradients, gradients)
    below = torch._foreach_sqrt(moment)
    torch._foreach_add_(below, numbers["epsilon"])
    torch._foreach_addcdiv_(values, gradients, below, value=-rate)


def _decayed_adagrad(rate, values, gradients, states, count, numbers):
    moment, decay = states["moment"], numbers["decay"]
    torch._foreach_mul_(moment, decay)
    torch._foreach_addcmul_(moment, gradients, gradients, 1 - decay)
    below = torch._foreach_sqrt(moment)
    torch._foreach_add_(below, numbers["epsilon"])
    torch._foreach_addcdiv_(values, gradients, below, value=-rate)


def _adadelta(rate, values, gradients, states, count, numbers):
    squares, updates, rho, epsilon = states["_avg_squared_grad"], states["_avg_squared_update"], numbers["rho"], numbers["epsilon"]
    torch._foreach_mul_(squares, rho)
    torch._foreach_addcmul_(squares, gradients, gradients, 1 - rho)
    move = torch._foreach_div(torch._foreach_add(updates, epsilon), torch._foreach_add(squares, epsilon))
    torch._foreach_sqrt_(move)
    torch._foreach_mul_(move, gradients)
    torch._foreach_mul_(updates, rho)
    torch._foreach_addcmul_(updates, move, move, 1 - rho)
    torch._foreach_add_(values, move, alpha=-(rate if numbers["use_learning_rate"] else 1.0))


def _adam(rate, values, gradients, states, count, numbers):
    steps = [torch.tensor(float(count), device=values[0].device)] * len(values)
    torch._fused_adam_(values, gradients, states["moment1"], states["moment2"], [], steps, lr=rate, beta1=numbers["beta1"], beta2=numbers["beta2"],
                       weight_decay=0.0, eps=numbers["epsilon"], amsgrad=False, maximize=False)


def _adamax(rate, values, gradients, states, count, numbers):
    moment, largest, beta1 = states["moment"], states["inf_norm"], numbers["beta1"]
    torch._foreach_lerp_(moment, gradients, 1 - beta1)
    torch._foreach_mul_(largest, numbers["beta2"])
    torch._foreach_add_(largest, numbers["epsilon"])
    torch._foreach_maximum_(largest, torch._foreach_abs(gradients))
    torch._foreach_addcdiv_(values, moment, largest, value=-rate / (1 - beta1**count))


def _rmsprop(rate, values, gradients, states, count, numbers):
    squares, means, moves, decay = states["mean_square"], states["mean_grad"], states["momentum"], numbers["decay"]
    torch._foreach_mul_(squares, decay)
    torch._foreach_addcmul_(squares, gradients, gradients, 1 - decay)
    below = torch._foreach_add(squares, numbers["epsilon"])
    if numbers["centered"]:
        torch._foreach_lerp_(means, gradients, 1 - decay)
        torch._foreach_addcmul_(below, means, means, -1.0)
    torch._foreach_sqrt_(below)
    torch._foreach_mul_(moves, numbers["momentum"])
    torch._foreach_addcdiv_(moves, gradients, below, value=rate)
    torch._foreach_sub_(values, moves)


def _lamb(rate, values, gradients, states, count, numbers):
    first, second, beta1, beta2 = states["moment1"], states["moment2"], numbers["beta1"], numbers["beta2"]
    torch._foreach_lerp_(first, gradients, 1 - beta1)
    torch._foreach_mul_(second, beta2)
    torch._foreach_addcmul_(second, gradients, gradients, 1 - beta2)
    corrected = numbers["bias_correction"]
    above, below = (1 - beta1**count, 1 - beta2**count) if corrected else (1.0, 1.0)
    for value, one, two in zip(values, first, second):
        move = (one / above) / ((two / below).sqrt() + numbers["epsilon"]) + numbers["weight_decay"] * value
        size, of_move = (float(value.norm()), float(move.norm())) if numbers["weight_decay"] else (0.0, 0.0)  # without decay the rate is as given
        value.add_(move, alpha=-rate * (size / of_move if size > 0 and of_move > 0 else 1.0))


def _ftrl(rate, values, gradients, states, count, numbers):
    power, l1, l2 = numbers["lr_power"], numbers["l1"], numbers["l2"]
    for value, gradient, squared, linear in zip(values, gradients, states["squared"], states["linear"]):
        after = squared + gradient * gradient
        linear.add_(gradient - (after**-power - squared**-power) / rate * value)
        below = after**-power / rate + 2 * l2
        value.copy_(torch.where(linear.abs() > l1, (l1 * linear.sign() - linear) / below, torch.zeros_like(value)))
        squared.copy_(after)


RULES = {
    "sgd": Rule(_sgd), "momentum": Rule(_momentum, ("velocity",)), "adagrad": Rule(_adagrad, ("moment",)),
    "decayed_adagrad": Rule(_decayed_adagrad, ("moment",)), "adadelta": Rule(_adadelta, ("_avg_squared_grad", "_avg_squared_update")),
    "adam": Rule(_adam, ("moment1", "moment2"), ("beta1", "beta2")), "adamw": Rule(_adam, ("moment1", "moment2"), ("beta1", "beta2")),
    "adamax": Rule(_adamax, ("moment", "inf_norm"), ("beta1",)), "rmsprop": Rule(_rmsprop, ("momentum", "mean_square", "mean_grad")),
    "lamb": Rule(_lamb, ("moment1", "moment2"), ("beta1", "beta2")), "ftrl": Rule(_ftrl, ("squared", "linear")),
}


def count_of_power(power, base):
    """How many steps made `power`, which starts at base ** 1; very many where it has become 0."""
    return 1_000_000 if power <= 0 or base <= 0 else max(0, round(math.log(power) / math.log(base)) - 1)
