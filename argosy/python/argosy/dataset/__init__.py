"""paddle.dataset: readers of well-known data sets, from the files that Paddle keeps in ~/.cache/paddle/dataset."""
import importlib

__all__ = ["cifar", "common", "mnist", "uci_housing"]


def __getattr__(name):
    if name in __all__:
        return importlib.import_module(__name__ + "." + name)
    raise AttributeError("paddle.dataset has no %r; it has %s" % (name, ", ".join(__all__)))
