#!/usr/bin/env python3
"""Writes the stubs of a Python extension, which tell type checkers and editors its names, signatures and docstrings.

    tools/write_stubs.py MODULE FOLDER [SUBMODULE=STUB…]

MODULE, such as argosy._core, is imported from FOLDER, and FOLDER/argosy/_core/ gets an __init__.pyi and a file for each of its submodules.
pybind11-stubgen writes them. What a binding says of a type that Python cannot see becomes Any. The functions of a STUB, made elsewhere with more
knowledge, take the place of those that were read from the submodule.
"""

import ast
import builtins
import os
import pathlib
import shutil
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


class _Fitting(ast.NodeTransformer):
    """Types as callers see them: an argument whose default is None takes it, and what a caster makes from many types is Any."""

    ANY = "typing.Any"
    CAST = ("ParamAttr", "numpy.dtype[")  # names, booleans and initializers become the one, names and numbers of types the other

    def visit_arguments(self, node):
        pairs = [*zip(reversed([*node.posonlyargs, *node.args]), reversed(node.defaults)), *zip(node.kwonlyargs, node.kw_defaults)]
        for argument in [*node.posonlyargs, *node.args, *node.kwonlyargs]:
            if argument.annotation is not None and any(kind in ast.unparse(argument.annotation) for kind in self.CAST):
                argument.annotation = ast.Name(self.ANY)
        for argument, default in pairs:
            if isinstance(default, ast.Constant) and default.value is None and argument.annotation is not None:
                text = ast.unparse(argument.annotation)
                if text != self.ANY and not text.endswith("| None"):
                    argument.annotation = ast.Name(f"{text} | None")
        return self.generic_visit(node)

    def visit_Subscript(self, node):
        return ast.Name("list[typing.Any]") if isinstance(node.slice, ast.Constant) and node.slice.value is ... else self.generic_visit(node)


def take_over(stub, made):
    """Puts the functions of the stub `made` in the place of those of their names."""
    functions = {node.name: node for node in ast.parse(made.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)}
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    read = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    if missing := sorted(functions.keys() - read):
        raise SystemExit(f"write_stubs: {made} has functions that the extension lacks: {', '.join(missing)}; both come from one build, so build it again")
    tree.body = [functions.get(node.name, node) if isinstance(node, ast.FunctionDef) else node for node in tree.body]
    stub.write_text(ast.unparse(tree) + "\n", encoding="utf-8")


def refine(stub, module, of_module):
    """Fits the types of a stub. A submodule's name the module's types without an import, which is added."""
    tree = _Fitting().visit(ast.parse(stub.read_text(encoding="utf-8")))
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    missing = sorted((used & of_module) - defined(tree) - set(vars(builtins)))
    at = 1 + next(i for i, node in enumerate(tree.body) if isinstance(node, ast.ImportFrom) and node.module == "__future__")
    tree.body[at:at] = [ast.Import([ast.alias("typing")])] if "typing" not in defined(tree) else []
    tree.body[at:at] = [ast.ImportFrom(module, [ast.alias(name) for name in missing], 0)] if missing else []
    stub.write_text(ast.unparse(ast.fix_missing_locations(tree)) + "\n", encoding="utf-8")


def main():
    module, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    made = folder / module.replace(".", "/")
    shutil.rmtree(made, ignore_errors=True)  # a module that is gone leaves no stub
    generate(module, folder)
    of_module = defined(ast.parse((made / "__init__.pyi").read_text(encoding="utf-8")))
    for submodule, _, better in (argument.partition("=") for argument in sys.argv[3:]):
        take_over(made / f"{submodule}.pyi", pathlib.Path(better))
    for stub in sorted(made.glob("*.pyi")):
        refine(stub, module, of_module)


if __name__ == "__main__":
    main()
