#!/usr/bin/env python3
"""Measures the shape of the C++ sources: files, lines, tests, functions, include cycles, names; docs/structure.md shows its table.

tools/structure.py                    the table of this checkout
tools/structure.py --before COMMIT    beside that of an earlier commit
"""

import argparse
import collections
import io
import pathlib
import re
import statistics
import subprocess
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^#include "(argosy/[^"]+)"', re.M)
TEST = re.compile(r"_(test|bench)\.(cc|h)$|_scratch\.h$|/testing/|/goldens/")
# clang-format puts a function's first line and its closing brace at one indentation; namespaces and types are not functions.
OTHERS = "namespace|struct|class|enum|union|extern|if|for|while|switch|do|else|try|return|case|default|public|private"
NO_FUNCTION = re.compile(rf" *(\}} *)?({OTHERS})\b")
OPENS = re.compile(r"^ *[\w~}].*\)[^;]*\{$")


def sources(root):
    return {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in sorted((root / "argosy").rglob("*")) if path.suffix in (".cc", ".h")}


def function_lengths(text):
    """Lines of each function, from the line that opens its body to the brace that closes it."""
    lines, lengths = text.splitlines(), []
    for number, line in enumerate(lines):
        if not OPENS.match(line):
            continue
        first, unmatched = number, line.count(")") - line.count("(")
        # Back over arguments, a condition or the list of a constructor's members.
        while first > 0 and (unmatched > 0 or lines[first - 1].endswith(",") or lines[first].lstrip().startswith(":")):
            first -= 1
            unmatched += lines[first].count(")") - lines[first].count("(")
        if NO_FUNCTION.match(lines[first]):
            continue
        closing = re.match(" *", lines[first]).group() + "}"
        end = next((later for later in range(number + 1, len(lines)) if lines[later].rstrip(";,)") == closing), None)
        if end is not None:
            lengths.append(end - number + 1)
    return lengths


def unit(path):
    """A header and its source are one unit."""
    return path.rsplit(".", 1)[0]


def cycles(files):
    """The strongly connected components of more than one unit in the graph of includes (Tarjan)."""
    graph = collections.defaultdict(set)
    for path, text in files.items():
        for target in INCLUDE.findall(text):
            if target in files and unit(target) != unit(path):
                graph[unit(path)].add(unit(target))
    index, low, stack, found = {}, {}, [], []

    def visit(start):
        work = [(start, iter(sorted(graph[start])))]
        index[start] = low[start] = len(index)
        stack.append(start)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    work.append((target, iter(sorted(graph[target]))))
                    break
                if target in stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = stack[stack.index(node) :]
                    del stack[stack.index(node) :]
                    if len(component) > 1:
                        found.append(sorted(component))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def measure(root):
    files = sources(root)
    code = {path: text for path, text in files.items() if not TEST.search(path)}
    tests = {path: text for path, text in files.items() if TEST.search(path)}
    lengths = [length for path, text in code.items() if path.endswith(".cc") for length in function_lengths(text)]
    code_lines, test_lines = (sum(text.count("\n") for text in group.values()) for group in (code, tests))
    folders = collections.Counter(str(pathlib.PurePath(path).parent) for path in code)
    stems = collections.defaultdict(set)
    for path in code:
        if path.endswith(".h"):
            stems[pathlib.PurePath(path).stem].add(str(pathlib.PurePath(path).parent))
    knots = cycles(code)
    return {
        "source files": len(code),
        "lines of code": code_lines,
        "lines of test": test_lines,
        "lines of test per line of code": f"{test_lines / code_lines:.2f}",
        "files over 400 lines": sum(text.count("\n") > 400 for text in code.values()),
        "functions": len(lengths),
        "lines of a function, median": int(statistics.median(lengths)),
        "functions over 30 lines": sum(length > 30 for length in lengths),
        "functions over 60 lines": sum(length > 60 for length in lengths),
        "files in the largest folder": f"{folders.most_common(1)[0][1]} ({folders.most_common(1)[0][0]})",
        "knots of files that include each other": len(knots),
        "files in such knots": sum(len(knot) for knot in knots),
        "header names that occur in several folders": sum(len(places) > 1 for places in stems.values()),
        "waits by sleeping (`sleep_for`)": sum(text.count("sleep_for") for text in code.values()),
        "guarded members in the types (`ARGOSY_GUARDED_BY`)": sum(text.count("ARGOSY_GUARDED_BY(") for text in code.values()),
    }


def measure_commit(commit):
    archive = subprocess.run(["git", "-C", ROOT, "archive", commit, "argosy"], check=True, capture_output=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        return measure(pathlib.Path(folder))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", help="a commit to compare with")
    parser.add_argument("--knots", action="store_true", help="name the files that include each other")
    options = parser.parse_args()
    columns = {"now": measure(ROOT)}
    if options.before:
        columns = {options.before: measure_commit(options.before), **columns}
    print("| | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns))
    for name in columns["now"]:
        print(f"| {name} | " + " | ".join(f"{column[name]:,}" if isinstance(column[name], int) else column[name] for column in columns.values()) + " |")
    if options.knots:
        for knot in cycles({path: text for path, text in sources(ROOT).items() if not TEST.search(path)}):
            print("\n" + "\n".join(knot))


if __name__ == "__main__":
    main()
