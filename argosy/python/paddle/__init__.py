"""The name `paddle` for argosy's modules: `paddle.x.y` is the module argosy.x.y itself, not a copy."""
import importlib
import importlib.machinery
import importlib.util
import sys

_ALIAS = "paddle"
_REAL = "argosy"


class _Loader:
    """Hands out a module that exists under another name. The rest is for runpy (`python -m`)."""

    def __init__(self, real):
        self._real = real
        self._spec = importlib.util.find_spec(real)

    def create_module(self, spec):
        return importlib.import_module(self._real)

    def exec_module(self, module):
        module.__spec__ = self._spec  # the import system has put the alias's own there

    def is_package(self, fullname):
        return self._spec.submodule_search_locations is not None

    def get_code(self, fullname):
        return self._spec.loader.get_code(self._real)

    def get_source(self, fullname):
        return self._spec.loader.get_source(self._real)

    def get_filename(self, fullname):
        return self._spec.origin


class _Finder:
    def find_spec(self, fullname, path=None, target=None):
        if not fullname.startswith(_ALIAS + "."):
            return None
        real = _REAL + fullname[len(_ALIAS):]
        try:
            found = importlib.util.find_spec(real)
        except ModuleNotFoundError:
            found = None
        if found is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, _Loader(real), origin=found.origin, is_package=found.submodule_search_locations is not None)


sys.meta_path.insert(0, _Finder())
sys.modules[_ALIAS] = importlib.import_module(_REAL)
