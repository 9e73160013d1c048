"""paddle.utils: generated names."""
from argosy import _lazy

__getattr__, __dir__ = _lazy.names(__name__, (), {"unique_name": "names:unique_name"})
