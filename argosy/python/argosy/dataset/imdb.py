"""IMDB's film reviews: the numbers of a review's words, and 0 for praise or 1 for blame, from aclImdb_v1.tar.gz of its makers."""

import re
import string
import tarfile

from argosy.dataset import words
from argosy.dataset.common import download

__all__ = ["build_dict", "train", "test", "word_dict", "tokenize"]

URL = "https://dataset.bj.bcebos.com/imdb%2FaclImdb_v1.tar.gz"
MD5 = "7c2ac02c03563afcf9b574c7e56c153a"
_NO_POINTS = str.maketrans("", "", string.punctuation)


def _texts(path, pattern):
    with tarfile.open(path) as archive:
        for member in archive:
            if pattern.match(member.name):
                file = archive.extractfile(member)
                if file is not None:
                    yield file.read().decode("utf-8").rstrip("\n\r").translate(_NO_POINTS).lower().split()


def tokenize(pattern):
    """The lists of words of the reviews whose names in the archive a compiled pattern matches.

    >>> import re
    >>> words = next(paddle.dataset.imdb.tokenize(re.compile("aclImdb/train/pos/.*")))  # doctest: +SKIP
    """
    return _texts(download(URL, "imdb", MD5), pattern)


def build_dict(pattern, cutoff):
    """{word: number} of the words that come more than cutoff times in reviews of these names; '<unk>' stands for all others.

    >>> import re
    >>> numbers = paddle.dataset.imdb.build_dict(re.compile("aclImdb/train/.*"), 150)  # doctest: +SKIP
    """
    return words.numbered(words.counted(tokenize(pattern)), cutoff)


def word_dict():
    """{word: number} of the words of all reviews that come more than 150 times.

    >>> numbers = paddle.dataset.imdb.word_dict()  # doctest: +SKIP
    """
    return build_dict(re.compile(r"aclImdb/((train)|(test))/((pos)|(neg))/.*\.txt$"), 150)


def _samples(path, part, word_idx):
    unknown = word_idx["<unk>"]
    for label, kind in enumerate(("pos", "neg")):
        for text in _texts(path, re.compile(rf"aclImdb/{part}/{kind}/.*\.txt$")):
            yield [word_idx.get(word, unknown) for word in text], label


def _reader(part, word_idx):
    path = download(URL, "imdb", MD5)
    return lambda: _samples(path, part, word_idx)


def train(word_idx):
    """A reader of (numbers of words, label) of the reviews for training, those of praise first.

    >>> numbers, label = next(paddle.dataset.imdb.train(paddle.dataset.imdb.word_dict())())  # doctest: +SKIP
    """
    return _reader("train", word_idx)


def test(word_idx):
    """A reader of (numbers of words, label) of the reviews for tests, those of praise first.

    >>> numbers, label = next(paddle.dataset.imdb.test(paddle.dataset.imdb.word_dict())())  # doctest: +SKIP
    """
    return _reader("test", word_idx)
