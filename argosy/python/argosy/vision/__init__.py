"""paddle.vision: image data sets, changes of images, and models."""
from argosy import _lazy

__getattr__, __dir__ = _lazy.names(__name__, ("transforms", "datasets", "models"), {}, starred=("transforms", "datasets", "models"))
