#!/usr/bin/env python3
"""Writes the stubs of a Python extension, which tell type checkers and editors its names, signatures and docstrings.

    tools/write_stubs.py MODULE FOLDER

MODULE, such as argosy._core, is imported from FOLDER, and FOLDER/argosy/_core/ gets an __init__.pyi and a file for each of its submodules.
pybind11-stubgen writes them. What a binding says of a type that Python cannot see becomes Any.
"""
import ast
import builtins
import os
import pathlib
import subprocess
import sys


def generate(module, folder):
    command = [sys.executable, "-m", "pybind11_stubgen", module, "-o", str(folder), "--ignore-all-errors"]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(folder)}, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise SystemExit(f"write_stubs: pybind11-stubgen failed on {module}; it needs the package pybind11-stubgen, see tools/requirements.txt\n{done.stderr}")


def defined(tree):
    """The names that a module binds at its top."""
    found = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return found


def import_missing(stub, module, of_module):
    """A submodule's signatures name the module's types without an import: adds it."""
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    missing = sorted((used & of_module) - defined(tree) - set(vars(builtins)))
    if missing:
        text = stub.read_text(encoding="utf-8")
        future = "from __future__ import annotations\n"
        stub.write_text(text.replace(future, f"{future}from {module} import {', '.join(missing)}\n", 1), encoding="utf-8")


def main():
    module, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    generate(module, folder)
    made = folder / module.replace(".", "/")
    of_module = defined(ast.parse((made / "__init__.pyi").read_text(encoding="utf-8")))
    for stub in sorted(made.glob("*.pyi")):
        if stub.stem != "__init__":
            import_missing(stub, module, of_module)


if __name__ == "__main__":
    main()
