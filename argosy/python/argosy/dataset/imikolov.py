"""Sentences of the Penn Treebank, as numbers of words, from simple-examples.tgz of T. Mikolov."""

import tarfile

from argosy.dataset import words
from argosy.dataset.common import download
from argosy.errors import InvalidArgumentError, NotFoundError

__all__ = ["train", "test", "build_dict", "DataType"]

URL = "https://dataset.bj.bcebos.com/imikolov%2Fsimple-examples.tgz"
MD5 = "30177ea32e27c525793142b6bf2c8e2d"
_FILES = {"train": "./simple-examples/data/ptb.train.txt", "test": "./simple-examples/data/ptb.valid.txt"}


class DataType:
    """What samples are: NGRAM, n words in a row, or SEQ, a sentence and the same one word later.

    >>> paddle.dataset.imikolov.DataType.NGRAM
    1
    """

    NGRAM = 1
    SEQ = 2


def _sentences(path, part):
    with tarfile.open(path) as archive:
        try:
            file = archive.extractfile(_FILES[part])
        except KeyError:
            file = None
        if file is None:
            raise NotFoundError(f"{path} has no {_FILES[part]}; it is not the archive of T. Mikolov")
        for line in file:
            yield line.decode("utf-8").split()


def _dictionary(path, min_word_freq):
    both = (["<s>", *sentence, "<e>"] for part in _FILES for sentence in _sentences(path, part))
    return words.numbered(words.counted(both), min_word_freq)


def build_dict(min_word_freq=50):
    """{word: number} of the words that come more than min_word_freq times, with <s> and <e> around sentences; '<unk>' stands for all others.

    >>> numbers = paddle.dataset.imikolov.build_dict()  # doctest: +SKIP
    """
    return _dictionary(download(URL, "imikolov", MD5), min_word_freq)


def _samples(path, part, word_idx, n, data_type):
    unknown = word_idx["<unk>"]
    for sentence in _sentences(path, part):
        numbers = [word_idx.get(word, unknown) for word in sentence]
        whole = [word_idx["<s>"], *numbers, word_idx["<e>"]]
        if data_type == DataType.NGRAM:
            yield from (tuple(whole[i - n : i]) for i in range(n, len(whole) + 1))
        elif n <= 0 or len(whole) - 1 <= n:
            yield whole[:-1], whole[1:]


def _reader(part, word_idx, n, data_type):
    if data_type not in (DataType.NGRAM, DataType.SEQ):
        raise InvalidArgumentError(f"imikolov: data_type is DataType.NGRAM or DataType.SEQ; found {data_type!r}")
    if data_type == DataType.NGRAM and n < 1:
        raise InvalidArgumentError(f"imikolov: n is the number of words in a row, 1 or more; found {n}")
    path = download(URL, "imikolov", MD5)
    return lambda: _samples(path, part, word_idx, n, data_type)


def train(word_idx, n, data_type=DataType.NGRAM):
    """A reader of the sentences for training: n numbers in a row, or (sentence, the same one word later) of at most n words where n is above 0.

    >>> numbers = next(paddle.dataset.imikolov.train(paddle.dataset.imikolov.build_dict(), 5)())  # doctest: +SKIP
    """
    return _reader("train", word_idx, n, data_type)


def test(word_idx, n, data_type=DataType.NGRAM):
    """A reader of the sentences for tests, as train().

    >>> numbers = next(paddle.dataset.imikolov.test(paddle.dataset.imikolov.build_dict(), 5)())  # doctest: +SKIP
    """
    return _reader("test", word_idx, n, data_type)
