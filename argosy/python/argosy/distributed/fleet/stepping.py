"""fleet.train_steps: steps that all processes take together, and that the loss of one of them does not undo."""

import hashlib
import io
import random
from typing import Any

import numpy
import torch

from argosy import _core
from argosy.distributed import job
from argosy.distributed.fleet.collective import CollectiveOptimizer
from argosy.distributed.parallel import DataParallel
from argosy.dynamic.tensor import Tensor, unwrap, wrap
from argosy.errors import FailedPreconditionError, InvalidArgumentError
from argosy.io.loader import DataLoader
from argosy.io.samplers import DistributedBatchSampler

__all__ = ["train_steps"]


class _Place:
    """Of the next step: its pass, and its index in it; the index behind the last batch is what comes after the pass."""

    def __init__(self, sampler):
        state = sampler.state_dict()
        between = state["position"] >= len(sampler)  # a checkpoint of after_pass
        self.epoch, self.index = state["epoch"] + between, 0 if between else state["position"]

    def seed(self, seed, rank, what):
        """Random numbers do not depend on what was computed before: so a step that is taken again has the same, also in a process that was
        started again."""
        text = f"{seed} {rank} {self.epoch} {self.index} {what}"
        number = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
        torch.manual_seed(number)
        random.seed(number)
        numpy.random.seed(number % 2**32)


class _Stepped:
    """A model and its optimizer, as the core's loop asks for them (argosy/fleet/step_loop.h)."""

    def __init__(self, model, optimizer, place):
        self._model, self._optimizer, self._place = model, optimizer, place

    def keep_buffers(self):
        self._model._reducer.keep_buffers()

    def put_buffers_back(self):
        self._model._reducer.put_buffers_back()

    def share_buffers(self):
        self._model._reducer.share_buffers()

    def renew(self):
        self._model._reducer.renew()

    def _tensors(self):
        return [one._torch for _, one in (*self._model.named_parameters(), *self._model.named_buffers())]

    def lend(self):
        rate = self._optimizer._optimizer._learning_rate
        parts = {
            "place": [self._place.epoch, self._place.index],
            "model": [one.detach() for one in self._tensors()],
            "optimizer": _changed(self._optimizer.state_dict(), Tensor, unwrap),
            "rate": float(rate) if isinstance(rate, (int, float)) else None,
        }
        written = io.BytesIO()
        torch.save(parts, written)
        return written.getvalue()

    def take(self, lent):
        parts = torch.load(io.BytesIO(lent), weights_only=True)
        own = self._tensors()
        if [one.shape for one in own] != [one.shape for one in parts["model"]]:
            raise InvalidArgumentError("train_steps: the model of this process differs from that of the others; every process must build the same one")
        with torch.no_grad():
            for mine, other in zip(own, parts["model"], strict=True):
                mine.copy_(other)
        self._optimizer.set_state_dict(_changed(parts["optimizer"], torch.Tensor, wrap))
        if parts["rate"] is not None:
            self._optimizer.set_lr(parts["rate"])
        self._place.epoch, self._place.index = parts["place"]

    def move(self):
        """Local alone: every process has the same gradients."""
        self._optimizer.step()
        for one in self._model.parameters():
            one._torch.grad = None


def _changed(value, kind, change):
    """A state with `change` of everything of a kind in it."""
    if isinstance(value, kind):
        return change(value)
    if isinstance(value, dict):
        return {key: _changed(one, kind, change) for key, one in value.items()}
    return value


def _versions(value):
    """By which a change in place shows."""
    if isinstance(value, (Tensor, torch.Tensor)):
        return [unwrap(value)._version]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [version for one in parts for version in _versions(one)]


def _check(step, loader, model, optimizer, passes):
    if not callable(step):
        raise InvalidArgumentError(f"train_steps: a step is a function of a batch; found {type(step).__name__}")
    if not isinstance(model, DataParallel):
        raise InvalidArgumentError(f"train_steps takes the model that distributed_model() gave; found {type(model).__name__}")
    if not isinstance(optimizer, CollectiveOptimizer):
        raise InvalidArgumentError(f"train_steps takes the optimizer that distributed_optimizer() gave; found {type(optimizer).__name__}")
    if not isinstance(loader, DataLoader) or not isinstance(loader.batch_sampler, DistributedBatchSampler):
        raise InvalidArgumentError("train_steps takes a paddle.io.DataLoader with a DistributedBatchSampler, whose place in the data can be found again")
    if not isinstance(passes, int) or passes < 0:
        raise InvalidArgumentError(f"train_steps: passes is 0 or more; found {passes!r}")
    options: Any = optimizer._options
    for name, used in (("gradient_merge", options.merge_steps > 1), ("localsgd", options.local_steps > 0)):
        if used:
            raise InvalidArgumentError(f"train_steps does not go with {name}: every step moves the parameters by the gradients of all processes")


class _Training:
    """One call of train_steps()."""

    def __init__(self, step, loader, model, optimizer, counted, after_pass, seed):
        self._step, self._loader, self._optimizer, self._counted, self._after_pass, self._seed = step, loader, optimizer, counted, after_pass, seed
        world = job.world()
        self._rank, self._sampler, self.place = world.rank, loader.batch_sampler, _Place(loader.batch_sampler)
        self._stepped = _Stepped(model, optimizer, self.place)
        self._loop = _core.StepLoop(world, self._stepped)

    def run(self, passes):
        self._loop.begin()
        while self.place.epoch < passes:
            self._pass()
            self._loop.step(self._call_after_pass, self._next_pass)
        self._loop.finish()

    def _pass(self):
        place = self.place
        self._sampler.set_state_dict({**self._sampler.state_dict(), "epoch": place.epoch, "position": place.index})
        batches = iter(self._loader)
        while place.index < len(self._sampler):
            place.seed(self._seed, self._rank, "data")
            self._take(next(batches))

    def _take(self, batch):
        value, versions, rate = None, _versions(batch), self._optimizer.get_lr()

        def body():
            nonlocal value
            self.place.seed(self._seed, self._rank, "step")
            with self._optimizer._held():
                value = self._step(batch)
            if _versions(batch) != versions:
                raise FailedPreconditionError("train_steps: the step has changed its batch in place, and could not be taken again; copy it first")
            if self._optimizer.get_lr() != rate:
                raise FailedPreconditionError("train_steps: the step has changed the learning rate, and could not be taken again; do it in counted()")

        def commit():
            self._stepped.move()
            epoch, index = self.place.epoch, self.place.index
            self.place.index += 1
            if self._counted is not None:
                self._counted(epoch, index, value)

        self._loop.step(body, commit)

    def _call_after_pass(self):
        self.place.seed(self._seed, self._rank, "after")
        if self._after_pass is not None:
            self._after_pass(self.place.epoch)

    def _next_pass(self):
        self.place.epoch, self.place.index = self.place.epoch + 1, 0


_state = {"survived": False}


def train_steps(step, loader, model, optimizer, passes, counted, after_pass, seed):
    """See Fleet.train_steps()."""
    _check(step, loader, model, optimizer, passes)
    if _state["survived"]:
        raise FailedPreconditionError(
            "train_steps a second time with on_rank_loss=survive: a process that is started again could not tell which of them the others are in; put all "
            "passes into one call"
        )
    _state["survived"] = job.world().survives
    _Training(step, loader, model, optimizer, counted, after_pass, seed).run(passes)
