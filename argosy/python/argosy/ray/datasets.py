"""Ray Data as what workers train on.

The rows of a Trainer's datasets are divided before the workers start, and worker r gets the same ones whenever it is started: only so can the servers
know which batches of a worker that comes back they have. Ray Train's own shards are handed out as workers ask.
"""

import pathlib
import tempfile

_shards = {}  # of this worker, by name: ray.data.MaterializedDataset
_ROWS = 4096  # that are turned into text at once


def divide(datasets, workers):
    """[{name: shard} of each worker]. Reads the datasets into Ray's object store."""
    divided = {name: dataset.split(workers) for name, dataset in (datasets or {}).items()}
    return [{name: parts[rank] for name, parts in divided.items()} for rank in range(workers)]


def set_shards(shards):
    """Those of this worker."""
    _shards.clear()
    _shards.update(shards)


def get_dataset_shard(name="train"):
    """This worker's rows of a dataset of argosy.ray.Trainer, as a ray.data dataset.

    >>> for batch in argosy.ray.get_dataset_shard("train").iter_batches(batch_size=512, batch_format="numpy"):  # doctest: +SKIP
    ...     exe.run(feed=batch)
    """
    if name not in _shards:
        raise KeyError(f"this worker has no dataset '{name}'; Trainer(datasets={{...}}) was given {sorted(_shards) or 'none'}")
    return _shards[name]


def dataset_of_shard(name, use_var, batch_size, thread=1, folder=None):
    """A fluid dataset of this worker's rows, for exe.train_from_dataset: column `x` feeds the variable x; a column of lists is a sequence.

    The rows are written to `folder` as MultiSlot text first (none: a folder that is removed with the dataset).

    >>> dataset = argosy.ray.dataset_of_shard("train", [ids, label], batch_size=512)  # doctest: +SKIP
    """
    from argosy import fluid

    kept = None if folder is not None else tempfile.TemporaryDirectory(prefix="argosy-ray-")
    path = pathlib.Path(kept.name if kept is not None else str(folder)) / f"{name}.txt"
    _write(get_dataset_shard(name), [var.name for var in use_var], path)
    dataset = fluid.DatasetFactory().create_dataset("QueueDataset")
    dataset.set_use_var(use_var)
    dataset.set_batch_size(batch_size)
    dataset.set_thread(thread)
    dataset.set_pipe_command("cat")
    dataset.set_filelist([str(path)])
    dataset.ray_folder = kept  # lives as long as the dataset
    return dataset


def _write(shard, columns, path):
    with path.open("w", encoding="ascii") as text:
        for batch in shard.iter_batches(batch_size=_ROWS, batch_format="numpy"):
            missing = [column for column in columns if column not in batch]
            if missing:
                raise KeyError(f"the dataset has no column '{missing[0]}', which a variable is named after; it has {sorted(batch)}")
            for row in zip(*(batch[column] for column in columns)):
                text.write(" ".join(_slot(value) for value in row) + "\n")


def _slot(value):
    values = value.ravel().tolist() if hasattr(value, "ravel") else list(value) if isinstance(value, (list, tuple)) else [value]
    return f"{len(values)} " + " ".join(repr(one) for one in values)
