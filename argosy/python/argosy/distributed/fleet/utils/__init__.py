"""Files on this machine and in Hadoop, recomputation, and inference beside servers."""

from argosy import _lazy

__getattr__, __dir__ = _lazy.attach(__name__, __file__)
