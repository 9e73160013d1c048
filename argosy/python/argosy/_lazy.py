"""Package attributes that are imported when they are first used."""
import importlib
import sys


def _hint(name, known):
    import difflib  # slow to import, and only needed here

    near = [] if name.startswith("_") else difflib.get_close_matches(name, known, 1)
    return f"; did you mean '{near[0]}'?" if near else ""


def names(package, modules, members, further=None, starred=()):
    """A package's __getattr__ and __dir__ (PEP 562). Its __all__, for `from package import *`, is found on first use too: all members.

    modules: submodules, found as attributes without an import statement.
    members: attribute -> submodule that has it, or "submodule:name" where it is called otherwise there.
    further: a submodule that is asked for any other name. It is imported only then.
    starred: submodules that `import *` gives too.
    """
    known = sorted({*modules, *members})

    def further_names():
        return () if further is None else importlib.import_module(f"{package}.{further}").__all__

    def find(name):
        if name == "__all__":
            return sorted(one for one in {*members, *starred, *further_names()} if not one.startswith("_"))
        if name in members:
            module, _, member = members[name].partition(":")
            return getattr(importlib.import_module(f"{package}.{module}"), member or name)
        if name in modules:
            return importlib.import_module(f"{package}.{name}")
        if further is not None and not name.startswith("_"):
            more = importlib.import_module(f"{package}.{further}")
            if name in more.__all__:
                return getattr(more, name)
            raise AttributeError(f"module '{package}' has no attribute '{name}'{_hint(name, [*known, *more.__all__])}")
        raise AttributeError(f"module '{package}' has no attribute '{name}'{_hint(name, known)}")

    def __getattr__(name):
        value = find(name)
        setattr(sys.modules[package], name, value)
        return value

    def __dir__():
        return sorted({*vars(sys.modules[package]), *known, *further_names()})

    return __getattr__, __dir__
