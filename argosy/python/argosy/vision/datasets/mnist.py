"""MNIST and what has its format: images of 28 by 28 and a label."""

import numpy

from argosy.dataset.common import data_file
from argosy.dataset.mnist import _IMAGES, _LABELS, _array
from argosy.errors import DataLossError
from argosy.io.datasets import Dataset
from argosy.vision.datasets.cifar import check

__all__ = ["MNIST", "FashionMNIST"]


class MNIST(Dataset):
    """Handwritten digits, (image, [label]): a PIL image, or with backend 'cv2' a float32 array. mode is train or test.

    Files are those of image_path and label_path, or where Paddle keeps them; nothing is downloaded.

    >>> digits = paddle.vision.datasets.MNIST(mode="test")  # doctest: +SKIP
    >>> image, label = digits[0]  # doctest: +SKIP
    """

    NAME = "mnist"

    def __init__(self, image_path=None, label_path=None, mode="train", transform=None, download=True, backend=None):
        mode = mode.lower()
        check(mode, backend)
        part = "train" if mode == "train" else "t10k"
        self.image_path = image_path or data_file(self.NAME, part + "-images-idx3-ubyte.gz")
        self.label_path = label_path or data_file(self.NAME, part + "-labels-idx1-ubyte.gz")
        self.mode, self.transform, self.backend, self.dtype = mode, transform, backend or "pil", "float32"
        self.images = _array(self.image_path, _IMAGES, 3).reshape(-1, 28, 28)
        self.labels = _array(self.label_path, _LABELS, 1).astype("int64")
        if len(self.images) != len(self.labels):
            raise DataLossError(f"{self.image_path} has {len(self.images)} images and {self.label_path} {len(self.labels)} labels")

    def __getitem__(self, idx):
        image = self.images[idx]
        if self.backend == "pil":
            from PIL import Image

            image = Image.fromarray(numpy.ascontiguousarray(image))
        else:
            image = image.astype(self.dtype)
        return image if self.transform is None else self.transform(image), self.labels[idx]

    def __len__(self):
        return len(self.labels)


class FashionMNIST(MNIST):
    """Pictures of clothes, in the form of MNIST.

    >>> clothes = paddle.vision.datasets.FashionMNIST(mode="test")  # doctest: +SKIP
    """

    NAME = "fashion-mnist"
