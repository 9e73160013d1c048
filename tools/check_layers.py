#!/usr/bin/env python3
"""Holds the includes of argosy/ to tools/layers.toml.

    tools/check_layers.py                 this checkout
    tools/check_layers.py --root DIR      another one: DIR/argosy against DIR/tools/layers.toml

Prints a line for each include that the table does not allow, for each allowance that nothing uses and for each mistake
in the table itself, and exits 1 if there is one. argosy/argosy.h and argosy/collective.h, the public umbrellas, may include every room.
"""
import argparse
import dataclasses
import pathlib
import re
import sys
import tomllib

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
CODE = {".h", ".cc"}
UMBRELLAS = {"argosy.h", "collective.h"}
# Folders of argosy/ that hold no C++ room of their own.
NOT_ROOMS = {"__pycache__"}


@dataclasses.dataclass
class Room:
    name: str
    holds: str
    may_use: list[str] = dataclasses.field(default_factory=list)
    may_include: list[str] = dataclasses.field(default_factory=list)
    test_may_use: list[str] = dataclasses.field(default_factory=list)
    unfinished: bool = False
    tests_only: bool = False


@dataclasses.dataclass(frozen=True)
class Include:
    path: pathlib.Path
    line: int
    target: str
    quoted: bool

    @property
    def in_test(self):
        return self.path.stem.endswith(("_test", "_bench"))

    @property
    def room(self):
        """The room that the target lives in, or None if it is not ours."""
        parts = self.target.split("/")
        return parts[1] if parts[0] == "argosy" and len(parts) > 2 else None


def read_table(path):
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return table["gated"], {room["name"]: Room(**room) for room in table["room"]}


def table_mistakes(rooms, gated):
    below = {}
    for room in rooms.values():
        for used in room.may_use + room.test_may_use:
            if used not in rooms:
                yield f"layers.toml: '{room.name}' may use '{used}', which is no room of the table"
        for used in room.may_use:
            if used in rooms and used not in below:
                yield f"layers.toml: '{room.name}' may use '{used}', which is not below it; rooms stand lowest first"
            elif used in rooms and rooms[used].tests_only and not room.tests_only:
                yield f"layers.toml: '{room.name}' may use '{used}', which is for tests only; say test_may_use"
        for prefix in room.may_include:
            if prefix not in gated:
                yield f"layers.toml: '{room.name}' may include '{prefix}', which is not in gated"
        below[room.name] = room


def includes_of(folder, root):
    for path in sorted(folder.rglob("*")):
        if path.suffix not in CODE:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if found := INCLUDE.match(line):
                yield Include(path.relative_to(root), number, found[2], found[1] == '"')


def include_mistake(include, room, rooms, gated):
    """Why `room` may not have this include, or None."""
    if ".." in include.target.split("/"):
        return "goes up a folder; give the path from the root, argosy/<room>/<file>"
    if include.quoted and not include.target.startswith("argosy/"):
        return "is a quoted path that does not begin with argosy/; quote our own headers only, from the root"
    if include.target in {f"argosy/{name}" for name in UMBRELLAS}:
        return "is a public umbrella, for users and examples; include the header of the room that is meant"
    used = include.room
    if used is not None and used != room.name:
        if used not in rooms:
            return f"names '{used}', which is no room of tools/layers.toml"
        allowed = room.may_use + (room.test_may_use if include.in_test else [])
        if used not in allowed:
            only = " outside its tests" if used in room.test_may_use else ""
            return f"uses room '{used}', which '{room.name}' may not{only}; it may use {', '.join(room.may_use) or 'none'}"
    for prefix in gated:
        if include.target.startswith(prefix) and prefix not in room.may_include:
            return f"is a header of '{prefix}', which '{room.name}' may not include"
    return None


def unused_allowances(room, includes):
    used = {i.room for i in includes if not i.in_test}
    used_by_tests = {i.room for i in includes if i.in_test}
    for name in room.may_use:
        if name not in used:
            yield f"layers.toml: '{room.name}' may use '{name}' and does not; take it out"
    for name in room.test_may_use:
        if name not in used_by_tests:
            yield f"layers.toml: tests of '{room.name}' may use '{name}' and do not; take it out"
    for prefix in room.may_include:
        if not any(i.target.startswith(prefix) for i in includes):
            yield f"layers.toml: '{room.name}' may include '{prefix}' and does not; take it out"


def folder_mistakes(code, rooms):
    for path in sorted(code.iterdir()):
        if path.is_dir() and path.name not in rooms and path.name not in NOT_ROOMS:
            yield f"argosy/{path.name}: a folder that is no room of tools/layers.toml; add it there, in its place"
        elif path.is_file() and path.suffix in CODE and path.name not in UMBRELLAS:
            yield f"argosy/{path.name}: a source outside every room; only {' and '.join(sorted(UMBRELLAS))} stand here"
    for room in rooms.values():
        if not (code / room.name).is_dir() and not room.unfinished:
            yield f"layers.toml: room '{room.name}' has no folder argosy/{room.name}"


def check(root):
    """Every mistake under root, as lines for a reader."""
    gated, rooms = read_table(root / "tools" / "layers.toml")
    code = root / "argosy"
    mistakes = [*table_mistakes(rooms, gated), *folder_mistakes(code, rooms)]
    for room in rooms.values():
        includes = list(includes_of(code / room.name, root))
        for include in includes:
            if why := include_mistake(include, room, rooms, gated):
                mistakes.append(f"{include.path}:{include.line}: '{include.target}' {why}")
        if not room.unfinished:
            mistakes += unused_allowances(room, includes)
    return mistakes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    mistakes = check(parser.parse_args().root)
    for mistake in mistakes:
        print(mistake)
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
