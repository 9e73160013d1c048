"""Images in folders."""

import os

from argosy.errors import NotFoundError
from argosy.io.datasets import Dataset

__all__ = ["DatasetFolder", "ImageFolder"]

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def _open(path):
    from PIL import Image

    with open(path, "rb") as file:
        return Image.open(file).convert("RGB")


def _files(root, extensions, is_valid_file):
    chosen = is_valid_file or (lambda path: path.lower().endswith(extensions or IMG_EXTENSIONS))
    return [path for folder, _, names in sorted(os.walk(root, followlinks=True)) for name in sorted(names) if chosen(path := os.path.join(folder, name))]


class DatasetFolder(Dataset):
    """(sample, number of its class): a folder of the root is a class, in order of name. `loader` reads a file, a PIL image unless given.

    >>> import os
    >>> os.makedirs("pets/cat", exist_ok=True)
    >>> np.save("pets/cat/1.npy", np.zeros(2))
    >>> data = paddle.vision.datasets.DatasetFolder("pets", loader=np.load, extensions=[".npy"])
    >>> data.classes, len(data)
    (['cat'], 1)
    """

    def __init__(self, root, loader=None, extensions=None, transform=None, is_valid_file=None):
        self.root, self.loader, self.transform = root, loader or _open, transform
        self.classes = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}
        self.samples = [
            (path, self.class_to_idx[name])
            for name in self.classes
            for path in _files(os.path.join(root, name), extensions and tuple(extensions), is_valid_file)
        ]
        if not self.samples:
            raise NotFoundError(f"{root}: no folder in it has a sample")
        self.targets = [label for _, label in self.samples]

    def __getitem__(self, index):
        path, target = self.samples[index]
        sample = self.loader(path)
        return sample if self.transform is None else self.transform(sample), target

    def __len__(self):
        return len(self.samples)


class ImageFolder(Dataset):
    """[sample] of every file under the root. `loader` reads a file, a PIL image unless given.

    >>> import os
    >>> os.makedirs("pictures", exist_ok=True)
    >>> np.save("pictures/1.npy", np.zeros(2))
    >>> len(paddle.vision.datasets.ImageFolder("pictures", loader=np.load, extensions=[".npy"]))
    1
    """

    def __init__(self, root, loader=None, extensions=None, transform=None, is_valid_file=None):
        self.root, self.loader, self.transform = root, loader or _open, transform
        self.samples = _files(root, extensions and tuple(extensions), is_valid_file)
        if not self.samples:
            raise NotFoundError(f"{root}: there is no sample in it")

    def __getitem__(self, index):
        sample = self.loader(self.samples[index])
        return [sample if self.transform is None else self.transform(sample)]

    def __len__(self):
        return len(self.samples)
