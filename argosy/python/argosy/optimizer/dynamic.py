"""What optimizers do in the dynamic graph: step() moves parameters by their gradients, with the core's update rules."""

import re

import torch

from argosy import _core
from argosy.dynamic.tensor import Tensor, unwrap, wrap
from argosy.errors import InvalidArgumentError
from argosy.fluid import clip as clips
from argosy.optimizer.lr import LRScheduler

__all__ = ["Updates", "clipped"]


def _by_norm(gradients, limit):
    for gradient in gradients:
        norm = float(torch.linalg.vector_norm(gradient))
        yield gradient * (limit / norm) if norm > limit else gradient


def _by_global_norm(gradients, limit):
    norm = float(torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))) if gradients else 0.0
    return torch._foreach_mul(gradients, limit / norm) if norm > limit else gradients


def _limited(clip, gradients):
    if isinstance(clip, clips.GradientClipByValue):
        return [gradient.clamp(clip.min, clip.max) for gradient in gradients]
    if isinstance(clip, clips.GradientClipByNorm):
        return list(_by_norm(gradients, clip.clip_norm))
    if isinstance(clip, clips.GradientClipByGlobalNorm):
        return list(_by_global_norm(gradients, clip.clip_norm))
    raise InvalidArgumentError(f"grad_clip is one of paddle.nn's ClipGradBy classes; found {type(clip).__name__}")


def clipped(clip, pairs):
    """[(parameter, torch gradient)] with gradients limited, but of parameters whose need_clip is False. Gradients are not changed in place."""
    if clips.is_own(clip):
        return [(parameter, unwrap(gradient)) for parameter, gradient in clip([(parameter, wrap(gradient)) for parameter, gradient in pairs])]
    if clip is None:
        return pairs
    chosen = [i for i, (parameter, _) in enumerate(pairs) if getattr(parameter, "need_clip", True)]
    limited = _limited(clip, [pairs[i][1].to_dense() if pairs[i][1].is_sparse else pairs[i][1] for i in chosen])
    changed = dict(zip(chosen, limited))
    return [(parameter, changed.get(i, gradient)) for i, (parameter, gradient) in enumerate(pairs)]


class _Slot:
    """What an optimizer keeps of one parameter."""

    def __init__(self, parameter, group, rule, wide):
        self.parameter, self.group = parameter, group
        self.wide = parameter._torch.detach().float() if wide and parameter._torch.element_size() < 4 else None
        self.states = {name: torch.full_like(self.value(), first) for name, first in rule.accumulators}
        self.scalars = tuple(first for _, first in rule.scalars)

    def value(self):
        return self.parameter._torch.detach() if self.wide is None else self.wide

    def share(self):
        """Of the optimizer's rate: the parameter's own, times its group's."""
        attributes = getattr(self.parameter, "optimize_attr", None)
        own = attributes["learning_rate"] if attributes else 1.0
        return own * self.group.get("learning_rate", 1.0)


# Paddle 2's own ways: Adam adds epsilon to the corrected root, and Lamb takes the rate as given without decay.
_DYNAMIC = {"adam": {"corrected_epsilon": True}, "lamb": {"always_adapt": False}}


def _move_list(rule, rate, members):
    """members: [(slot, gradient)] of which all slots have the same scalars."""
    states = [[slot.states[name] for slot, _ in members] for name, _ in rule.accumulators]
    scalars = rule.step(rate, members[0][0].scalars, [slot.value() for slot, _ in members], [gradient for _, gradient in members], states)
    for slot, _ in members:
        slot.scalars = tuple(scalars)


def _move_rows(rule, rate, slot, gradient):
    rows, value = gradient.indices()[0], slot.value()
    moved, states = value[rows], [slot.states[name] for name, _ in rule.accumulators]
    parts = [state[rows] for state in states]
    slot.scalars = tuple(rule.step(rate, slot.scalars, [moved], [gradient.values()], [[part] for part in parts]))
    value[rows] = moved
    for state, part in zip(states, parts):
        state[rows] = part


