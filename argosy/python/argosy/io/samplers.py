"""The order in which samples are taken. Random orders are NumPy's, as in Paddle: numpy.random.seed makes them repeat."""

import itertools
import math
import warnings
from typing import Any

import numpy

from argosy.errors import InvalidArgumentError

__all__ = ["Sampler", "SequenceSampler", "RandomSampler", "WeightedRandomSampler", "SubsetRandomSampler", "BatchSampler", "DistributedBatchSampler"]


class Sampler:
    """Positions of samples. A subclass gives __iter__.

    >>> class Backwards(paddle.io.Sampler):
    ...     def __iter__(self):
    ...         return iter(reversed(range(len(self.data_source))))
    >>> list(Backwards([7, 8, 9]))
    [2, 1, 0]
    """

    def __init__(self, data_source: Any = None):
        self.data_source = data_source

    def __iter__(self):
        raise NotImplementedError(f"{type(self).__name__} has no __iter__(), which gives positions")


class SequenceSampler(Sampler):
    """The positions of all samples in order.

    >>> list(paddle.io.SequenceSampler([7, 8, 9]))
    [0, 1, 2]
    """

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler):
    """The positions of all samples in random order, or num_samples with replacement. `generator` yields positions instead.

    >>> sorted(paddle.io.RandomSampler([7, 8, 9]))
    [0, 1, 2]
    """

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        super().__init__(data_source)
        if num_samples is not None and num_samples <= 0:
            raise InvalidArgumentError(f"RandomSampler: num_samples is above 0; found {num_samples}")
        self.replacement, self._num_samples, self.generator = replacement, num_samples, generator

    @property
    def num_samples(self):
        return self._num_samples or len(self.data_source)

    def __iter__(self):
        if self.generator is not None:
            return (next(self.generator) for _ in range(self.num_samples))
        n = len(self.data_source)
        if self.replacement:
            return iter(numpy.random.choice(n, self.num_samples, replace=True).tolist())
        return iter(numpy.random.permutation(n)[: self.num_samples].tolist())

    def __len__(self):
        return self.num_samples


class WeightedRandomSampler(Sampler):
    """num_samples positions by chance, each as likely as its weight; each once only unless replacement.

    >>> list(paddle.io.WeightedRandomSampler([0.0, 1.0], 3))
    [1, 1, 1]
    """

    def __init__(self, weights, num_samples, replacement=True):
        super().__init__()
        self.weights = numpy.asarray(weights, "float64")
        if self.weights.ndim != 1 or (self.weights < 0).any() or not self.weights.any():
            raise InvalidArgumentError("WeightedRandomSampler: weights are a list of numbers, 0 or more, not all 0")
        if not replacement and num_samples > (self.weights > 0).sum():
            raise InvalidArgumentError(f"WeightedRandomSampler: {num_samples} different samples of {(self.weights > 0).sum()} with a weight above 0")
        self.num_samples, self.replacement = num_samples, replacement

    def __iter__(self):
        chances = self.weights / self.weights.sum()
        return iter(numpy.random.choice(len(chances), self.num_samples, self.replacement, chances).tolist())  # pyright: ignore[reportAttributeAccessIssue]

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """The given positions in random order.

    >>> sorted(paddle.io.SubsetRandomSampler([2, 5]))
    [2, 5]
    """

    def __init__(self, indices):
        super().__init__()
        self.indices = indices

    def __iter__(self):
        return (self.indices[i] for i in numpy.random.permutation(len(self.indices)))

    def __len__(self):
        return len(self.indices)


