"""Metrics over many batches. Each may be updated from several threads at once; every sample counts once."""

import copy

import numpy as np

from argosy import _core

__all__ = ["MetricBase", "CompositeMetric", "Accuracy", "Auc", "MAE", "Precision", "Recall", "RMSE"]


class MetricBase:
    """A metric: update() with a batch, eval() for the value so far, reset() to start again.

    One of your own derives from this and keeps its state in attributes whose names do not begin with an underscore.

    >>> class Count(fluid.metrics.MetricBase):
    ...     def __init__(self):
    ...         super().__init__("count")
    ...         self.seen = 0
    ...     def update(self, preds, labels):
    ...         self.seen += len(labels)
    >>> count = Count()
    >>> count.update([0.5, 0.1], [1, 0])
    >>> count.get_config()
    {'name': 'count', 'states': {'seen': 2}}
    """

    def __init__(self, name=None):
        self._name = name if name is not None else type(self).__name__

    def __str__(self):
        return self._name

    def _states(self):
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def reset(self):
        """Numbers and arrays become 0, everything else None."""
        for name, value in self._states().items():
            if isinstance(value, (int, float)):
                setattr(self, name, type(value)())
            elif isinstance(value, (np.ndarray, np.generic)):
                setattr(self, name, np.zeros_like(value))
            else:
                setattr(self, name, None)

    def get_config(self):
        """The name, and the state so far."""
        return {"name": self._name, "states": copy.deepcopy(self._states())}

    def update(self, preds, labels):
        raise NotImplementedError("%s does not define update(preds, labels)" % type(self).__name__)

    def eval(self):
        raise NotImplementedError("%s does not define eval()" % type(self).__name__)


class _CoreMetric(MetricBase):
    """A metric that the core counts."""

    def __init__(self, name, metric):
        super().__init__(name)
        self._metric = metric

    def update(self, preds, labels):
        self._metric.update(preds, labels)

    def eval(self):
        return self._metric.value()

    def reset(self):
        self._metric.reset()


class CompositeMetric(MetricBase):
    """Several metrics of the same predictions and labels.

    >>> both = fluid.metrics.CompositeMetric()
    >>> both.add_metric(fluid.metrics.Precision())
    >>> both.add_metric(fluid.metrics.Recall())
    >>> both.update(np.array([[0.9], [0.8]]), np.array([[1], [0]]))
    >>> both.eval()
    [0.5, 1.0]
    """

    def __init__(self, name=None):
        super().__init__(name)
        self._metrics = []

    def add_metric(self, metric):
        if not isinstance(metric, MetricBase):
            raise ValueError("add_metric takes a metric of fluid.metrics; found %s" % type(metric).__name__)
        self._metrics.append(metric)

    def update(self, preds, labels):
        for metric in self._metrics:
            metric.update(preds, labels)

    def eval(self):
        return [metric.eval() for metric in self._metrics]

    def reset(self):
        for metric in self._metrics:
            metric.reset()


class Precision(_CoreMetric):
    """Of the samples that are called positive (prediction rounded to 1), how many are.

    >>> precision = fluid.metrics.Precision()
    >>> precision.update(np.array([[0.9], [0.8]]), np.array([[1], [0]]))
    >>> precision.eval()
    0.5
    """

    def __init__(self, name=None):
        super().__init__(name, _core.PrecisionMetric())

    def _states(self):
        return {"tp": self._metric.true_positives(), "fp": self._metric.false_positives()}


class Recall(_CoreMetric):
    """Of the positive samples, how many are called positive.

    >>> recall = fluid.metrics.Recall()
    >>> recall.update(np.array([[0.9], [0.1]]), np.array([[1], [1]]))
    >>> recall.eval()
    0.5
    """

    def __init__(self, name=None):
        super().__init__(name, _core.RecallMetric())

    def _states(self):
        return {"tp": self._metric.true_positives(), "fn": self._metric.false_negatives()}


def _number(value, what):
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in "fiub":
        raise ValueError("Accuracy.update: %s is %r, expected one number" % (what, value))
    return float(array.reshape(-1)[0])


class Accuracy(_CoreMetric):
    """The mean of batch accuracies, each weighted by its batch's size.

    >>> accuracy = fluid.metrics.Accuracy()
    >>> accuracy.update(0.5, weight=2)
    >>> accuracy.update(1.0, weight=6)
    >>> accuracy.eval()
    0.875
    """

    def __init__(self, name=None):
        super().__init__(name, _core.MeanMetric())

    def update(self, value, weight):
        value, weight = _number(value, "value"), _number(weight, "weight")
        if weight < 0:
            raise ValueError("Accuracy.update: weight is %g, expected 0 or more" % weight)
        self._metric.update(value, weight)

    def eval(self):
        if self._metric.weight() == 0:
            raise ValueError("Accuracy.eval() before the first update()")
        return self._metric.value()

    def _states(self):
        return {"value": self._metric.value() * self._metric.weight(), "weight": self._metric.weight()}


class Auc(_CoreMetric):
    """The area under the ROC curve; 0 until both classes have been seen.

    Predictions are [n, 2] probabilities, of which the second column counts, or one probability for each sample.

    >>> auc = fluid.metrics.Auc()
    >>> auc.update(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0], [1]]))
    >>> auc.eval()
    1.0
    """

    def __init__(self, name=None, curve="ROC", num_thresholds=4095):
        if curve != "ROC":
            raise ValueError("Auc: curve is %r; only 'ROC' is there" % (curve,))
        if num_thresholds < 1:
            raise ValueError("Auc: num_thresholds is %r, expected 1 or more" % (num_thresholds,))
        super().__init__(name, _core.AucMetric(num_thresholds))

    def update(self, preds, labels):
        preds = np.asarray(preds)
        self._metric.update(preds[:, -1] if preds.ndim == 2 else preds, labels)

    def _states(self):
        return {}


class MAE(_CoreMetric):
    """Mean absolute error.

    >>> error = fluid.metrics.MAE()
    >>> error.update(np.array([1.0, 2.0]), np.array([2.0, 4.0]))
    >>> error.eval()
    1.5
    """

    def __init__(self, name=None):
        super().__init__(name, _core.ErrorMetric())

    def eval(self):
        return self._metric.mean_absolute()

    def _states(self):
        return {"mean_absolute": self._metric.mean_absolute(), "count": self._metric.count()}


class RMSE(_CoreMetric):
    """Root of the mean squared error.

    >>> error = fluid.metrics.RMSE()
    >>> error.update(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    >>> error.eval()
    2.0
    """

    def __init__(self, name=None):
        super().__init__(name, _core.ErrorMetric())

    def eval(self):
        return self._metric.root_mean_squared()

    def _states(self):
        return {"root_mean_squared": self._metric.root_mean_squared(), "count": self._metric.count()}
