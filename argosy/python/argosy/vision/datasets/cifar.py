"""CIFAR-10 and CIFAR-100: images of 32 by 32 and a label."""

import tarfile

import numpy

from argosy.dataset.common import data_file as cached_file
from argosy.errors import DataLossError, InvalidArgumentError
from argosy.fluid import state_file
from argosy.io.datasets import Dataset

__all__ = ["Cifar10", "Cifar100"]


def check(mode, backend):
    if mode not in ("train", "test"):
        raise InvalidArgumentError(f"mode is 'train' or 'test'; found {mode!r}")
    if backend not in (None, "pil", "cv2"):
        raise InvalidArgumentError(f"backend is 'pil' or 'cv2'; found {backend!r}")


class Cifar10(Dataset):
    """Photographs of ten kinds of things, (image, label): a PIL image, or with backend 'cv2' a float32 array of height, width, channel.

    The file is data_file, or where Paddle keeps it; nothing is downloaded.

    >>> photographs = paddle.vision.datasets.Cifar10(mode="test")  # doctest: +SKIP
    >>> image, label = photographs[0]  # doctest: +SKIP
    """

    _archive, _members, _labels = "cifar-10-python.tar.gz", {"train": "data_batch", "test": "test_batch"}, b"labels"

    def __init__(self, data_file=None, mode="train", transform=None, download=True, backend=None):
        mode = mode.lower()
        check(mode, backend)
        self.data_file = data_file or cached_file("cifar", self._archive)
        self.mode, self.transform, self.backend, self.dtype = mode, transform, backend or "pil", "float32"
        self.data = self._read()

    def _read(self):
        samples = []
        with tarfile.open(self.data_file) as archive:
            names = sorted(one.name for one in archive if self._members[self.mode] in one.name)
            if not names:
                raise DataLossError(f"{self.data_file} has no member whose name contains {self._members[self.mode]!r}")
            for name in names:
                batch = state_file.loads(archive.extractfile(name), f"{self.data_file}: {name}")
                if not isinstance(batch, dict) or b"data" not in batch or self._labels not in batch:
                    raise DataLossError(f"{self.data_file}: {name} has no 'data' or no '{self._labels.decode()}'")
                samples += zip(batch[b"data"], batch[self._labels])
        return samples

    def __getitem__(self, idx):
        pixels, label = self.data[idx]
        image = numpy.reshape(pixels, (3, 32, 32)).transpose(1, 2, 0)
        if self.backend == "pil":
            from PIL import Image

            image = Image.fromarray(image.astype("uint8"))
        else:
            image = image.astype(self.dtype)
        return image if self.transform is None else self.transform(image), numpy.array(label).astype("int64")

    def __len__(self):
        return len(self.data)


class Cifar100(Cifar10):
    """Photographs of a hundred kinds of things; the label is one of the fine ones.

    >>> photographs = paddle.vision.datasets.Cifar100(mode="test")  # doctest: +SKIP
    """

    _archive, _members, _labels = "cifar-100-python.tar.gz", {"train": "train", "test": "test"}, b"fine_labels"
