"""Data sets of texts, and that of houses which Paddle keeps beside them, from files in the cache folder; nothing is downloaded."""

import re

import numpy

from argosy.dataset import imdb, imikolov, uci_housing, words
from argosy.dataset.common import download as cached
from argosy.errors import InvalidArgumentError
from argosy.io.datasets import Dataset

__all__ = ["Imdb", "Imikolov", "UCIHousing"]
_ABSENT = ("Conll05st", "Movielens", "WMT14", "WMT16")


def __getattr__(name):
    if name in _ABSENT:
        raise AttributeError(f"paddle.text.datasets.{name} is not here; read its files by a paddle.io.Dataset of your own")
    raise AttributeError(f"module 'paddle.text.datasets' has no attribute '{name}'")


def _mode(mode, known=("train", "test")):
    if mode.lower() not in known:
        raise InvalidArgumentError(f"mode is {' or '.join(known)}; found {mode!r}")
    return mode.lower()


class Imdb(Dataset):
    """IMDB's film reviews: (numbers of words, [0] for praise or [1] for blame); word_idx has the words that come more than cutoff times.

    >>> reviews = paddle.text.Imdb(mode="train")  # doctest: +SKIP
    >>> numbers, label = reviews[0]  # doctest: +SKIP
    """

    def __init__(self, data_file=None, mode="train", cutoff=150, download=True):
        self.mode, self.data_file = _mode(mode), data_file or cached(imdb.URL, "imdb", imdb.MD5)
        every = imdb._texts(self.data_file, re.compile(r"aclImdb/((train)|(test))/((pos)|(neg))/.*\.txt$"))
        self.word_idx = words.numbered(words.counted(every), cutoff)
        found = list(imdb._samples(self.data_file, self.mode, self.word_idx))
        self.docs, self.labels = [numbers for numbers, _ in found], [label for _, label in found]

    def __getitem__(self, idx):
        return numpy.array(self.docs[idx]), numpy.array([self.labels[idx]])

    def __len__(self):
        return len(self.docs)


class Imikolov(Dataset):
    """Sentences of the Penn Treebank: window_size words in a row (NGRAM), or a sentence and the same one word later (SEQ).

    >>> sentences = paddle.text.Imikolov(data_type="NGRAM", window_size=5)  # doctest: +SKIP
    """

    def __init__(self, data_file=None, data_type="NGRAM", window_size=-1, mode="train", min_word_freq=50, download=True):
        if data_type.upper() not in ("NGRAM", "SEQ"):
            raise InvalidArgumentError(f"data_type is NGRAM or SEQ; found {data_type!r}")
        if data_type.upper() == "NGRAM" and window_size < 1:
            raise InvalidArgumentError(f"Imikolov: window_size is the number of words in a row, 1 or more; found {window_size}")
        self.data_type, self.window_size, self.mode = data_type.upper(), window_size, _mode(mode)
        self.data_file = data_file or cached(imikolov.URL, "imikolov", imikolov.MD5)
        self.word_idx = imikolov._dictionary(self.data_file, min_word_freq)
        self.data = list(imikolov._samples(self.data_file, self.mode, self.word_idx, window_size, getattr(imikolov.DataType, self.data_type)))

    def __getitem__(self, idx):
        return tuple(numpy.array(one) for one in self.data[idx])

    def __len__(self):
        return len(self.data)


class UCIHousing(Dataset):
    """Boston housing: (13 features, [price]), each feature scaled by its range around its mean.

    >>> houses = paddle.text.UCIHousing(mode="train")  # doctest: +SKIP
    """

    def __init__(self, data_file=None, mode="train", download=True):
        if data_file is not None:
            raise InvalidArgumentError("UCIHousing: its file is uci_housing/housing.data in the cache folder; leave data_file out")
        self.mode = _mode(mode)
        self.data = list((uci_housing.train if self.mode == "train" else uci_housing.test)()())

    def __getitem__(self, idx):
        return tuple(one.astype("float32") for one in self.data[idx])

    def __len__(self):
        return len(self.data)
