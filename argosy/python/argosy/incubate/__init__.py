"""What paddle.incubate has that users of ranking models meet; of the rest it says what to use."""

from argosy.fluid.averages import ModelAverage
from argosy.fluid.lookahead import LookAhead
from argosy.incubate.segments import segment_max, segment_mean, segment_min, segment_sum, softmax_mask_fuse, softmax_mask_fuse_upper_triangle

__all__ = ["LookAhead", "ModelAverage", "segment_max", "segment_mean", "segment_min", "segment_sum", "softmax_mask_fuse", "softmax_mask_fuse_upper_triangle"]
_INSTEAD = {
    "asp": "a dense model",
    "autograd": "paddle.grad",
    "autotune": "nothing: kernels are torch's",
    "distributed": "paddle.distributed and fluid.incubate.fleet",
    "graph_khop_sampler": "a reader that samples neighbours",
    "graph_reindex": "a reader that numbers the nodes of a batch",
    "graph_sample_neighbors": "a reader that samples neighbours",
    "graph_send_recv": "paddle.gather and segment_sum",
    "identity_loss": "the loss itself",
    "nn": "the layers of paddle.nn",
}


def __getattr__(name):
    if name == "optimizer":
        import importlib

        return importlib.import_module("argosy.incubate.optimizer")
    if name in _INSTEAD:
        raise AttributeError(f"paddle.incubate.{name} is not here; use {_INSTEAD[name]}")
    raise AttributeError(f"module 'paddle.incubate' has no attribute '{name}'")
