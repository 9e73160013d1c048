"""Metrics over many batches. Each may be updated from several threads at once; every sample counts once."""
import numpy as np

from argosy import _core

__all__ = ["MetricBase", "CompositeMetric", "Accuracy", "Auc", "MAE", "Precision", "Recall", "RMSE"]


class MetricBase:
    """A metric: update() with a batch, eval() for the value so far, reset() to start again."""

    def __init__(self, name=None):
        self._name = name if name is not None else type(self).__name__

    def __str__(self):
        return self._name

    def reset(self):
        self._metric.reset()

    def get_config(self):
        return {"name": self._name}


class CompositeMetric(MetricBase):
    """Several metrics of the same predictions and labels."""

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


class Precision(MetricBase):
    """Of the samples that are called positive (prediction rounded to 1), how many are."""

    def __init__(self, name=None):
        super().__init__(name)
        self._metric = _core.PrecisionMetric()

    def update(self, preds, labels):
        self._metric.update(preds, labels)

    def eval(self):
        return self._metric.value()


class Recall(Precision):
    """Of the positive samples, how many are called positive."""

    def __init__(self, name=None):
        super().__init__(name)
        self._metric = _core.RecallMetric()


class Accuracy(MetricBase):
    """The mean of batch accuracies, each weighted by its batch's size."""

    def __init__(self, name=None):
        super().__init__(name)
        self._metric = _core.MeanMetric()

    def update(self, value, weight):
        value, weight = np.asarray(value), float(np.asarray(weight).reshape(-1)[0])
        if value.size != 1:
            raise ValueError("Accuracy.update takes one number; found an array of shape %s" % (value.shape,))
        if weight < 0:
            raise ValueError("Accuracy.update: weight is %g, expected 0 or more" % weight)
        self._metric.update(float(value.reshape(-1)[0]), weight)

    def eval(self):
        if self._metric.weight() == 0:
            raise ValueError("Accuracy.eval() before the first update()")
        return self._metric.value()


class Auc(MetricBase):
    """The area under the ROC curve. Predictions are [n, 2] probabilities, of which the second column counts, or [n]."""

    def __init__(self, name=None, curve="ROC", num_thresholds=4095):
        super().__init__(name)
        if curve != "ROC":
            raise ValueError("Auc: curve is %r; only 'ROC' is there" % (curve,))
        self._metric = _core.AucMetric(num_thresholds)

    def update(self, preds, labels):
        preds = np.asarray(preds)
        self._metric.update(preds[:, -1] if preds.ndim == 2 else preds, labels)

    def eval(self):
        return self._metric.value()


class MAE(MetricBase):
    """Mean absolute error."""

    def __init__(self, name=None):
        super().__init__(name)
        self._metric = _core.ErrorMetric()

    def update(self, preds, labels):
        self._metric.update(preds, labels)

    def eval(self):
        return self._metric.mean_absolute()


class RMSE(MAE):
    """Root of the mean squared error."""

    def eval(self):
        return self._metric.root_mean_squared()
