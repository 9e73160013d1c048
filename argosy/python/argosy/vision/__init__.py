"""paddle.vision: image data sets, changes of images, and models."""

from argosy import _lazy

__getattr__, __dir__ = _lazy.attach(__name__, __file__, star_modules=True)
