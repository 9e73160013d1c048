"""paddle.metric: figures over many batches."""

import numpy

from argosy import tensor
from argosy.dynamic.tensor import Tensor, unwrap
from argosy.errors import InvalidArgumentError

__all__ = ["Metric", "Accuracy", "Precision", "Recall", "Auc", "accuracy"]


def accuracy(input, label, k=1, correct=None, total=None, name=None):
    """The fraction of the batch whose label is among the k best scores of `input`.

    >>> paddle.metric.accuracy(paddle.to_tensor([[0.1, 0.9], [0.8, 0.2]]), paddle.to_tensor([[1], [1]])).item()
    0.5
    """
    if not isinstance(input, Tensor):
        from argosy.static import accuracy as built

        return built(input, label, k, correct, total)
    best = input._torch.topk(k, -1)[1]
    hits = (best == unwrap(label).reshape(-1, 1)).any(-1)
    return Tensor(hits.float().mean())


def _array(value):
    return value.numpy() if isinstance(value, Tensor) else numpy.asarray(value)


class Metric:
    """compute() runs on tensors of a batch; update() takes its results as arrays; accumulate() is the figure so far.

    >>> class Count(paddle.metric.Metric):
    ...     def __init__(self):
    ...         self.seen = 0
    ...     def update(self, samples):
    ...         self.seen += len(samples)
    ...     def accumulate(self):
    ...         return self.seen
    >>> count = Count()
    >>> count.update([7, 8])
    >>> count.accumulate()
    2
    """

    def reset(self):
        raise NotImplementedError(f"{type(self).__name__} has no reset()")

    def update(self, *args):
        raise NotImplementedError(f"{type(self).__name__} has no update()")

    def accumulate(self):
        raise NotImplementedError(f"{type(self).__name__} has no accumulate()")

    def name(self):
        raise NotImplementedError(f"{type(self).__name__} has no name()")

    def compute(self, *args):
        return args


class Accuracy(Metric):
    """The fraction of samples whose label is among the k best, for each k of topk.

    >>> accuracy = paddle.metric.Accuracy()
    >>> accuracy.update(accuracy.compute(paddle.to_tensor([[0.1, 0.9], [0.8, 0.2]]), paddle.to_tensor([1, 1])))
    0.5
    """

    def __init__(self, topk=(1,), name=None, *args, **kwargs):
        self.topk = (topk,) if isinstance(topk, int) else tuple(topk)
        self.maxk = max(self.topk)
        base = name or "acc"
        self._name = [base] if self.maxk == 1 else [f"{base}_top{k}" for k in self.topk]
        self.reset()

    def compute(self, pred, label, *args):
        """Of each sample, which of its maxk best are right; the label holds numbers of classes, or a one for the class."""
        best = tensor.topk(pred, self.maxk)[1]
        if len(label.shape) == len(best.shape) and label.shape[-1] != 1:
            label = tensor.argmax(label, axis=-1, keepdim=True)
        elif len(label.shape) < len(best.shape):
            label = tensor.unsqueeze(label, -1)
        return tensor.cast(tensor.equal(best, tensor.cast(label, best.dtype)), "float32")

    def update(self, correct, *args):
        """The fractions of this batch."""
        correct = _array(correct)
        count = int(numpy.prod(correct.shape[:-1]))
        found = [float(correct[..., :k].sum()) for k in self.topk]
        self.total = [total + one for total, one in zip(self.total, found)]
        self.count += count
        rates = [one / count if count else 0.0 for one in found]
        return rates[0] if len(rates) == 1 else rates

    def reset(self):
        self.total, self.count = [0.0] * len(self.topk), 0

    def accumulate(self):
        rates = [total / self.count if self.count else 0.0 for total in self.total]
        return rates[0] if len(rates) == 1 else rates

    def name(self):
        return self._name


class _OfTwo(Metric):
    """Of a label that is 0 or 1, and its predicted chance: above one half is a 1."""

    def __init__(self, name, *args, **kwargs):
        self._name = name
        self.reset()

    def update(self, preds, labels):
        found, wanted = numpy.rint(_array(preds)).astype("int64").reshape(-1), _array(labels).astype("int64").reshape(-1)
        self.tp += int(((found == 1) & (wanted == 1)).sum())
        self.fp += int(((found == 1) & (wanted == 0)).sum())
        self.fn += int(((found == 0) & (wanted == 1)).sum())

    def reset(self):
        self.tp = self.fp = self.fn = 0

    def name(self):
        return self._name


class Precision(_OfTwo):
    """How many of those that were found are right; found is what has a chance above one half, and labels are 0 or 1.

    >>> precision = paddle.metric.Precision()
    >>> precision.update(np.array([0.9, 0.8, 0.1]), np.array([1, 0, 1]))
    >>> precision.accumulate()
    0.5
    """

    def __init__(self, name="precision", *args, **kwargs):
        super().__init__(name)

    def accumulate(self):
        return self.tp / (self.tp + self.fp) if self.tp + self.fp else 0.0


class Recall(_OfTwo):
    """How many of those that there are were found; found is what has a chance above one half, and labels are 0 or 1.

    >>> recall = paddle.metric.Recall()
    >>> recall.update(np.array([0.9, 0.8, 0.1, 0.9]), np.array([1, 0, 1, 0]))
    >>> recall.accumulate()
    0.5
    """

    def __init__(self, name="recall", *args, **kwargs):
        super().__init__(name)

    def accumulate(self):
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else 0.0


class Auc(Metric):
    """The area under the ROC curve, from counts in num_thresholds + 1 buckets.

    >>> auc = paddle.metric.Auc()
    >>> auc.update(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0], [1]]))
    >>> auc.accumulate()
    1.0
    """

    def __init__(self, curve="ROC", num_thresholds=4095, name="auc", *args, **kwargs):
        if curve != "ROC":
            raise InvalidArgumentError(f"Auc: curve is 'ROC'; found {curve!r}")
        self._num_thresholds, self._name = num_thresholds, name
        self.reset()

    def update(self, preds, labels):
        """preds: [chance of 0, chance of 1] a sample."""
        chances, labels = _array(preds), _array(labels).reshape(-1)
        chances = chances[:, 1] if chances.ndim > 1 and chances.shape[1] > 1 else chances.reshape(-1)
        buckets = (chances * self._num_thresholds).astype("int64").clip(0, self._num_thresholds)
        size = self._num_thresholds + 1
        self._stat_pos += numpy.bincount(buckets[labels == 1], minlength=size)
        self._stat_neg += numpy.bincount(buckets[labels != 1], minlength=size)

    def reset(self):
        self._stat_pos = numpy.zeros(self._num_thresholds + 1)
        self._stat_neg = numpy.zeros(self._num_thresholds + 1)

    def accumulate(self):
        positive, negative = self._stat_pos[::-1].cumsum(), self._stat_neg[::-1].cumsum()
        if not positive[-1] or not negative[-1]:
            return 0.0
        below = numpy.concatenate([[0.0], positive])
        area = (numpy.diff(numpy.concatenate([[0.0], negative])) * (below[1:] + below[:-1]) / 2).sum()
        return float(area / positive[-1] / negative[-1])

    def name(self):
        return self._name
