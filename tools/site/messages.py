"""The messages of errors, read from the sources: every text that a Status is made with, and that the Python package raises."""

import re

_STATUS = re.compile(r"Status::(?!ok_status)([a-z_]+)\(\s*((?:\"(?:\\.|[^\"\\])*\"\s*)+)")
_FORMAT = re.compile(r"fmt::format\(\s*((?:\"(?:\\.|[^\"\\])*\"\s*)+)")
_RAISE = re.compile(r"raise ([A-Z]\w+)\(\s*((?:f?\"(?:\\.|[^\"\\])*\"\s*)+)")
_LITERAL = re.compile(r"f?\"((?:\\.|[^\"\\])*)\"")
# Files whose errors are texts that become a Status elsewhere.
_TEXTS = {"argosy/data/multislot.cc": "invalid_argument", "argosy/data/criteo_decoder.cc": "invalid_argument", "argosy/data/criteo.cc": "invalid_argument"}


HEAD = """# All messages

Every text that an error is made with, from the sources; … is filled in when it happens. What to do about the usual ones is in
[Messages and what to do](../errors.md). The kind is the class in Python (`InvalidArgumentError` for `invalid_argument`) and the
`Code` in C++."""


def joined(literals):
    """The text of adjacent literals, with … for what is filled in."""
    text = "".join(_LITERAL.findall(literals)).replace('\\"', '"').replace("\\n", " ").replace("\\\\", "\\")
    return " ".join(re.sub(r"(?<!\{)\{[^{}]*\}(?!\})", "…", text).replace("{{", "{").replace("}}", "}").split())


def messages(root):
    """[(room, kind, text, file)], each text once per file: all that a user may see."""
    found = []
    for path in sorted(root.glob("argosy/**/*.cc")) + sorted(root.glob("argosy/**/*.h")):
        name = path.relative_to(root).as_posix()
        if re.search(r"_(test|bench)\.|/testing/", name):
            continue
        source = path.read_text(encoding="utf-8")
        found += [(_room(name), kind, joined(text), name) for kind, text in _STATUS.findall(source)]
        if name in _TEXTS:
            found += [(_room(name), _TEXTS[name], joined(text), name) for text in _FORMAT.findall(source)]
    for path in sorted(root.glob("argosy/python/argosy/**/*.py")):
        name = path.relative_to(root).as_posix()
        found += [("python", kind, joined(text), name) for kind, text in _RAISE.findall(path.read_text(encoding="utf-8"))]
    return sorted({one for one in found if len(one[2].replace("…", "").strip(" :;,'.")) > 3})


def _room(name):
    return name.split("/")[1]


def page(root):
    """The list of all of them, for the site's search."""
    lines = [*HEAD.split("\n"), ""]
    rooms = {}
    for room, kind, text, name in messages(root):
        rooms.setdefault(room, []).append(f"| `{text.replace('`', chr(39)).replace('|', '&#124;')}` | {kind} | {name.removeprefix('argosy/')} |")
    for room, rows in rooms.items():
        lines += [f"## {room}", "", "| message | kind | from |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)
