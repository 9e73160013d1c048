"""paddle.nn on static programs: initializers, clips and functions."""
from argosy import _lazy

_NAMES = {name: "clip" for name in ("ClipGradByValue", "ClipGradByNorm", "ClipGradByGlobalNorm")}

__getattr__, __dir__ = _lazy.names(__name__, ("initializer", "functional", "clip"), _NAMES)
