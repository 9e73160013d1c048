"""Models for images."""
from argosy import _lazy

_WHERE = {"resnet": "ResNet resnet18 resnet34 resnet50 resnet101 resnet152", "lenet": "LeNet"}

__getattr__, __dir__ = _lazy.names(__name__, tuple(_WHERE), {name: module for module, names in _WHERE.items() for name in names.split()})
