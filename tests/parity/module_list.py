"""Lists the public modules of a PaddlePaddle, by reading its sources: python module_list.py <folder that has paddle/> > modules-<version>.txt

A line is `module: name name …`, the names that its __all__ has. Modules without such names, tests and those with an underscore in front are not public.
"""

import ast
import pathlib
import sys


def _names(path, seen=()):
    """The names of __all__: literal lists, and those of modules beside it (`__all__ += nn.__all__`)."""
    if path in seen or not path.exists():
        return []
    found = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target if isinstance(node, ast.AugAssign) else None
        if not isinstance(target, ast.Name) or target.id not in ("__all__", "__activations_noattr__", "__unary_func__"):
            continue
        found = [] if isinstance(node, ast.Assign) and target.id == "__all__" else found
        found += _value(node.value, path, seen)
    return [name for name in found if not name.startswith("_")]


def _value(node, path, seen):
    if isinstance(node, ast.Attribute) and node.attr == "__all__" and isinstance(node.value, ast.Name):
        beside = path.parent / node.value.id
        return _names(beside.with_suffix(".py"), (*seen, path)) or _names(beside / "__init__.py", (*seen, path))
    if isinstance(node, ast.BinOp):
        return _value(node.left, path, seen) + _value(node.right, path, seen)
    try:
        return [name for name in ast.literal_eval(node) if isinstance(name, str)]
    except ValueError:
        return []


def modules(folder):
    """{module: [name, …]}, sorted."""
    found = {}
    for path in sorted(folder.glob("paddle/**/*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if any(part.startswith("_") or part in ("tests", "unittests", "libs", "proto") for part in parts):
            continue
        names = sorted(set(_names(path)))
        if names:
            found[".".join(parts)] = names
    return found


if __name__ == "__main__":
    for module, names in modules(pathlib.Path(sys.argv[1])).items():
        print(f"{module}: {' '.join(names)}")
