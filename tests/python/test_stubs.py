"""The stubs say what is there: a package's __init__.pyi, which is also where the package finds its names, and those of the extension."""

import ast
import importlib
import pathlib

import pytest

import argosy
from argosy import _core, _lazy

FOLDER = pathlib.Path(argosy.__file__).parent
SOURCES = pathlib.Path(__file__).resolve().parents[2] / "argosy" / "python"
PACKAGES = sorted(str(stub.parent.relative_to(SOURCES)).replace("/", ".") for stub in (SOURCES / "argosy").rglob("__init__.pyi"))


def names_of(stub):
    """The names that a stub defines at its top."""
    found = set()
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            found.update(alias.asname or alias.name for alias in node.names)
    return found


def test_the_packages_are_found():
    assert {"argosy", "argosy.fluid", "argosy.nn", "argosy.vision.models"} <= set(PACKAGES)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_of_a_packages_stub_is_there(package):
    module = importlib.import_module(package)
    listed = names_of(pathlib.Path(module.__file__).with_suffix(".pyi"))
    assert listed and listed <= set(dir(module))
    for name in dir(module):
        getattr(module, name)
    assert set(module.__all__) <= listed


@pytest.mark.parametrize("module, stub", [(_core, "__init__.pyi"), (_core.layers, "layers.pyi")])
def test_the_extensions_stub_has_every_public_name(module, stub):
    public = {name for name in vars(module) if not name.startswith("_")}
    assert public - names_of(FOLDER / "_core" / stub) == set()


def test_the_types_of_a_layer_function_are_those_of_its_operators_entry():
    functions = {node.name: node for node in ast.parse((FOLDER / "_core" / "layers.pyi").read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)}
    relu6, concat, topk = (functions[name] for name in ("relu6", "concat", "topk"))
    assert ast.unparse(relu6.args) == "x: Variable, threshold: float=6.0, name: str | None=None"
    assert ast.unparse(concat.args) == "input: Variable | list[Variable], axis: int | Variable=0, name: str | None=None"
    assert [ast.unparse(function.returns) for function in (relu6, topk)] == ["Variable", "tuple[Variable, ...]"]


# Wildcards and lists of several names would be read by type checkers, and be no names of the package.
def test_a_stub_of_another_form_is_refused(tmp_path):
    (tmp_path / "__init__.pyi").write_text("from .x import a as a\nfrom .x import b, c\n", encoding="utf-8")
    getattribute, _ = _lazy.attach("argosy", str(tmp_path / "__init__.py"))
    with pytest.raises(ImportError, match=r"__init__.pyi: a line is 'from .module import name as name'; found 'from .x import b, c'"):
        getattribute("a")
