"""Package attributes that are imported when they are first used."""
import difflib
import importlib
import importlib.metadata
import sys


def version():
    try:
        return importlib.metadata.version("argosy")
    except importlib.metadata.PackageNotFoundError:
        return "0+build"


def names(package, modules, members):
    """A package's __getattr__ and __dir__ (PEP 562).

    modules: submodules, found as attributes without an import statement.
    members: attribute -> submodule that has it, or "submodule:name" where it is called otherwise there. The submodule is named
    from the package, or from argosy where the package has none of that name.
    """
    known = sorted({*modules, *members})

    def find(name):
        if name in members:
            module, _, member = members[name].partition(":")
            return getattr(importlib.import_module(f"{package}.{module}"), member or name)
        if name in modules:
            return importlib.import_module(f"{package}.{name}")
        near = difflib.get_close_matches(name, known, 1)
        hint = f"; did you mean '{near[0]}'?" if near and not name.startswith("_") else ""
        raise AttributeError(f"module '{package}' has no attribute '{name}'{hint}")

    def __getattr__(name):
        value = find(name)
        setattr(sys.modules[package], name, value)
        return value

    def __dir__():
        return sorted({*vars(sys.modules[package]), *known})

    return __getattr__, __dir__
