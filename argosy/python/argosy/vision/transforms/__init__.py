"""paddle.vision.transforms: changes of images, as classes and, in functional, as functions."""

from argosy import _lazy

__getattr__, __dir__ = _lazy.attach(__name__, __file__)
