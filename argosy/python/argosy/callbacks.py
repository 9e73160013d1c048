"""paddle.callbacks: what happens around the epochs and steps of paddle.Model."""

import os
from typing import Any

import numpy

from argosy.distributed.environment import get_rank
from argosy.hapi.progress import ProgressBar
from argosy.optimizer.lr import LRScheduler as _Scheduler
from argosy.optimizer.lr import ReduceOnPlateau as _Plateau

__all__ = ["Callback", "ProgBarLogger", "ModelCheckpoint", "LRScheduler", "EarlyStopping", "ReduceLROnPlateau"]


class Callback:
    """Each method is called at its time; logs has the loss, the metrics, batch_size and the like.

    >>> class Losses(paddle.callbacks.Callback):
    ...     def on_epoch_end(self, epoch, logs=None):
    ...         print(epoch, sorted(logs))
    >>> model = paddle.Model(nn.Linear(2, 1))
    >>> model.prepare(paddle.optimizer.SGD(0.1, parameters=model.parameters()), nn.MSELoss())
    >>> model.fit(paddle.io.TensorDataset([paddle.ones([4, 2]), paddle.ones([4, 1])]), batch_size=4, epochs=1, verbose=0, callbacks=[Losses()])
    0 ['batch_size', 'loss']
    """

    model: Any = None
    params: dict[str, Any] = {}

    def set_params(self, params):
        self.params = params

    def set_model(self, model):
        self.model = model

    def on_epoch_begin(self, epoch, logs=None):
        pass

    def on_epoch_end(self, epoch, logs=None):
        pass


def _nothing(self, *args, **kwargs):
    pass


for _phase in ("train", "eval", "predict"):
    for _moment in ("begin", "end", "batch_begin", "batch_end"):
        setattr(Callback, f"on_{_phase}_{_moment}", _nothing)


class ProgBarLogger(Callback):
    """Prints how far paddle.Model has got, every log_freq steps; verbose 0 prints nothing, 2 a line for each step.

    >>> paddle.callbacks.ProgBarLogger(log_freq=10).log_freq
    10
    """

    def __init__(self, log_freq=1, verbose=2):
        self.log_freq, self.verbose = log_freq, verbose

    def on_train_begin(self, logs=None):
        if self.verbose:
            print("The loss value printed in the log is the current step, and the metric is the average value of previous steps.")

    def on_epoch_begin(self, epoch, logs=None):
        if self.verbose:
            print(f"Epoch {epoch + 1}/{self.params['epochs']}")
        self._bar = ProgressBar(self.params.get("steps"), self.verbose)

    def _show(self, step, logs, bar, total):
        if self.verbose and ((step + 1) % self.log_freq == 0 or step + 1 == total):
            names = self.params.get("metrics", [])
            bar.update(step + 1, [(name, logs[name]) for name in names if name in logs])

    def on_train_batch_end(self, step, logs=None):
        self._show(step, logs or {}, self._bar, self.params.get("steps"))

    def on_eval_begin(self, logs=None):
        self._eval_steps = (logs or {}).get("steps")
        if self.verbose:
            print("Eval begin...")
        self._eval_bar = ProgressBar(self._eval_steps, self.verbose)

    def on_eval_batch_end(self, step, logs=None):
        self._show(step, logs or {}, self._eval_bar, self._eval_steps)

    def on_eval_end(self, logs=None):
        if self.verbose:
            print(f"Eval samples: {(logs or {}).get('samples', 0)}")

    def on_predict_begin(self, logs=None):
        self._predict_steps = (logs or {}).get("steps")
        if self.verbose:
            print("Predict begin...")
        self._predict_bar = ProgressBar(self._predict_steps, self.verbose)

    def on_predict_batch_end(self, step, logs=None):
        self._show(step, {}, self._predict_bar, self._predict_steps)

    def on_predict_end(self, logs=None):
        if self.verbose:
            print(f"Predict samples: {(logs or {}).get('samples', 0)}")


