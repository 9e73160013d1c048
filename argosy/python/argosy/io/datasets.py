"""Data sets: samples by position, or one after another."""

import bisect
import itertools

import numpy

from argosy.errors import InvalidArgumentError

__all__ = ["Dataset", "IterableDataset", "TensorDataset", "ComposeDataset", "ChainDataset", "ConcatDataset", "Subset", "random_split"]


class Dataset:
    """Samples by position. A subclass gives __getitem__ and __len__.

    >>> class Squares(paddle.io.Dataset):
    ...     def __getitem__(self, index):
    ...         return index * index
    ...     def __len__(self):
    ...         return 4
    >>> Squares()[3]
    9
    """

    def __getitem__(self, idx):
        raise NotImplementedError(f"{type(self).__name__} has no __getitem__(idx), which gives a sample")

    def __len__(self):
        raise NotImplementedError(f"{type(self).__name__} has no __len__(), the number of samples")


class IterableDataset(Dataset):
    """Samples one after another. A subclass gives __iter__.

    >>> class Countdown(paddle.io.IterableDataset):
    ...     def __iter__(self):
    ...         return iter([3, 2, 1])
    >>> [sample for sample in Countdown()]
    [3, 2, 1]
    """

    def __iter__(self):
        raise NotImplementedError(f"{type(self).__name__} has no __iter__(), which gives the samples")

    def __getitem__(self, idx):
        raise RuntimeError(f"{type(self).__name__} is an IterableDataset: its samples have no positions")

    def __len__(self):
        raise RuntimeError(f"{type(self).__name__} is an IterableDataset: it does not know how many samples it has")


def _check_lengths(lengths, what):
    if len(set(lengths)) != 1:
        raise InvalidArgumentError(f"{what}: all have the same number of samples; found {', '.join(map(str, lengths)) or 'none'}")


class TensorDataset(Dataset):
    """Sample i is the i-th part of each of the tensors, which have equally many.

    >>> data = paddle.io.TensorDataset([paddle.arange(3), paddle.arange(3) * 10])
    >>> [one.item() for one in data[2]]
    [2, 20]
    """

    def __init__(self, tensors):
        _check_lengths([tensor.shape[0] for tensor in tensors], "TensorDataset")
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self):
        return self.tensors[0].shape[0]


class ComposeDataset(Dataset):
    """Sample i is made of the fields of sample i of every data set.

    >>> data = paddle.io.TensorDataset([paddle.arange(3)])
    >>> len(paddle.io.ComposeDataset([data, data])[0])
    2
    """

    def __init__(self, datasets):
        self.datasets = list(datasets)
        _check_lengths([len(dataset) for dataset in self.datasets], "ComposeDataset")

    def __len__(self):
        return len(self.datasets[0])

    def __getitem__(self, idx):
        fields = []
        for dataset in self.datasets:
            sample = dataset[idx]
            fields += sample if isinstance(sample, (list, tuple)) else [sample]
        return tuple(fields)


class ChainDataset(IterableDataset):
    """Iterable data sets one after another.

    >>> class Two(paddle.io.IterableDataset):
    ...     def __iter__(self):
    ...         return iter([1, 2])
    >>> [sample for sample in paddle.io.ChainDataset([Two(), Two()])]
    [1, 2, 1, 2]
    """

    def __init__(self, datasets):
        self.datasets = list(datasets)

    def __iter__(self):
        return itertools.chain.from_iterable(self.datasets)


class ConcatDataset(Dataset):
    """Data sets one after another, by position.

    >>> data = paddle.io.TensorDataset([paddle.arange(3)])
    >>> len(paddle.io.ConcatDataset([data, data]))
    6
    """

    def __init__(self, datasets):
        self.datasets = list(datasets)
        if not self.datasets:
            raise InvalidArgumentError("ConcatDataset: there is no data set to join")
        self.cumulative_sizes = list(itertools.accumulate(map(len, self.datasets)))

    def __len__(self):
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx):
        if not -len(self) <= idx < len(self):
            raise IndexError(f"sample {idx} of {len(self)}")
        idx %= len(self)
        which = bisect.bisect_right(self.cumulative_sizes, idx)
        return self.datasets[which][idx - (self.cumulative_sizes[which - 1] if which else 0)]


class Subset(Dataset):
    """Those samples of a data set that `indices` name.

    >>> data = paddle.io.TensorDataset([paddle.arange(3)])
    >>> paddle.io.Subset(data, [2])[0][0].item()
    2
    """

    def __init__(self, dataset, indices):
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, idx):
        return self.dataset[self.indices[idx]]

    def __len__(self):
        return len(self.indices)


def random_split(dataset, lengths, generator=None):
    """Parts of these sizes, or shares that add up to 1, of the samples in random order, which is NumPy's: `generator` is refused.

    >>> data = paddle.io.TensorDataset([paddle.arange(10)])
    >>> [len(part) for part in paddle.io.random_split(data, [7, 3])]
    [7, 3]
    """
    if generator is not None:
        raise InvalidArgumentError("random_split: the order is NumPy's; leave generator out and use numpy.random.seed")
    if abs(sum(lengths) - 1) < 1e-6 and all(isinstance(one, float) for one in lengths):
        sizes = [int(len(dataset) * share) for share in lengths]
        for i in range(len(dataset) - sum(sizes)):
            sizes[i % len(sizes)] += 1
        lengths = sizes
    if sum(lengths) != len(dataset):
        raise InvalidArgumentError(f"random_split: the sizes add up to {sum(lengths)}; the data set has {len(dataset)} samples")
    order = numpy.random.permutation(len(dataset)).tolist()
    ends = list(itertools.accumulate(lengths))
    return [Subset(dataset, order[end - length : end]) for end, length in zip(ends, lengths)]
