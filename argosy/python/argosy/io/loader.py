"""DataLoader: batches of a data set, made ahead by processes where num_workers asks for them. torch's loader does the work."""

import collections
import os
import warnings
from typing import Any

import numpy
import torch
import torch.utils.data

from argosy import _core, device, graph_mode
from argosy.dynamic import step_numbers
from argosy.dynamic.tensor import Tensor, unwrap, wrap
from argosy.errors import InvalidArgumentError
from argosy.io.datasets import IterableDataset
from argosy.io.samplers import BatchSampler, DistributedBatchSampler

__all__ = ["DataLoader", "get_worker_info", "default_collate_fn", "default_convert_fn"]

WorkerInfo = collections.namedtuple("WorkerInfo", "id num_workers dataset seed")


def get_worker_info():
    """In a process of a loader: its number, their number, the data set and its seed. Elsewhere None.

    >>> print(paddle.io.get_worker_info())
    None
    """
    info: Any = torch.utils.data.get_worker_info()
    return None if info is None else WorkerInfo(info.id, info.num_workers, info.dataset.dataset, info.seed)


def default_collate_fn(batch):
    """Samples as one batch: arrays, numbers and tensors are stacked, fields one by one.

    >>> [list(part.shape) for part in paddle.io.default_collate_fn([(np.zeros(3), 1), (np.zeros(3), 2)])]
    [[2, 3], [2]]
    """
    first = batch[0]
    if isinstance(first, (Tensor, torch.Tensor)):
        return torch.stack([unwrap(one) for one in batch])
    if isinstance(first, numpy.ndarray):
        return torch.from_numpy(numpy.stack(batch))
    if isinstance(first, (bool, int, float, numpy.generic)):
        return torch.from_numpy(numpy.array(batch))
    if isinstance(first, dict):
        return {key: default_collate_fn([one[key] for one in batch]) for key in first}
    if isinstance(first, (list, tuple)):
        if any(len(one) != len(first) for one in batch):
            raise InvalidArgumentError("the samples of a batch have different numbers of fields; give a collate_fn")
        return [default_collate_fn(field) for field in zip(*batch)]
    if isinstance(first, (str, bytes)):
        return list(batch)
    raise InvalidArgumentError(f"a sample is made of arrays, numbers, tensors, lists and dicts; found {type(first).__name__}; give a collate_fn")


def default_convert_fn(batch):
    """A sample that is a batch already."""
    return _to_torch(batch)


