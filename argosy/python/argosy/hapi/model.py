"""Model: a network with what trains it."""

import contextlib
import os
import warnings
from typing import Any

import numpy

from argosy import amp
from argosy import callbacks as callback_kinds
from argosy.distributed import job
from argosy.dynamic.creation import to_tensor
from argosy.dynamic.gradients import no_grad
from argosy.dynamic.tensor import Tensor
from argosy.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from argosy.framework.io import load, save
from argosy.hapi.summaries import summary
from argosy.io.datasets import Dataset
from argosy.io.loader import DataLoader
from argosy.io.samplers import DistributedBatchSampler
from argosy.metric import Metric

__all__ = ["Model"]


def _listed(value):
    return [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]


def _tensors(values):
    return [value if isinstance(value, Tensor) else to_tensor(value) for value in _listed(values)]


def _in_step(network):
    from argosy.distributed.groups import init_parallel_env
    from argosy.distributed.parallel import DataParallel

    if isinstance(network, DataParallel):
        return network
    init_parallel_env()
    return DataParallel(network)


class Model:
    """fit(), evaluate() and predict() over a network. In a job of several processes each trains on its part of the data, with averaged gradients;
    losses and metrics are of its own part, and rank 0 writes what callbacks save. Confined to one thread.

    >>> model = paddle.Model(nn.Linear(2, 1))
    >>> model.prepare(paddle.optimizer.SGD(0.1, parameters=model.parameters()), nn.MSELoss())
    >>> data = paddle.io.TensorDataset([paddle.ones([4, 2]), paddle.ones([4, 1])])
    >>> model.fit(data, epochs=1, batch_size=2, verbose=0)
    >>> model.predict_batch([paddle.ones([3, 2])])[0].shape
    (3, 1)
    """

    def __init__(self, network, inputs=None, labels=None):
        self.network, self.mode, self.stop_training = network, "train", False
        self._inputs, self._labels = _listed(inputs), _listed(labels)
        self._optimizer = self._loss = self._scaler = None
        self._metrics: list[Any] = []
        self._amp: dict[str, Any] = {}
        self._parallel = None  # the network in step with other processes

    def prepare(self, optimizer=None, loss=None, metrics=None, amp_configs=None):
        """What training needs: an optimizer, a loss of (outputs, labels), and metrics to watch."""
        self._optimizer, self._loss, self._metrics = optimizer, loss, _listed(metrics)
        if loss is not None and not callable(loss):
            raise InvalidArgumentError(f"prepare: loss is a layer or a function; found {type(loss).__name__}")
        wrong = [type(one).__name__ for one in self._metrics if not isinstance(one, Metric)]
        if wrong:
            raise InvalidArgumentError(f"prepare: metrics are of paddle.metric; found {', '.join(wrong)}")
        if optimizer is not None and self._parallel is None and job.place().world_size > 1:
            self._parallel = _in_step(self.network)
        self._amp = {"level": amp_configs} if isinstance(amp_configs, str) else dict(amp_configs or {})
        if self._amp:
            scaling = self._amp.pop("init_loss_scaling", None)
            self._scaler = amp.GradScaler(**({} if scaling is None else {"init_loss_scaling": scaling}))  # pyright: ignore[reportArgumentType]

    def parameters(self, *args, **kwargs):
        return self.network.parameters(*args, **kwargs)

    # One batch.
    def _forward(self, inputs):
        with amp.auto_cast(**self._amp) if self._amp else contextlib.nullcontext():  # pyright: ignore[reportArgumentType]
            return _listed((self._parallel or self.network)(*_tensors(inputs)))

    def _losses(self, outputs, labels):
        return _listed(self._loss(*outputs, *labels)) if self._loss is not None else []

    def _measured(self, outputs, labels):
        found = []
        for metric in self._metrics:
            computed = metric.compute(*outputs, *labels)
            found.append(metric.update(*(one.numpy() if isinstance(one, Tensor) else one for one in _listed(computed))))
        return found

    def train_batch(self, inputs, labels=None, update=True):
        """Losses of the batch, and the metrics where there are any. update=False only adds to the gradients."""
        if self._optimizer is None or self._loss is None:
            raise FailedPreconditionError("train_batch and fit need prepare(optimizer, loss) first")
        (self._parallel or self.network).train()
        labels = _tensors(labels)
        with contextlib.nullcontext() if update or self._parallel is None else self._parallel.no_sync():
            outputs = self._forward(inputs)
            losses = self._losses(outputs, labels)
            total = sum(losses[1:], losses[0])
            (self._scaler.scale(total) if self._scaler else total).backward()
        if update:
            self._scaler.minimize(self._optimizer, total) if self._scaler else self._optimizer.step()
            self._optimizer.clear_grad()
        return self._answer(losses, self._measured(outputs, labels))

    def eval_batch(self, inputs, labels=None):
        (self._parallel or self.network).eval()
        labels = _tensors(labels)
        with no_grad():
            outputs = self._forward(inputs)
            return self._answer(self._losses(outputs, labels), self._measured(outputs, labels))

    def predict_batch(self, inputs):
        (self._parallel or self.network).eval()
        with no_grad():
            return [output.numpy() for output in self._forward(inputs)]

    def _answer(self, losses, metrics):
        values = [loss.numpy() for loss in losses]
        return (values, metrics) if self._metrics and losses else metrics if self._metrics else values

    # Loops.
    @staticmethod
    def _loader(data, batch_size, shuffle, drop_last, num_workers):
        if data is None or not isinstance(data, Dataset):
            return data
        if job.place().world_size > 1:
            return DataLoader(data, batch_sampler=DistributedBatchSampler(data, batch_size, shuffle=shuffle, drop_last=drop_last), num_workers=num_workers)
        return DataLoader(data, batch_size=batch_size, shuffle=shuffle, drop_last=drop_last, num_workers=num_workers)

    def _split(self, batch):
        """(inputs, labels) of a batch: by what the model was told of, or all but the last."""
        batch = _listed(batch)
        count = len(self._inputs) or (len(batch) - 1 if (len(batch) > 1 and self._loss is not None) or self._labels else len(batch))
        return batch[:count], batch[count:]

    def _names(self):
        return ["loss", *(name for metric in self._metrics for name in _listed(metric.name()))]

    def _logs(self, answer):
        losses = answer[0] if isinstance(answer, tuple) else [] if self._metrics else answer
        logs = {"loss": [float(numpy.ravel(one)[0]) for one in losses]} if losses else {}
        for metric in self._metrics:
            logs.update(zip(_listed(metric.name()), _listed(metric.accumulate())))
        return logs

    def _callbacks(self, given, log_freq, verbose, steps, **params):
        chosen = _listed(given)
        if not any(isinstance(one, callback_kinds.ProgBarLogger) for one in chosen):
            chosen.insert(0, callback_kinds.ProgBarLogger(log_freq, verbose))
        if params.get("epochs") and not any(isinstance(one, callback_kinds.LRScheduler) for one in chosen):
            chosen.append(callback_kinds.LRScheduler())
        if params.get("save_dir"):
            chosen.append(callback_kinds.ModelCheckpoint(params.get("save_freq", 1), params["save_dir"]))
        for one in chosen:
            one.set_params({"steps": steps, "verbose": verbose, "metrics": self._names(), **params})
            one.set_model(self)
        return lambda name, *args: [getattr(one, name)(*args) for one in chosen]

    @staticmethod
    def _length(loader):
        try:
            return len(loader)
        except (TypeError, RuntimeError):
            return None

    def fit(
        self,
        train_data=None,
        eval_data=None,
        batch_size=1,
        epochs=1,
        eval_freq=1,
        log_freq=10,
        save_dir=None,
        save_freq=1,
        verbose=2,
        drop_last=False,
        shuffle=True,
        num_workers=0,
        callbacks=None,
        accumulate_grad_batches=1,
        num_iters=None,
    ):
        """Trains; evaluates every eval_freq epochs where there is data for it."""
        loader = self._loader(train_data, batch_size, shuffle, drop_last, num_workers)
        checked = self._loader(eval_data, batch_size, False, False, num_workers)
        steps = self._length(loader)
        call = self._callbacks(
            callbacks,
            log_freq,
            verbose,
            steps if num_iters is None else min(num_iters, steps or num_iters),
            epochs=epochs,
            save_dir=save_dir,
            save_freq=save_freq,
        )
        self.stop_training, left = False, num_iters
        call("on_train_begin", {})
        for epoch in range(epochs):
            call("on_epoch_begin", epoch, {})
            logs, done = self._train_epoch(loader, call, accumulate_grad_batches, left, steps)
            left = None if left is None else left - done
            call("on_epoch_end", epoch, logs)
            if checked is not None and epoch % eval_freq == 0:
                self._evaluate(checked, call, None)
            if self.stop_training or left == 0:
                break
        call("on_train_end", {})

    def _train_epoch(self, loader, call, accumulate, limit, steps):
        for metric in self._metrics:
            metric.reset()
        logs, step = {}, -1
        for step, batch in enumerate(loader):  # pyright: ignore[reportArgumentType]
            inputs, labels = self._split(batch)
            call("on_train_batch_begin", step, logs)
            update = (step + 1) % accumulate == 0 or step + 1 in (steps, limit)
            logs = {**self._logs(self.train_batch(inputs, labels, update)), "batch_size": len(inputs[0])}
            call("on_train_batch_end", step, logs)
            if limit is not None and step + 1 >= limit:
                break
        return logs, step + 1

    def _evaluate(self, loader, call, limit):
        for metric in self._metrics:
            metric.reset()
        samples, logs = 0, {}
        call("on_eval_begin", {"steps": self._length(loader), "metrics": self._names()})
        for step, batch in enumerate(loader):  # pyright: ignore[reportArgumentType]
            inputs, labels = self._split(batch)
            call("on_eval_batch_begin", step, logs)
            logs = self._logs(self.eval_batch(inputs, labels))
            samples += len(inputs[0])
            call("on_eval_batch_end", step, logs)
            if limit is not None and step + 1 >= limit:
                break
        call("on_eval_end", {**logs, "samples": samples})
        return logs

    def evaluate(self, eval_data, batch_size=1, log_freq=10, verbose=2, num_workers=0, callbacks=None, num_iters=None):
        """{'loss': [of the last batch], metric: of all batches}."""
        loader = self._loader(eval_data, batch_size, False, False, num_workers)
        return self._evaluate(loader, self._callbacks(callbacks, log_freq, verbose, self._length(loader)), num_iters)

    def predict(self, test_data, batch_size=1, num_workers=0, stack_outputs=False, verbose=1, callbacks=None):
        """For each output a list of arrays, one per batch, or with stack_outputs one array."""
        loader = self._loader(test_data, batch_size, False, False, num_workers)
        call = self._callbacks(callbacks, 1, verbose, self._length(loader))
        found, samples = [], 0
        call("on_predict_begin", {"steps": self._length(loader)})
        for step, batch in enumerate(loader):  # pyright: ignore[reportArgumentType]
            call("on_predict_batch_begin", step, {})
            inputs = _listed(batch)[: len(self._inputs)] if self._inputs else self._split(batch)[0]
            found.append(self.predict_batch(inputs))
            samples += len(inputs[0])
            call("on_predict_batch_end", step, {})
        call("on_predict_end", {"samples": samples})
        outputs = [list(one) for one in zip(*found)]
        return [numpy.concatenate(one) for one in outputs] if stack_outputs else outputs

    # Files.
    def save(self, path, training=True):
        """path.pdparams and path.pdopt; training=False writes what jit.load opens, for the inputs that the model was told of."""
        if not os.path.basename(path):
            raise InvalidArgumentError(f"Model.save: the path ends in the first part of a file name; found {path!r}")
        if not training:
            from argosy import jit

            jit.save(self.network, path, self._inputs)
            return
        save(self.network.state_dict(), path + ".pdparams")
        if self._optimizer is not None:
            save(self._optimizer.state_dict(), path + ".pdopt")

    def load(self, path, skip_mismatch=False, reset_optimizer=False):
        """What save() wrote. Shapes that do not fit are an error, unless skip_mismatch leaves those parameters as they are."""
        stem = path.removesuffix(".pdparams")
        state = load(stem + ".pdparams")
        wrong = [name for name, part in self.network.state_dict().items() if name not in state or state[name].shape != part.shape]
        if wrong and not skip_mismatch:
            raise InvalidArgumentError(f"Model.load: {stem}.pdparams does not fit {', '.join(wrong[:5])}; skip_mismatch=True leaves them as they are")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.network.set_state_dict({name: value for name, value in state.items() if name not in wrong})
        if self._optimizer is not None and not reset_optimizer:
            if not os.path.isfile(stem + ".pdopt"):
                raise NotFoundError(f"Model.load: {stem}.pdopt: no such file; reset_optimizer=True starts the optimizer anew")
            self._optimizer.set_state_dict(load(stem + ".pdopt"))

    def summary(self, input_size=None, dtype=None):
        """paddle.summary of the network."""
        if input_size is None and not self._inputs:
            raise InvalidArgumentError("summary: give input_size, or Model(network, inputs=[InputSpec(…)])")
        return summary(self.network, [tuple(spec.shape) for spec in self._inputs] if input_size is None else input_size, dtype)
