"""Programs of collective jobs: gradients are averaged between the backward pass and the updates."""

from argosy import _core
from argosy.errors import InvalidArgumentError

__all__ = ["share"]


def share(main, startup, options):
    """Makes `main`, which minimize() has completed, a program of this process's job: its gradients become the mean over all processes, and
    `startup` ends with rank 0's values. Waits for nobody: the processes meet when `startup` runs."""
    for name, given in (
        ("localsgd", options.local_steps > 0),
        ("gradient_merge", options.merge_steps > 1),
        ("sync_batch_norm", options.sync_batch_norm),
        ("find_unused_parameters", options.find_unused_parameters),
    ):
        if given:
            raise InvalidArgumentError(f"{name} is there in the dynamic graph only; a program's processes average the gradients of every step")
    _core.share_gradients(main, startup, options.bucket_mb, options.gradient_type == "float16")
