"""Programs of collective jobs: gradients are averaged between the backward pass and the updates."""

from argosy import _core
from argosy.errors import InvalidArgumentError

__all__ = ["share"]


def share(main, startup, options):
    """Makes `main`, which minimize() has completed, a program of this process's job: its gradients, or with localsgd its parameters, become the mean over
    all processes, and
    `startup` ends with rank 0's values. Waits for nobody: the processes meet when `startup` runs."""
    if options.find_unused_parameters:
        raise InvalidArgumentError("find_unused_parameters is of the dynamic graph; a program knows which parameters lead to its loss: leave it out")
    if options.adaptive:
        raise InvalidArgumentError("adaptive_localsgd is of the dynamic graph, where minimize(loss) sees the loss; use localsgd in programs")
    _core.share_gradients(
        main,
        startup,
        piece_mb=options.bucket_mb,
        half_precision=options.gradient_type == "float16",
        merge_steps=options.merge_steps,
        merge_average=options.merge_average,
        local_steps=options.local_steps,
        local_begin=options.local_begin,
        sync_batch_norm=options.sync_batch_norm,
    )
