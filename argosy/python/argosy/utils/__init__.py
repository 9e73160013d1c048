"""paddle.utils: generated names, the version that a script needs, a check of the installation."""
from argosy import _lazy

__getattr__, __dir__ = _lazy.names(__name__, (), {
    "unique_name": "names:unique_name", "require_version": "requirements", "run_check": "install_check"})
