#!/usr/bin/env python3
"""Holds the includes of argosy/ to tools/layers.toml.

    tools/check_layers.py                 this checkout
    tools/check_layers.py --root DIR      another one: DIR/argosy against DIR/tools/layers.toml

Prints a line for each include that the table does not allow, for each cycle of includes between files, for each allowance that nothing uses and
for each mistake in the table itself, and exits 1 if there is one. argosy/argosy.h and argosy/collective.h, the public umbrellas, may include every room.

A room may be divided into sub-layers, "ps/client" beside "ps/server": each is a row of the table like a room, and every source of the room lies in one.

A file is x.h and x.cc together: x includes what either of them does. Tests, benchmarks and what only they include are not looked at for cycles.
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
    def ours(self):
        return self.target.startswith("argosy/") and self.target.count("/") > 1


def room_of(path, rooms):
    """The room, or the sub-layer of one, that a file of argosy/ lives in; the name of its folder where that is none."""
    parts = path.split("/")[1:-1]
    return next(("/".join(parts[:n]) for n in range(len(parts), 0, -1) if "/".join(parts[:n]) in rooms), parts[0])


def read_table(path):
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    known = [frozenset(cycle) for cycle in table.get("known_cycles", [])]
    return table["gated"], {room["name"]: Room(**room) for room in table["room"]}, known


def table_mistakes(rooms, gated):
    below = {}
    for room in rooms.values():
        if "/" in room.name and room.name.split("/")[0] in rooms:
            yield f"layers.toml: '{room.name}' is a part of '{room.name.split('/')[0]}', which is a room of the table itself; take that out"
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
    used = room_of(include.target, rooms) if include.ours else None
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


def unused_allowances(room, rooms, includes):
    used = {room_of(i.target, rooms) for i in includes if i.ours and not i.in_test}
    used_by_tests = {room_of(i.target, rooms) for i in includes if i.ours and i.in_test}
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
    divided = {name.split("/")[0] for name in rooms if "/" in name}
    for name in sorted(divided):
        for path in sorted((code / name).rglob("*")):
            inside = path.relative_to(code.parent).as_posix()
            if path.suffix in CODE and room_of(inside, rooms) not in rooms:
                parts = ", ".join(sorted(room for room in rooms if room.startswith(name + "/")))
                yield f"{inside}: a source outside every sub-layer of '{name}'; they are {parts}"
    for path in sorted(code.iterdir()):
        if path.is_dir() and path.name not in rooms and path.name not in NOT_ROOMS and path.name not in divided:
            yield f"argosy/{path.name}: a folder that is no room of tools/layers.toml; add it there, in its place"
        elif path.is_file() and path.suffix in CODE and path.name not in UMBRELLAS:
            yield f"argosy/{path.name}: a source outside every room; only {' and '.join(sorted(UMBRELLAS))} stand here"
    for room in rooms.values():
        if not (code / room.name).is_dir() and not room.unfinished:
            yield f"layers.toml: room '{room.name}' has no folder argosy/{room.name}"


def unit_of(path):
    """x.h and x.cc are one file of the room."""
    return re.sub(r"\.(h|cc)$", "", path)


def file_graph(includes, root):
    """Which files of argosy/ include which, by unit."""
    graph = {}
    for include in includes:
        unit = unit_of(include.path.as_posix())
        graph.setdefault(unit, set())
        if not include.in_test and include.ours and (root / include.target).is_file() and unit_of(include.target) != unit:
            graph[unit].add(unit_of(include.target))
    return graph


def cycles(graph):
    """The knots of a graph: sets of files each of which reaches all others of its set. Tarjan's algorithm, without recursion."""
    order, low, stack, on_stack, knots = {}, {}, [], set(), []
    for start in sorted(graph):
        work = [(start, iter(sorted(graph[start])))] if start not in order else []
        while work:
            node, rest = work[-1]
            if node not in order:
                order[node] = low[node] = len(order)
                stack.append(node)
                on_stack.add(node)
            for other in rest:
                if other not in order:
                    work.append((other, iter(sorted(graph.get(other, ())))))
                    break
                if other in on_stack:
                    low[node] = min(low[node], order[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    knot = stack[stack.index(node) :]
                    del stack[stack.index(node) :]
                    on_stack.difference_update(knot)
                    if len(knot) > 1:
                        knots.append(frozenset(knot))
    return knots


def way_around(knot, graph):
    """One way through a knot and back to where it began: the shortest from its first file."""
    first = min(knot)
    ways = [[first]]
    while ways:
        way = ways.pop(0)
        for other in sorted(graph[way[-1]] & knot):
            if other == first:
                return [*way, first]
            if other not in way:
                ways.append([*way, other])
    return sorted(knot)


def cycle_mistakes(graph, known):
    knots = {frozenset(unit.removeprefix("argosy/") for unit in knot): knot for knot in cycles(graph)}
    for names, knot in sorted(knots.items(), key=lambda entry: min(entry[0])):
        if names not in known:
            yield f"includes go in a circle: {' -> '.join(way_around(knot, graph))}; take what both need into a file of its own"
    for names in known:
        if names not in knots:
            yield f"layers.toml: known_cycles has {', '.join(sorted(names))}, which is no cycle (any more); take it out"


def check(root):
    """Every mistake under root, as lines for a reader."""
    gated, rooms, known = read_table(root / "tools" / "layers.toml")
    code = root / "argosy"
    mistakes = [*table_mistakes(rooms, gated), *folder_mistakes(code, rooms)]
    allowed = []  # a cycle through an include that is a mistake by itself goes with that
    for room in rooms.values():
        includes = list(includes_of(code / room.name, root))
        for include in includes:
            if why := include_mistake(include, room, rooms, gated):
                mistakes.append(f"{include.path}:{include.line}: '{include.target}' {why}")
            else:
                allowed.append(include)
        if not room.unfinished:
            mistakes += unused_allowances(room, rooms, includes)
    return [*mistakes, *cycle_mistakes(file_graph(allowed, root), known)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    mistakes = check(parser.parse_args().root)
    for mistake in mistakes:
        print(mistake)
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
