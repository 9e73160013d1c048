"""fluid.metrics: values as in PaddlePaddle 1.8.5, and exact whatever the number of threads."""

import threading

import numpy as np
import pytest

from paddle.fluid import metrics


@pytest.fixture
def samples():
    """Predictions and labels of 50 samples; the numbers below are PaddlePaddle 1.8.5's for them."""
    draw = np.random.RandomState(0)
    return draw.rand(50, 1).astype("float32"), draw.randint(0, 2, (50, 1)).astype("int64")


def one(metric, *batch):
    metric.update(*batch)
    return metric.eval()


def test_values_are_paddles(samples):
    predictions, labels = samples
    both = np.concatenate([1 - predictions, predictions], 1)
    assert one(metrics.Precision(), predictions, labels) == pytest.approx(0.4666666666666667, abs=1e-12)
    assert one(metrics.Recall(), predictions, labels) == pytest.approx(0.5384615384615384, abs=1e-12)
    assert one(metrics.Auc("auc"), both, labels) == pytest.approx(0.4983974358974359, abs=1e-12)
    assert one(metrics.Auc("auc"), predictions[:, 0], labels[:, 0]) == pytest.approx(0.4983974358974359, abs=1e-12)
    assert one(metrics.Auc("auc", num_thresholds=10), both, labels) == pytest.approx(0.4951923076923077, abs=1e-12)


def test_a_prediction_is_positive_when_it_rounds_to_one():
    predictions, labels = np.array([[0.5], [0.6], [1.4], [1.5], [2.0]]), np.array([[1], [1], [0], [1], [0]])
    assert one(metrics.Precision(), predictions, labels) == 0.5
    assert one(metrics.Recall(), predictions, labels) == pytest.approx(1 / 3)


def test_before_any_update():
    assert metrics.Precision().eval() == metrics.Recall().eval() == metrics.Auc("auc").eval() == 0.0
    with pytest.raises(ValueError, match="before the first update"):
        metrics.Accuracy().eval()


def test_auc_of_one_class_is_zero(samples):
    assert one(metrics.Auc("auc"), samples[0], np.ones_like(samples[1])) == 0.0


@pytest.mark.parametrize("wrong", [-0.5, 1.5, float("nan")])
def test_auc_refuses_what_is_no_probability(wrong):
    auc = metrics.Auc("auc")
    with pytest.raises(ValueError, match="AUC: prediction 1 is .*expected a probability"):
        auc.update(np.array([0.5, wrong]), np.array([0, 1]))
    assert one(auc, np.array([0.1, 0.9]), np.array([0, 1])) == 1.0, "nothing of the bad batch counts"


@pytest.mark.parametrize("options, message", [(dict(curve="PR"), "curve is 'PR'"), (dict(num_thresholds=0), "num_thresholds is 0")])
def test_auc_refuses_what_it_does_not_do(options, message):
    with pytest.raises(ValueError, match=message):
        metrics.Auc("auc", **options)


def test_accuracy_weighs_batches():
    accuracy = metrics.Accuracy()
    accuracy.update(value=0.5, weight=10)
    accuracy.update(value=np.array([1.0], "float32"), weight=np.array([30]))
    assert accuracy.eval() == 0.875
    accuracy.reset()
    assert one(accuracy, 0.25, 1) == 0.25


@pytest.mark.parametrize(
    "value, weight, message", [(0.5, -1, "weight is -1"), ("x", 1, "value is 'x'"), (0.5, "a", "weight is 'a'"), (np.ones(2), 1, "expected one number")]
)
def test_accuracy_refuses(value, weight, message):
    with pytest.raises(ValueError, match=message):
        metrics.Accuracy().update(value, weight)


def test_errors_of_regression():
    predictions, labels = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 4.0, 3.0, 0.0])
    assert one(metrics.MAE(), predictions, labels) == 1.5
    assert one(metrics.RMSE(), predictions, labels) == pytest.approx(5**0.5)


@pytest.mark.parametrize("kind", [metrics.Precision, metrics.Recall, metrics.MAE, metrics.RMSE, metrics.Auc])
def test_sizes_must_agree(kind):
    with pytest.raises(ValueError, match="3 predictions but 2 labels"):
        kind().update(np.zeros(3), np.zeros(2))


def test_a_composite_asks_all_and_takes_only_metrics(samples):
    both = metrics.CompositeMetric()
    both.add_metric(metrics.Precision())
    both.add_metric(metrics.Recall())
    assert one(both, *samples) == pytest.approx([0.4666666666666667, 0.5384615384615384])
    both.reset()
    assert both.eval() == [0.0, 0.0]
    with pytest.raises(ValueError, match="found int"):
        both.add_metric(3)


def test_names_and_states(samples):
    assert str(metrics.Precision()) == "Precision" and str(metrics.Precision(name="p")) == "p"
    precision = metrics.Precision()
    precision.update(*samples)
    assert precision.get_config() == {"name": "Precision", "states": {"tp": 14, "fp": 16}}
    accuracy = metrics.Accuracy()
    accuracy.update(0.5, 10)
    assert accuracy.get_config() == {"name": "Accuracy", "states": {"value": 5.0, "weight": 10.0}}


def test_a_metric_of_ones_own():
    class Longest(metrics.MetricBase):
        def __init__(self):
            super().__init__("longest")
            self.length, self.share, self.text, self.counts = 3, 1.5, "abc", np.ones(2)
            self._hidden = 4

    mine = Longest()
    assert mine.get_config()["states"].keys() == {"length", "share", "text", "counts"}
    mine.reset()
    assert (mine.length, mine.share, mine.text, mine.counts.tolist(), mine._hidden) == (0, 0.0, None, [0.0, 0.0], 4)
    with pytest.raises(NotImplementedError, match="Longest does not define eval"):
        mine.eval()
    with pytest.raises(NotImplementedError, match="Longest does not define update"):
        mine.update(1, 2)


@pytest.mark.parametrize("make", [metrics.Precision, metrics.Recall, metrics.Auc, metrics.MAE, metrics.RMSE])
def test_every_sample_counts_once_from_several_threads(make):
    seed = np.random.SeedSequence().entropy
    draw = np.random.default_rng(seed)
    predictions, labels = draw.random(40000).astype("float32"), draw.integers(0, 2, 40000)
    shared, alone = make(), make()
    alone.update(predictions, labels)

    def body(part):
        for batch in range(part, 400, 4):
            shared.update(predictions[batch * 100 : batch * 100 + 100], labels[batch * 100 : batch * 100 + 100])

    threads = [threading.Thread(target=body, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tolerance = 0 if make in (metrics.Precision, metrics.Recall, metrics.Auc) else 1e-12
    assert shared.eval() == pytest.approx(alone.eval(), rel=tolerance, abs=0), f"seed {seed}"


def test_accuracy_from_several_threads_loses_no_batch():
    accuracy = metrics.Accuracy()

    def body():
        for _ in range(5000):
            accuracy.update(0.5, 1)

    threads = [threading.Thread(target=body) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert accuracy.get_config()["states"] == {"value": 10000.0, "weight": 20000.0}
