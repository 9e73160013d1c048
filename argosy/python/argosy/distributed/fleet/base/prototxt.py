"""Text of protocol buffers, as far as strategies need it: numbers, texts, true and false, and groups of them. A name that is there
several times has a list."""

import json
import re
from typing import Any

__all__ = ["read", "write"]

_TOKEN = re.compile(r"""\s*(?:\#[^\n]*|(?P<name>[A-Za-z_]\w*)|(?P<number>[-+]?[\d.][\w.+-]*)|(?P<text>"(?:\\.|[^"\\])*")|(?P<sign>[{}:]))""")
_WORDS = {"true": True, "false": False}


def write(fields, indent=""):
    lines = []
    for name, value in fields.items():
        if isinstance(value, dict):
            lines.append(f"{indent}{name} {{\n{write(value, indent + '  ')}{indent}}}\n")
        else:
            values = value if isinstance(value, list) else [value]
            lines += [f"{indent}{name}: {json.dumps(one)}\n" for one in values]
    return "".join(lines)


def _tokens(text, file):
    at = 0
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError(f"{file}:{text.count(chr(10), 0, at) + 1}: not text of protocol buffers: {text[at : at + 30].strip()!r}")
        at = found.end()
        if found.lastgroup:
            yield found.lastgroup, found.group(found.lastgroup), text.count("\n", 0, at) + 1
    yield "end", "the end", text.count("\n") + 1


def _scalar(kind, token):
    if kind == "name" and token in _WORDS:
        return _WORDS[token]
    if kind == "text":
        return json.loads(token)
    if kind == "number":
        return float(token) if re.search("[.eE]", token) else int(token)
    raise ValueError(token)


def read(text, file) -> Any:
    """{name: value or dict} of a text; what cannot be read is a ValueError that names file and line."""
    return _group(_tokens(text, file), file, "end")


def _listed(value):
    return value if isinstance(value, list) else [value]


def _group(tokens, file, closing):
    fields = {}
    for kind, token, line in tokens:
        if closing in (kind, token):
            return fields
        if kind == "end":
            raise ValueError(f"{file}:{line}: a group is not closed")
        if kind != "name":
            raise ValueError(f"{file}:{line}: expected a field's name; found {token!r}")
        name = token
        kind, token, line = next(tokens)
        if token == ":":
            kind, token, line = next(tokens)
        try:
            value = _group(tokens, file, "}") if token == "{" else _scalar(kind, token)
            fields[name] = [*_listed(fields[name]), value] if name in fields else value
        except ValueError as error:
            if str(error).startswith(file):
                raise
            raise ValueError(f"{file}:{line}: field '{name}' has no value that can be read; found {token!r}") from None