class Updates:
    """An optimizer's part in the dynamic graph; the optimizer gives the rule, its numbers and the rate.

    A gradient of a lookup with sparse=True moves the rows that it has, and nothing of the others, whatever the rule is. Confined to one thread.
    """

    def __init__(self, optimizer):
        self._optimizer = optimizer
        self._name: str = optimizer._rule
        self._rules = {}  # hyper-parameters that differ between parameters -> the rule with them
        groups = [one if isinstance(one, dict) else {"params": [one]} for one in optimizer._parameter_list]
        self._slots = {id(p): _Slot(p, group, self._rule(), optimizer._multi_precision) for group in groups for p in group["params"]}

    def _rule(self, **own):
        """The core's rule, with hyper-parameters of some parameters' own."""
        key = tuple(sorted(own.items()))
        if key not in self._rules:
            numbers = {**self._optimizer._hyper_parameters(), **_DYNAMIC.get(self._name, {}), **own}
            self._rules[key] = _core.Rule(self._name, {number: float(getattr(value, "coeff", value)) for number, value in numbers.items()})
        return self._rules[key]

    def _rule_of(self, slot):
        if self._name == "adamw":
            coefficient = slot.group.get("weight_decay", self._optimizer._weight_decay)
            decays = self._optimizer._decays is None or self._optimizer._decays(slot.parameter.name)
            return self._rule(coeff=float(getattr(coefficient, "coeff", coefficient)), with_decay=bool(decays))
        if self._name == "lamb" and self._optimizer._excludes is not None and self._optimizer._excludes(slot.parameter):
            return self._rule(weight_decay=0.0)
        if self._name == "lars_momentum" and not self._optimizer._decays(slot.parameter.name):
            return self._rule(lars_weight_decay=0.0)
        return self._rule()

    # A step.
    def pairs(self, parameters=None):
        """[(parameter, torch gradient)] of those that have one."""
        wanted = None if parameters is None else {id(p) for p in parameters}
        return [
            (slot.parameter, slot.parameter._torch.grad)
            for slot in self._slots.values()
            if slot.parameter._torch.grad is not None and not slot.parameter.stop_gradient and (wanted is None or id(slot.parameter) in wanted)
        ]

    def step(self):
        """Moves every parameter that has a gradient."""
        self._move(self.pairs())

    def _move(self, pairs):
        with torch.no_grad():
            rate, lists = self._optimizer.get_lr(), {}
            for parameter, gradient in self._decayed(self._clipped(pairs)):
                slot = self._slots[id(parameter)]
                rule, own = self._rule_of(slot), rate * slot.share()
                if gradient.is_sparse:
                    _move_rows(rule, own, slot, gradient.coalesce())
                else:
                    lists.setdefault((id(rule), own, slot.scalars), (rule, own, []))[2].append((slot, gradient))
            for rule, own, members in lists.values():
                _move_list(rule, own, members)
            for slot in self._slots.values():
                if slot.wide is not None:
                    slot.parameter._torch.detach().copy_(slot.wide)
        if hasattr(self._optimizer._learning_rate, "_advance"):  # those of 1.8 move on by themselves
            self._optimizer._learning_rate._advance()

    def _clipped(self, pairs):
        by_clip = {}
        for pair in pairs:
            group = self._slots[id(pair[0])].group
            by_clip.setdefault(id(group.get("grad_clip", self._optimizer._grad_clip)), (group.get("grad_clip", self._optimizer._grad_clip), []))[1].append(pair)
        return [pair for clip, members in by_clip.values() for pair in clipped(clip, members)]

    def _decayed(self, pairs):
        """Gradients with the penalty on the parameter's size: its own, or its group's, or the optimizer's."""
        for parameter, gradient in pairs:
            group = self._slots[id(parameter)].group
            penalty = getattr(parameter, "regularizer", None) or group.get("weight_decay", self._optimizer.regularization)
            if penalty is None or self._name == "adamw":
                yield parameter, gradient
                continue
            value = parameter._torch.detach()
            coefficient = penalty if isinstance(penalty, (int, float)) else penalty.coeff  # pyright: ignore[reportAttributeAccessIssue]
            gradient = gradient.to_dense() if gradient.is_sparse else gradient
            absolute = getattr(penalty, "kind", "l2") == "l1"
            yield parameter, gradient.add(value.sign() if absolute else value, alpha=coefficient)

    def minimize(self, parameters=None):
        """Of gradients that backward() has left. Returns (None, [(parameter, gradient), …])."""
        pairs = self.pairs(parameters)
        self._move(pairs)
        return None, [(parameter, Tensor(gradient)) for parameter, gradient in pairs]

    def named_pairs(self):
        """[(parameter, gradient)] of those that have one."""
        return [(parameter, Tensor(gradient)) for parameter, gradient in self.pairs()]

    def scale(self, factor):
        """Multiplies every gradient, in place."""
        gradients = [gradient for _, gradient in self.pairs()]
        if gradients:
            torch._foreach_mul_(gradients, factor)

    def take_values(self):
        """What is kept of the parameters in a wider type follows values that somebody else has written."""
        for slot in self._slots.values():
            if slot.wide is not None:
                slot.wide.copy_(slot.parameter._torch.detach())

    def clear_grad(self, set_to_zero=True):
        """Gradients become 0, or None."""
        gradients = [slot.parameter._torch.grad for slot in self._slots.values() if slot.parameter._torch.grad is not None]
        if gradients and set_to_zero and not any(gradient.is_sparse or gradient.requires_grad for gradient in gradients):
            torch._foreach_zero_(gradients)
            return
        for slot in self._slots.values():
            slot.parameter.clear_gradient(set_to_zero)

    # Its state.
    def _scheduled(self):
        return isinstance(self._optimizer._learning_rate, LRScheduler) or hasattr(self._optimizer._learning_rate, "_advance")

    def state_dict(self):
        """{name: tensor} of everything that the rule remembers, also before the first step; LR_Scheduler, where there is one."""
        rule, state = self._rule(), {}
        slots = list(self._slots.values())
        for name, _ in rule.accumulators:
            state.update((key, Tensor(slot.states[name], key)) for slot in slots for key in (f"{slot.parameter.name}_{name}_0",))
        for index, (name, _) in enumerate(rule.scalars):
            for slot in slots:
                key = f"{slot.parameter.name}_{name}_0"
                state[key] = Tensor(torch.tensor([slot.scalars[index]], dtype=torch.float32), key)
        wide = {slot.parameter.name: Tensor(slot.wide) for slot in slots if slot.wide is not None}
        if wide:
            state["master_weights"] = wide
        if self._scheduled():
            state["LR_Scheduler"] = self._optimizer._learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict):
        """Takes what state_dict() gave, here or in Paddle. A parameter that the state knows nothing of is an error."""
        if self._scheduled() and "LR_Scheduler" in state_dict:
            self._optimizer._learning_rate.set_state_dict(state_dict["LR_Scheduler"])
        names = [name for name, _ in self._rule().scalars]
        plain = {re.sub(r"_\d+$", "", key): value for key, value in state_dict.items() if key not in ("LR_Scheduler", "master_weights")}
        for slot in self._slots.values():
            for name, tensor in slot.states.items():
                tensor.copy_(_values(plain, f"{slot.parameter.name}_{name}", list(tensor.shape)))
            slot.scalars = tuple(float(_values(plain, f"{slot.parameter.name}_{name}", None).reshape(-1)[0]) for name in names)
            wide = state_dict.get("master_weights", {}).get(slot.parameter.name)
            if slot.wide is not None:
                slot.wide.copy_(torch.as_tensor(unwrap(wide)) if wide is not None else slot.parameter._torch.detach())


def _values(state, key, shape):
    if key not in state:
        raise InvalidArgumentError(f"set_state_dict: the state has no '{key}_0'; it has {', '.join(sorted(state)[:4]) or 'nothing'}")
    found = torch.as_tensor(unwrap(state[key]))
    if shape is not None and list(found.shape) != shape:
        raise InvalidArgumentError(f"set_state_dict: '{key}_0' has shape {list(found.shape)}; expected {shape}")
    return found
