"""MNIST: 784 pixel values in [-1, 1], and a label, from the four files of its makers."""

import gzip
import struct

from .common import data_file

__all__ = ["train", "test"]

_IMAGES, _LABELS = 2051, 2049  # the files' magic numbers


def _array(path, magic, dimensions):
    import numpy as np

    with gzip.GzipFile(path, "rb") as file:
        head = file.read(4 + 4 * dimensions)
        if len(head) < 4 + 4 * dimensions or struct.unpack(">I", head[:4])[0] != magic:
            raise ValueError("%s does not begin with %d: it is not the MNIST file that its name says" % (path, magic))
        shape = struct.unpack(">%dI" % dimensions, head[4:])
        body = np.frombuffer(file.read(), np.uint8)
    if body.size != int(np.prod(shape)):
        raise ValueError("%s says %s values and holds %d" % (path, "x".join(map(str, shape)), body.size))
    return body.reshape(shape[0], -1)


def _reader(part):
    def read():
        images = _array(data_file("mnist", part + "-images-idx3-ubyte.gz"), _IMAGES, 3)
        labels = _array(data_file("mnist", part + "-labels-idx1-ubyte.gz"), _LABELS, 1)
        if len(images) != len(labels):
            raise ValueError("MNIST has %d images and %d labels" % (len(images), len(labels)))
        for image, label in zip(images, labels):
            yield (image / 255.0 * 2.0 - 1.0).astype("float32"), int(label[0])

    return read


def train():
    """A reader of (image, label) of the training digits: 784 floats from -1 to 1, and a number from 0 to 9.

    >>> image, label = next(paddle.dataset.mnist.train()())  # doctest: +SKIP
    """
    return _reader("train")


def test():
    """A reader of (image, label) of the test digits: 784 floats from -1 to 1, and a number from 0 to 9.

    >>> image, label = next(paddle.dataset.mnist.test()())  # doctest: +SKIP
    """
    return _reader("t10k")
