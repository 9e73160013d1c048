"""The name `paddle` for argosy's modules: `paddle.x.y` is the module argosy.x.y itself, not a copy. Only the version is its own: that
of the dialect (paddle.version), where argosy's is that of the distribution."""

# pyright: reportOptionalMemberAccess=false, reportAttributeAccessIssue=false, reportArgumentType=false
# A loader by its methods alone: importlib.abc and typing would cost more to import than all of this.
import importlib
import importlib.machinery
import importlib.util
import sys
import types

_ALIAS = "paddle"
_REAL = "argosy"
# PaddlePaddle's files that scripts import from -> the module here that has their names.
_ELSEWHERE = {
    "nn.functional": ("nn.functional", "activation common conv distance extension input loss norm pooling vision"),
    "nn.layer": ("nn", "activation common container conv distance layers loss norm pooling rnn transformer vision"),
    "optimizer": ("optimizer", "adadelta adagrad adam adamax adamw lamb momentum optimizer rmsprop sgd"),
    "tensor": ("", "attribute creation einsum logic manipulation math random search stat"),
    "framework": ("framework", "framework io random"),
    "io": ("io", "dataloader reader"),
    "hapi": ("", "model"),
    "distributed.fleet": ("distributed.fleet", "data_generator dataset"),
}
_ONE_BY_ONE = {"hapi.callbacks": "callbacks", "utils.unique_name": "fluid.unique_name", "tensor.linalg": "linalg"}
_OWN = ("version", "__version__")  # attributes of this module; all others are argosy's


class _Loader:
    """Hands out a module that exists under another name. The rest is for runpy (`python -m`)."""

    def __init__(self, real):
        self._real = real
        self._spec = importlib.util.find_spec(real)  # there: the finder has looked

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


def _elsewhere(name):
    """The module here for `name`, one of PaddlePaddle's files, behind the alias; None where there is none."""
    folder, _, last = name.rpartition(".")
    place, names = _ELSEWHERE.get(folder, ("", ""))
    found = _ONE_BY_ONE.get(name, place if last in names.split() else None)
    return None if found is None else f"{_REAL}.{found}".rstrip(".")


class _Finder:
    def find_spec(self, fullname, path=None, target=None):
        if not fullname.startswith(_ALIAS + ".") or fullname == _ALIAS + ".version":
            return None
        real = _REAL + fullname[len(_ALIAS) :]
        try:
            found = importlib.util.find_spec(real)
        except ModuleNotFoundError:
            found = None
        if found is None:
            real = _elsewhere(fullname[len(_ALIAS) + 1 :])
            found = importlib.util.find_spec(real) if real else None
        if found is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, _Loader(real), origin=found.origin, is_package=found.submodule_search_locations is not None)


class _Alias(types.ModuleType):
    """What this module becomes: whatever it is asked for, and whatever is assigned to it, is argosy's."""

    def __getattr__(self, name):
        return getattr(sys.modules[_REAL], name)

    def __setattr__(self, name, value):
        if name in _OWN or (name.startswith("__") and name.endswith("__")):
            super().__setattr__(name, value)
        else:
            setattr(sys.modules[_REAL], name, value)

    def __delattr__(self, name):
        delattr(sys.modules[_REAL], name)

    def __dir__(self):
        return dir(sys.modules[_REAL])


sys.meta_path.insert(0, _Finder())
importlib.import_module(_REAL)
version = importlib.import_module(_ALIAS + ".version")
__version__ = version.full_version
sys.modules[_ALIAS].__class__ = _Alias
