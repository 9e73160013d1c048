"""Means of parameters over the steps of a training."""

import contextlib
from typing import Any

import numpy

from argosy.dispatch import is_tensor
from argosy.errors import FailedPreconditionError, InvalidArgumentError
from argosy.fluid import framework, layers, unique_name
from argosy.fluid.executor import global_scope

__all__ = ["ExponentialMovingAverage", "ModelAverage"]


def _tensor(name):
    found = global_scope().find_var(name)
    if found is None:
        raise FailedPreconditionError(f"variable '{name}' has no value; run the startup program after the averages were made")
    return found.get_tensor()


def _value(name):
    return numpy.array(_tensor(name))


def kept(like, name, value, shape=None, dtype=None):
    """A variable of the program, beside a parameter, that keeps its value from run to run."""
    unique = unique_name.generate(f"{like}_{name}")
    made = layers.create_global_var(shape=shape or [1], value=value, dtype=dtype or "float32", persistable=True, name=unique)
    made.stop_gradient = True
    return made


def _trained():
    """The parameters of the program that are trained, and averaged."""
    found = [one for one in framework.default_main_program().all_parameters() if getattr(one, "trainable", True)]
    if not found:
        raise FailedPreconditionError(
            "the default main program has no parameters to average; build it first, or give ModelAverage parameters of the dynamic graph"
        )
    return found


class _Applied:
    """What averages share: apply() puts them in the parameters' place, and restore() takes them out again."""

    def __init__(self):
        self._before = {}

    def _averages(self):
        """[(what the parameter is known by, its average)]."""
        raise NotImplementedError

    def _read(self, parameter):
        return parameter.numpy() if is_tensor(parameter) else _value(parameter.name)

    def _write(self, parameter, value):
        if is_tensor(parameter):
            parameter.set_value(value)
        else:
            _tensor(parameter.name).set(value)

    @contextlib.contextmanager
    def apply(self, executor=None, need_restore=True):
        """A context in which parameters have their averages; need_restore=False leaves them there until restore().

        >>> with average.apply(exe):  # doctest: +SKIP
        ...     exe.run(test_program, feed=feed)
        """
        averages = self._averages()
        self._before = {one.name: (one, self._read(one)) for one, _ in averages}
        for parameter, value in averages:
            self._write(parameter, value.astype(self._before[parameter.name][1].dtype))
        try:
            yield
        finally:
            if need_restore:
                self.restore(executor)

    def restore(self, executor=None):
        """Parameters have the values again that they had before apply()."""
        for parameter, value in self._before.values():
            self._write(parameter, value)
        self._before = {}


class ExponentialMovingAverage(_Applied):
    """Means of a program's parameters in which each step counts `decay` times what the next one does. update(), once and after minimize(), adds to the
    program what keeps them; apply() is a context in which the parameters have their means.

    thres_steps: a variable with the number of steps, which makes the decay smaller at first: at most (1 + steps) / (10 + steps).

    >>> x = paddle.static.data("x", [None, 4])
    >>> loss = paddle.mean(paddle.static.nn.fc(x, 1))
    >>> operators, pairs = paddle.optimizer.SGD(0.1).minimize(loss)
    >>> average = paddle.static.ExponentialMovingAverage(0.999)
    >>> average.update()
    """

    def __init__(self, decay=0.999, thres_steps=None, name=None):
        if not 0 <= decay < 1:
            raise InvalidArgumentError(f"ExponentialMovingAverage: decay is 0 or more and less than 1; found {decay!r}")
        super().__init__()
        self._decay, self._thres_steps, self._name = decay, thres_steps, name or "ema"
        self._means = []

    def update(self):
        """Adds the operators that keep the means to the default main program."""
        if self._means:
            raise FailedPreconditionError("ExponentialMovingAverage.update() was called before; the program updates its means in each run")
        self._steps = kept(self._name, "steps", 0.0)
        self._rate = kept(self._name, "decay", self._decay)
        layers.increment(self._steps)
        if self._thres_steps is not None:
            steps = layers.cast(self._thres_steps, "float32")
            fixed = layers.fill_constant([1], "float32", self._decay)
            layers.assign(layers.elementwise_min(layers.reshape((steps + 1.0) / (steps + 10.0), [1]), fixed), output=self._rate)
        for parameter in _trained():
            mean = kept(parameter.name, self._name, 0.0, list(parameter.shape), parameter.dtype)
            layers.assign(mean * self._rate + parameter * (1.0 - self._rate), output=mean)
            self._means.append((parameter, mean))

    def _averages(self):
        if not self._means:
            raise FailedPreconditionError("ExponentialMovingAverage.apply() before update(), which adds the means to the program")
        steps, rate = float(_value(self._steps.name)[0]), float(_value(self._rate.name)[0])
        corrected = 1 - rate**steps if steps else 1.0
        return [(parameter, _value(mean.name) / corrected) for parameter, mean in self._means]


