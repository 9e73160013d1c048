"""The C++ programs of an installed wheel as commands of its environment: what [project.scripts] of pyproject.toml names.

Imports nothing of the package: a pipe command such as `argosy criteo` starts one for each file.
"""

import os
import pathlib
import sys


def _become(name):
    """Replaces this process by the program. Scripts that it starts run with this interpreter unless ARGOSY_PYTHON says otherwise."""
    os.environ.setdefault("ARGOSY_PYTHON", sys.executable)
    os.execv(pathlib.Path(__file__).parent / "bin" / name, [name, *sys.argv[1:]])


def argosy():
    """Becomes `argosy`."""
    _become("argosy")


def argosy_server():
    """Becomes `argosy-server`."""
    _become("argosy-server")


def fleetrun():
    """Becomes `fleetrun`."""
    _become("fleetrun")
