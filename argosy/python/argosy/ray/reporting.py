"""What workers tell Ray Train."""

import tempfile


def report(metrics, save=None):
    """Hands the metrics of a worker to Ray Train, as ray.train.report does; all workers call it. Where `save` is given, worker 0 calls it with an
    empty folder, and what it writes there is the report's checkpoint.

    A worker that is started again runs its function from the beginning, and reports again what it has reported.

    >>> argosy.ray.report({"loss": 0.25}, save=lambda folder: fleet.save_persistables(exe, folder))  # doctest: +SKIP
    """
    import ray.train

    if save is None or ray.train.get_context().get_world_rank() != 0:
        return ray.train.report(metrics)
    with tempfile.TemporaryDirectory(prefix="argosy-ray-") as folder:
        save(folder)
        return ray.train.report(metrics, checkpoint=ray.train.Checkpoint.from_directory(folder))
