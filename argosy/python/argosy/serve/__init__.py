"""What is made of saved models: files of other formats (`argosy convert`)."""

from argosy import _lazy

__getattr__, __dir__ = _lazy.attach(__name__, __file__)
