"""CIFAR-10 and CIFAR-100: 3072 pixel values in [0, 1], and a label, from the archives of their makers."""

import pickle
import tarfile

from .common import data_file

__all__ = ["train10", "test10", "train100", "test100"]


def _reader(archive, member, label_key, cycle=False):
    def once(path):
        with tarfile.open(path) as tar:
            names = sorted(entry.name for entry in tar if member in entry.name)
            if not names:
                raise ValueError("%s has no member whose name contains %r" % (path, member))
            for name in names:
                batch = pickle.load(tar.extractfile(name), encoding="bytes")  # pyright: ignore[reportArgumentType]: members are files
                labels = batch.get(label_key)
                if labels is None:
                    raise ValueError("%s: %s has no %r" % (path, name, label_key.decode()))
                for image, label in zip(batch[b"data"], labels):
                    yield (image / 255.0).astype("float32"), int(label)

    def read():
        path = data_file("cifar", archive)
        while True:
            yield from once(path)
            if not cycle:
                return

    return read


def train10(cycle=False):
    """A reader of (3072 floats from 0 to 1, label) of the ten kinds' training photographs; without end where cycle.

    >>> image, label = next(paddle.dataset.cifar.train10()())  # doctest: +SKIP
    """
    return _reader("cifar-10-python.tar.gz", "data_batch", b"labels", cycle)


def test10(cycle=False):
    """A reader of (3072 floats from 0 to 1, label) of the ten kinds' test photographs; without end where cycle.

    >>> image, label = next(paddle.dataset.cifar.test10()())  # doctest: +SKIP
    """
    return _reader("cifar-10-python.tar.gz", "test_batch", b"labels", cycle)


def train100():
    """A reader of (3072 floats from 0 to 1, label) of the hundred kinds' training photographs.

    >>> image, label = next(paddle.dataset.cifar.train100()())  # doctest: +SKIP
    """
    return _reader("cifar-100-python.tar.gz", "train", b"fine_labels")


def test100():
    """A reader of (3072 floats from 0 to 1, label) of the hundred kinds' test photographs.

    >>> image, label = next(paddle.dataset.cifar.test100()())  # doctest: +SKIP
    """
    return _reader("cifar-100-python.tar.gz", "test", b"fine_labels")