class ModelCheckpoint(Callback):
    """Saves every save_freq epochs to save_dir/<epoch>, and save_dir/final at the end; of several processes the first does.

    >>> checkpoint = paddle.callbacks.ModelCheckpoint(save_freq=5, save_dir="checkpoints")
    >>> checkpoint.save_dir
    'checkpoints'
    """

    def __init__(self, save_freq=1, save_dir=None):
        self.save_freq, self.save_dir = save_freq, save_dir if get_rank() == 0 else None

    def on_epoch_end(self, epoch, logs=None):
        if self.save_dir and epoch % self.save_freq == 0:
            self.model.save(os.path.join(self.save_dir, str(epoch)))

    def on_train_end(self, logs=None):
        if self.save_dir:
            self.model.save(os.path.join(self.save_dir, "final"))


class LRScheduler(Callback):
    """Moves the scheduler of the optimizer on, once for each step or once for each epoch.

    >>> paddle.callbacks.LRScheduler(by_step=False, by_epoch=True).by_epoch
    True
    """

    def __init__(self, by_step=True, by_epoch=False):
        if by_step and by_epoch:
            raise ValueError("LRScheduler: by_step or by_epoch, not both")
        self.by_step, self.by_epoch = by_step, by_epoch

    def _move(self):
        rate = getattr(self.model._optimizer, "_learning_rate", None)
        if isinstance(rate, _Scheduler) and not isinstance(rate, _Plateau):
            rate.step()

    def on_train_batch_end(self, step, logs=None):
        if self.by_step:
            self._move()

    def on_epoch_end(self, epoch, logs=None):
        if self.by_epoch:
            self._move()


class _Watching(Callback):
    """Looks at a figure of every evaluation."""

    def __init__(self, monitor, mode, min_delta, verbose):
        rising = mode == "max" or (mode == "auto" and "acc" in monitor)
        self.monitor, self.min_delta, self.verbose = monitor, abs(min_delta), verbose
        self._better = (lambda new, old: new > old + self.min_delta) if rising else (lambda new, old: new < old - self.min_delta)
        self.best_value, self._worse = (-numpy.inf if rising else numpy.inf), 0

    def _is_better(self, logs):
        """Whether it is; None where the evaluation does not have the figure."""
        found = (logs or {}).get(self.monitor)
        if found is None:
            return None
        value = float(numpy.ravel(found)[0])
        if self._better(value, self.best_value):
            self.best_value, self._worse = value, 0
            return True
        self._worse += 1
        return False


class EarlyStopping(_Watching):
    """Ends the training once `monitor` has not got better for more than `patience` evaluations; the best state goes to save_dir/best_model.

    >>> stop = paddle.callbacks.EarlyStopping("loss", patience=3)
    >>> stop.patience
    3
    """

    def __init__(self, monitor="loss", mode="auto", patience=0, verbose=1, min_delta=0, baseline=None, save_best_model=True):
        super().__init__(monitor, mode, min_delta, verbose)
        self.patience, self.save_best_model, self.save_dir = patience, save_best_model, None
        if baseline is not None:
            self.best_value = baseline

    def on_eval_end(self, logs=None):
        better = self._is_better(logs)
        save_dir = self.params.get("save_dir")
        if better and self.save_best_model and save_dir:
            self.model.save(os.path.join(save_dir, "best_model"))
        if better is False and self._worse > self.patience:
            self.model.stop_training = True
            if self.verbose:
                print(f"Early stopping: {self.monitor} was best at {self.best_value:.4f}")


class ReduceLROnPlateau(_Watching):
    """The rate times `factor` once `monitor` has not got better for `patience` evaluations.

    >>> lower = paddle.callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=2)
    >>> lower.factor
    0.5
    """

    def __init__(self, monitor="loss", factor=0.1, patience=10, verbose=1, mode="auto", min_delta=1e-4, cooldown=0, min_lr=0):
        super().__init__(monitor, mode, min_delta, verbose)
        self.factor, self.patience, self.cooldown, self.min_lr, self._cooling = factor, patience, cooldown, min_lr, 0

    def on_eval_end(self, logs=None):
        if self._cooling:
            self._cooling, self._worse = self._cooling - 1, 0
        if self._is_better(logs) is False and self._worse >= self.patience:
            optimizer = self.model._optimizer
            optimizer.set_lr(max(optimizer.get_lr() * self.factor, self.min_lr))
            self._cooling, self._worse = self.cooldown, 0
            if self.verbose:
                print(f"{self.monitor} has stopped getting better: learning rate {optimizer.get_lr()}")
