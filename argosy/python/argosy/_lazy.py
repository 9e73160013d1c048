"""Package attributes that are imported when they are first used.

A package's __init__.pyi is the one list of them: type checkers and editors read it as a stub, and the package itself reads it here.
"""

import importlib
import sys


def _hint(name, known):
    import difflib  # slow to import, and only needed here

    near = [] if name.startswith("_") else difflib.get_close_matches(name, known, 1)
    return f"; did you mean '{near[0]}'?" if near else ""


def _read(stub):
    """(submodules, {name: the module that has it}) of a stub, which has one import on a line: `from .module import name as name`."""
    modules, members = set(), {}
    with open(stub, encoding="utf-8") as lines:
        for line in lines:
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if len(words) != 6 or words[::2] != ["from", "import", "as"] or words[3] != words[5]:
                raise ImportError(f"{stub}: a line is 'from .module import name as name'; found '{line.strip()}'")
            if words[1] == ".":
                modules.add(words[3])
            else:
                members[words[3]] = words[1]
    return modules, members


def members_of(stub):
    """{name: the module that has it} of a stub."""
    return _read(stub)[1]


def attach(package, file, star_modules=False):
    """__getattr__ and __dir__ (PEP 562) of a package, given its __name__ and __file__, from the stub beside it.

    Its __all__, for `from package import *`, is found on first use too: all that the stub has from submodules, and with star_modules the
    submodules themselves.
    """
    stub = []  # what _read found, once something was asked for: an import alone reads no stub

    def listed():
        if not stub:
            stub.extend(_read(file.rpartition(".")[0] + ".pyi"))
        return stub

    def find(name):
        modules, members = listed()
        if name in members:
            return getattr(importlib.import_module(members[name], package), name)
        if name in modules:
            return importlib.import_module(f".{name}", package)
        if name == "__all__":
            return sorted(one for one in ({*modules, *members} if star_modules else members) if not one.startswith("_"))
        raise AttributeError(f"module '{package}' has no attribute '{name}'{_hint(name, [*modules, *members])}")

    def __getattr__(name):
        value = find(name)
        setattr(sys.modules[package], name, value)
        return value

    def __dir__():
        modules, members = listed()
        return sorted({*vars(sys.modules[package]), *modules, *members})

    return __getattr__, __dir__
