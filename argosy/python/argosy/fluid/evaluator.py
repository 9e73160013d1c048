"""1.x's evaluators, which 1.8 itself had replaced by fluid.metrics."""

__all__ = []
_INSTEAD = {
    "ChunkEvaluator": "a class of your own on fluid.metrics.MetricBase",
    "EditDistance": "a class of your own on fluid.metrics.MetricBase",
    "DetectionMAP": "a class of your own on fluid.metrics.MetricBase",
    "Accuracy": "fluid.metrics.Accuracy",
    "Auc": "fluid.metrics.Auc",
}


def __getattr__(name):
    if name in _INSTEAD:
        raise AttributeError(f"fluid.evaluator.{name} is not here; use {_INSTEAD[name]}")
    raise AttributeError(f"module 'paddle.fluid.evaluator' has no attribute '{name}'")