def _to_torch(value):
    """What a process can hand over: torch tensors for arrays and Tensors."""
    if isinstance(value, Tensor):
        return value._torch.detach()
    if isinstance(value, numpy.ndarray) and value.dtype.kind in "fiub":
        return torch.from_numpy(value)
    if isinstance(value, numpy.generic):
        return torch.from_numpy(numpy.asarray(value))
    if isinstance(value, dict):
        return {key: _to_torch(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_to_torch(one) for one in value)
    return value


class _Collate:
    """A class and not a function inside of another: processes that are spawned unpickle it."""

    def __init__(self, function):
        self.function = function

    def __call__(self, batch):
        return _to_torch(self.function(batch))


class _Positions(torch.utils.data.Dataset):
    def __init__(self, dataset):
        self.dataset = dataset

    def __getitem__(self, index):
        return self.dataset[index]

    def __len__(self):
        return len(self.dataset)


class _Stream(torch.utils.data.IterableDataset):
    def __init__(self, dataset):
        self.dataset = dataset

    def __iter__(self):
        return iter(self.dataset)


def _start_method():
    """Scripts without a main guard need fork; a process that speaks gRPC with parameter servers cannot be forked."""
    return "spawn" if os.environ.get("PADDLE_PSERVERS_IP_PORT_LIST") or os.environ.get("TRAINING_ROLE") in ("PSERVER", "HETER_TRAINER") else "fork"


def _names(feed_list, return_list):
    """The names that a batch's parts have for a program that is fed dicts."""
    if return_list:
        return None
    if not feed_list or graph_mode.in_dynamic_mode():
        raise InvalidArgumentError(
            "DataLoader: return_list=False gives dicts for a static program, by the names of feed_list; give the variables there after "
            "paddle.enable_static(), or leave return_list out"
        )
    return [one if isinstance(one, str) else one.name for one in feed_list]


class DataLoader:
    """Batches of `dataset`, as lists of tensors: `for image, label in loader` or `in loader()`.

    In static mode the parts of a batch are LoDTensors to feed, and with return_list=False a batch is [{name of a variable of feed_list: part}].
    batch_size=None hands out samples as they are. With num_workers processes make batches ahead, prefetch_factor each; one that dies is an
    error of the loop. use_shared_memory and use_buffer_reader are how batches always travel here. Confined to one thread.

    >>> data = paddle.io.TensorDataset([paddle.arange(5)])
    >>> [batch.tolist() for batch, in paddle.io.DataLoader(data, batch_size=2)]
    [[0, 1], [2, 3], [4]]
    """

    def __init__(
        self,
        dataset,
        feed_list=None,
        places=None,
        return_list=True,
        batch_sampler=None,
        batch_size=1,
        shuffle=False,
        drop_last=False,
        collate_fn=None,
        num_workers=0,
        use_buffer_reader=True,
        prefetch_factor=2,
        use_shared_memory=True,
        timeout=0,
        worker_init_fn=None,
        persistent_workers=False,
    ):
        self._feeds = _names(feed_list, return_list)
        if num_workers < 0 or timeout < 0:
            raise InvalidArgumentError(f"DataLoader: num_workers and timeout are 0 or more; found {num_workers} and {timeout}")
        self.dataset, self.num_workers, self._place = dataset, num_workers, _place(places)
        self._hand_out = self._as_tensors if graph_mode.in_dynamic_mode() else self._as_feeds
        self.batch_sampler, self.collate_fn = batch_sampler, collate_fn
        streams = isinstance(dataset, IterableDataset)
        if streams and (shuffle or batch_sampler is not None):
            raise InvalidArgumentError("DataLoader: an IterableDataset has an order of its own; leave shuffle and batch_sampler out")
        if batch_sampler is not None and (batch_size != 1 or shuffle or drop_last):
            raise InvalidArgumentError(
                f"DataLoader: batch_sampler makes the batches; leave out batch_size={batch_size}, shuffle={shuffle} and drop_last={drop_last}, or batch_sampler"
            )
        if batch_sampler is None and batch_size is not None and not streams:
            self.batch_sampler = BatchSampler(dataset, shuffle=shuffle, batch_size=batch_size, drop_last=drop_last)
        self._loader = torch.utils.data.DataLoader(
            _Stream(dataset) if streams else _Positions(dataset),
            collate_fn=_Collate(collate_fn or self._default(batch_size)),
            num_workers=num_workers,
            timeout=timeout,
            worker_init_fn=worker_init_fn,
            **self._batching(streams, batch_size, drop_last),
            **self._processes(num_workers, prefetch_factor, persistent_workers),
        )

    def _default(self, batch_size):
        return default_convert_fn if batch_size is None and self.batch_sampler is None else default_collate_fn

    def _batching(self, streams, batch_size, drop_last):
        if streams:
            return {"batch_size": batch_size, "drop_last": drop_last if batch_size is not None else False}
        return {"batch_size": None} if self.batch_sampler is None else {"batch_sampler": self.batch_sampler}

    @staticmethod
    def _processes(num_workers, prefetch_factor, persistent_workers):
        if not num_workers:
            return {}
        return {"prefetch_factor": prefetch_factor, "persistent_workers": persistent_workers, "multiprocessing_context": _start_method()}

    def __iter__(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # torch's advice on how many processes a machine takes
            first = getattr(self.batch_sampler, "_skip", 0)
            batches = iter(self._loader)
        for used, batch in enumerate(batches, first + 1):
            if isinstance(self.batch_sampler, DistributedBatchSampler):
                self.batch_sampler._used(used)
            step_numbers.batch_given(_samples_of(batch), self._ratio(used))
            yield self._hand_out(batch)

    def _ratio(self, used):
        """How much of the pass `used` batches are; None where it is not known."""
        return None if isinstance(self.dataset, IterableDataset) else used / max(1, len(self))

    def _as_tensors(self, batch):
        return wrap(batch if self._place == "cpu" else _moved(batch, self._place))

    def _as_feeds(self, batch):
        """For an Executor."""
        parts = _lod_tensors(batch)
        if self._feeds is None:
            return parts
        if not isinstance(parts, (list, tuple)) or len(parts) != len(self._feeds):
            raise InvalidArgumentError(
                f"DataLoader: feed_list has {len(self._feeds)} variables, and a batch has {len(parts) if isinstance(parts, (list, tuple)) else 1} parts"
            )
        return [dict(zip(self._feeds, parts, strict=True))]

    def __call__(self):
        return self.__iter__()

    def __len__(self):
        if isinstance(self.dataset, IterableDataset):
            raise TypeError("a loader of an IterableDataset does not know how many batches it has")
        return len(self.dataset) if self.batch_sampler is None else len(self.batch_sampler)

    @staticmethod
    def from_generator(*args, **kwargs):
        """The loader of static programs."""
        from argosy.fluid.reader import DataLoader as Static

        return Static.from_generator(*args, **kwargs)

    @staticmethod
    def from_dataset(dataset, places=None, drop_last=True):
        raise InvalidArgumentError("DataLoader.from_dataset: give the dataset to Executor.train_from_dataset")


def _place(places):
    chosen = places[0] if isinstance(places, (list, tuple)) and places else places or None
    return device.torch_device(chosen)


def _samples_of(batch):
    """The size of the first part that has one."""
    if isinstance(batch, torch.Tensor):
        return batch.shape[0] if batch.ndim else 0
    parts = batch.values() if isinstance(batch, dict) else batch if isinstance(batch, (list, tuple)) else ()
    return next((size for size in map(_samples_of, parts) if size), 0)


def _lod_tensors(value):
    """`value` with LoDTensors for torch tensors."""
    if isinstance(value, torch.Tensor):
        made = _core.LoDTensor()
        made.set(value.numpy())
        return made
    if isinstance(value, dict):
        return {key: _lod_tensors(one) for key, one in value.items()}
    return type(value)(_lod_tensors(one) for one in value) if isinstance(value, (list, tuple)) else value


def _moved(value, where):
    if isinstance(value, torch.Tensor):
        return value.to(where)
    if isinstance(value, dict):
        return {key: _moved(one, where) for key, one in value.items()}
    return type(value)(_moved(one, where) for one in value) if isinstance(value, (list, tuple)) else value