class BatchSampler(Sampler):
    """Lists of batch_size positions: of a sampler, or of a data set in order or shuffled. The last may be shorter, or is dropped where drop_last.

    >>> list(paddle.io.BatchSampler(sampler=paddle.io.SequenceSampler(range(5)), batch_size=2))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, dataset=None, sampler=None, shuffle=False, batch_size=1, drop_last=False):
        super().__init__(dataset)
        if (dataset is None) == (sampler is None):
            raise InvalidArgumentError("BatchSampler takes a dataset or a sampler, one of the two")
        if sampler is not None and shuffle:
            raise InvalidArgumentError("BatchSampler: shuffle is for a dataset; a sampler has an order of its own")
        _check_batch(batch_size)
        self.sampler = sampler if sampler is not None else RandomSampler(dataset) if shuffle else SequenceSampler(dataset)
        self.batch_size, self.shuffle, self.drop_last = batch_size, shuffle, drop_last

    def __iter__(self):
        return _in_batches(self.sampler, self.batch_size, self.drop_last)

    def __len__(self):
        return _batches(len(self.sampler), self.batch_size, self.drop_last)


class DistributedBatchSampler(BatchSampler):
    """The batches of one process: each takes its own part of every num_replicas * batch_size samples.

    The first samples are taken again where the number of samples is no multiple of the processes. With shuffle every epoch has an order of its
    own, the same in all processes: that of set_epoch, or one further each time. state_dict() says how far a pass has come, so that another
    process can go on from there.

    >>> data = paddle.io.TensorDataset([paddle.arange(8)])
    >>> list(paddle.io.DistributedBatchSampler(data, batch_size=2, num_replicas=2, rank=1))
    [[2, 3], [6, 7]]
    """

    def __init__(self, dataset, batch_size, num_replicas=None, rank=None, shuffle=False, drop_last=False):
        from argosy.distributed.environment import ParallelEnv

        _check_batch(batch_size)
        self.data_source = self.dataset = dataset
        self.batch_size, self.shuffle, self.drop_last = batch_size, shuffle, drop_last
        self.nranks = ParallelEnv().nranks if num_replicas is None else num_replicas
        self.local_rank = ParallelEnv().rank if rank is None else rank
        if not 0 <= self.local_rank < self.nranks:
            raise InvalidArgumentError(f"DistributedBatchSampler: rank {self.local_rank} of {self.nranks} processes")
        self.epoch = 0
        self._pass, self._given, self._skip = 0, 0, 0  # the epoch of the pass that is going on, its batches that were used, those to leave out
        self.num_samples = math.ceil(len(dataset) / self.nranks)
        self.total_size = self.num_samples * self.nranks

    def set_epoch(self, epoch):
        """The order of the next pass."""
        if epoch != self._pass:
            self._skip = 0
        self.epoch = epoch

    def state_dict(self):
        """Which pass is going on and how many of its batches were used, of how large a data set in how many parts."""
        return {"epoch": self._pass, "position": self._given, "samples": len(self.dataset), "nranks": self.nranks, "batch_size": self.batch_size}

    def set_state_dict(self, state_dict):
        """The next pass goes on where state_dict() was taken. With other processes or batches it begins again, which is a warning; another data set
        is an error."""
        own = self.state_dict()
        if state_dict["samples"] != own["samples"]:
            raise InvalidArgumentError(f"the state is of a data set of {state_dict['samples']} samples, and this one has {own['samples']}")
        self.epoch = self._pass = state_dict["epoch"]
        same = all(state_dict[name] == own[name] for name in ("nranks", "batch_size"))
        self._skip = self._given = state_dict["position"] if same else 0
        if not same:
            warnings.warn(
                f"the state is of {state_dict['nranks']} processes with batches of {state_dict['batch_size']}, and these are {own['nranks']} with "
                f"{own['batch_size']}; the pass begins again",
                stacklevel=2,
            )

    def _used(self, count):
        """A loader has handed out `count` batches of the pass, which is fewer than it has taken."""
        self._given = count

    def _order(self):
        order = [i % len(self.dataset) for i in range(self.total_size)]
        if self.shuffle:
            numpy.random.RandomState(self.epoch).shuffle(order)
            self.epoch += 1
        return order

    def _own(self, order):
        """Whole batches in turn; what is left over is cut into equal parts."""
        left = self.total_size % (self.batch_size * self.nranks)
        whole, rest, share = order[: len(order) - left], order[len(order) - left :], left // self.nranks
        own = [
            i for start in range(self.local_rank * self.batch_size, len(whole), self.batch_size * self.nranks) for i in whole[start : start + self.batch_size]
        ]
        return own + rest[self.local_rank * share : (self.local_rank + 1) * share]

    def __iter__(self):
        # Nothing happens before the first batch: a loader may make iterators that it does not use.
        self._pass, self._given, self._skip = self.epoch, self._skip, 0
        for batch in itertools.islice(_in_batches(self._own(self._order()), self.batch_size, self.drop_last), self._given, None):
            self._given += 1
            yield batch

    def __len__(self):
        return _batches(self.num_samples, self.batch_size, self.drop_last)


def _check_batch(batch_size):
    if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
        raise InvalidArgumentError(f"batch_size is an integer above 0; found {batch_size!r}")


def _batches(samples, batch_size, drop_last):
    return samples // batch_size if drop_last else -(-samples // batch_size)


def _in_batches(positions, batch_size, drop_last):
    batch = []
    for position in positions:
        batch.append(position)
        if len(batch) == batch_size:
            yield batch
            batch = []
    if batch and not drop_last:
        yield batch
