"""The Python reference: every public module that docs/modules.md has as here or partly here, made from the signatures and docstrings of the build."""

import contextlib
import importlib
import inspect
import re
import sys
import types
import warnings

# Public, and of no list of PaddlePaddle's.
OWN = [
    "argosy.serve",
    "paddle.distributed.fleet.metrics",
    "paddle.distributed.fleet.utils.fs",
    "paddle.errors",
    "paddle.fluid.core",
    "paddle.fluid.layers.utils",
    "paddle.tensor",
]
_EXAMPLE = re.compile(r"^>>> ", re.M)


HEAD = """# Python reference

Signatures and docstrings of the build. Examples have `paddle`, `fluid`, `np`, `nn` and `F`, and are run by the tests. Which names of
PaddlePaddle are here is in [modules.md](../../modules.md), what was compared in [parity.md](../../parity.md).

| module | names | |
|---|---:|---|"""


def modules(root):
    """The names of the modules, each once, by the alphabet."""
    text = (root / "docs/modules.md").read_text(encoding="utf-8")
    return sorted({name for name, verdict in re.findall(r"^\| [\d.]+ \| `([\w.]+)` \| (here|partly here) \|", text, re.M)} | set(OWN))


def pages(root, packages):
    """{path: markdown}: reference/python/MODULE.md, and the list of them."""
    if str(packages) not in sys.path:
        sys.path.insert(0, str(packages))
    warnings.simplefilter("ignore")
    loaded = {name: importlib.import_module(name) for name in modules(root)}
    homes = _homes(loaded)
    made = {f"reference/python/{name}.md": _page(name, module, homes) for name, module in loaded.items()}
    made["reference/python/index.md"] = _index(loaded)
    return made


def public_names(module):
    """What a module offers: its __all__, or what it defines."""
    own = getattr(module, "__all__", None)
    names = own if own is not None else [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
    return sorted({name for name in names if not name.startswith("_")})


def _value(module, name):
    with contextlib.suppress(Exception):
        return getattr(module, name)
    return None


def _homes(loaded):
    """{id of a callable: (module, name)}, the shortest module's name that has it: there it is described, elsewhere linked."""
    homes = {}
    for module in sorted(loaded, key=lambda name: (name.startswith("paddle.fluid"), name.count("."), name)):
        for name in public_names(loaded[module]):
            value = _value(loaded[module], name)
            if callable(value):
                homes.setdefault(id(value), (module, name))
    return homes


def _index(loaded):
    rows = [f"| [`{name}`]({name}.md) | {len(public_names(module))} | {_first(module.__doc__)} |" for name, module in loaded.items()]
    return "\n".join([HEAD, *rows, ""])


def _first(text):
    sentence = re.split(r"(?<=[.:])\s", " ".join((text or "").split()))[0].rstrip(":")
    return escaped(sentence)


def escaped(text):
    return re.sub(r"([<>*_\[\]|#])", r"\\\1", text)


def _page(module_name, module, homes):
    lines = [f"# {module_name}", "", escaped(inspect.cleandoc(module.__doc__ or "")), ""]
    elsewhere = []
    for name in public_names(module):
        value = _value(module, name)
        home = homes.get(id(value), (module_name, name))
        if callable(value) and home != (module_name, name):
            elsewhere.append(f"- `{name}`: [{home[0]}.{home[1]}]({home[0]}.md#{home[1]})")
        elif not isinstance(value, types.ModuleType):
            lines += _entry(name, value)
    return "\n".join([*lines, *(["## Also here", "", *elsewhere] if elsewhere else []), ""])


def _entry(name, value):
    lines = [f"## {name} {{ #{name} }}", ""]
    if callable(value):
        lines += [f"```python\n{name}{_signature(value)}\n```", ""]
        lines += _text(_docstring(value))
        if isinstance(value, type):
            lines += _methods(value)
    elif value is not None:
        lines += [f"`{escaped(repr(value)[:80])}`", ""]
    return lines


def _methods(value):
    """The public methods that a class defines itself and says something of."""
    rows = []
    for name, method in vars(value).items():
        if not name.startswith("_") and callable(method) and getattr(method, "__doc__", None):
            rows.append(f"| `{name}{_signature(method).replace('|', '&#124;')}` | {_first(method.__doc__)} |")
    return ["| method | |", "|---|---|", *rows, ""] if rows else []


def _signature(value):
    try:
        return re.sub(r" at 0x[0-9a-f]+", "", str(inspect.signature(value)))
    except (TypeError, ValueError):
        first = (getattr(value, "__doc__", None) or "").split("\n")[0]
        return first[first.index("(") :] if re.match(r"\w+\(", first) else "(…)"


def _docstring(value):
    return inspect.cleandoc(vars(value).get("__doc__") or "") if isinstance(value, type) else inspect.getdoc(value) or ""


def _text(docstring):
    """Paragraphs as text, examples as code."""
    lines = []
    for paragraph in re.split(r"\n\s*\n", docstring):
        lines += [f"```pycon\n{paragraph}\n```", ""] if _EXAMPLE.search(paragraph) else [escaped(paragraph), ""]
    return lines
