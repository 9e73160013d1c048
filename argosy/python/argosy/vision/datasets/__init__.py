"""Image data sets, from the files that Paddle keeps in ~/.cache/paddle/dataset. Nothing is downloaded."""
from argosy import _lazy

_WHERE = {"cifar": "Cifar10 Cifar100", "mnist": "MNIST FashionMNIST", "folder": "DatasetFolder ImageFolder"}

__getattr__, __dir__ = _lazy.names(__name__, tuple(_WHERE), {name: module for module, names in _WHERE.items() for name in names.split()})