class ModelAverage(_Applied):
    """Plain means of parameters over the last steps: of at least min_average_window, of at most max_average_window, and of average_window_rate of all steps.
    In the dynamic graph step() counts a step; in a program each run does. apply() is a context in which the parameters have their means.

    >>> net = nn.Linear(2, 1)
    >>> average = paddle.incubate.ModelAverage(0.15, parameters=net.parameters(), min_average_window=2, max_average_window=10)
    >>> average.step()
    >>> with average.apply():
    ...     y = net(paddle.ones([1, 2]))
    """

    def __init__(self, average_window_rate, parameters=None, min_average_window=10000, max_average_window=10000, name=None):
        super().__init__()
        if min_average_window > max_average_window:
            raise InvalidArgumentError(f"ModelAverage: min_average_window={min_average_window} is above max_average_window={max_average_window}")
        self._window = float(average_window_rate), int(min_average_window), int(max_average_window)
        self._sums: list[Any] = []
        self._counts: Any = [0, 0, 0]
        self._programs = False
        if parameters is None:
            self._build(name or "average")
        else:
            self._sums = [[one, numpy.zeros(one.shape, "float64"), numpy.zeros(one.shape, "float64")] for one in parameters if not one.stop_gradient]

    def _build(self, name):
        """In a program: the steps since the window began, those of the window before, and the sums of both."""
        rate, least, most = self._window
        self._programs = True
        self._counts = updates, count, before = [kept(name, kind, 0.0) for kind in ("updates", "count", "before")]
        layers.increment(updates)
        layers.increment(count)
        longest = layers.elementwise_min(layers.fill_constant([1], "float32", float(most)), layers.floor(updates * rate))
        full = layers.cast(layers.greater_equal(count, layers.elementwise_max(longest, layers.fill_constant([1], "float32", float(least)))), "float32")
        for parameter in _trained():
            now, old = (kept(parameter.name, f"{name}_{kind}", 0.0, list(parameter.shape), parameter.dtype) for kind in ("sum", "old"))
            total = now + parameter
            layers.assign(total * full + old * (1.0 - full), output=old)
            layers.assign(total * (1.0 - full), output=now)
            self._sums.append([parameter, now, old])
        layers.assign(count * full + before * (1.0 - full), output=before)
        layers.assign(count * (1.0 - full), output=count)

    def step(self):
        """Adds the parameters as they are now."""
        if self._programs:
            raise FailedPreconditionError("ModelAverage.step() is of the dynamic graph; each run of the program is a step")
        rate, least, most = self._window
        updates, count, before = self._counts[0] + 1, self._counts[1] + 1, self._counts[2]
        for member in self._sums:
            member[1] = member[1] + member[0].numpy()
        if count >= least and count >= min(most, int(updates * rate)):
            for member in self._sums:
                member[1], member[2] = numpy.zeros_like(member[1]), member[1]
            count, before = 0, count
        self._counts = [updates, count, before]

    def clear_grad(self):
        """Gradients of the parameters become 0."""
        for parameter, _, _ in self._sums:
            parameter.clear_grad()

    def minimize(self, loss, startup_program=None, parameters=None, no_grad_set=None):
        """step(), in the dynamic graph."""
        self.step()

    def _averages(self):
        sums, counts = self._sums, self._counts
        if self._programs:
            sums = [(parameter, _value(now.name), _value(old.name)) for parameter, now, old in sums]
            counts = [float(_value(one.name)[0]) for one in counts]
        steps = counts[1] + counts[2]
        return [(parameter, (now + old) / steps) for parameter, now, old in sums] if steps else []
