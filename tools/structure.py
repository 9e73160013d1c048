#!/usr/bin/env python3
"""Measures the shape of the C++ sources: files, lines, tests, functions, include cycles, names; docs/structure.md shows its table.

tools/structure.py                    the tables of this checkout
tools/structure.py --before COMMIT    beside those of an earlier commit
tools/structure.py --at COMMIT        of that commit, whatever the checkout has besides
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
ONLY_TEST = re.compile(r"_test\.(cc|h)$")
HELPER = re.compile(r"_scratch\.h$|/testing/")  # of tests
OTHER = re.compile(r"_bench\.(cc|h)$|/goldens/")  # benchmarks, and tables of expected values
TEST = re.compile("|".join(pattern.pattern for pattern in (ONLY_TEST, HELPER, OTHER)))  # all that is no code of the product
# What a change takes, by an example: the names that it has.
EXAMPLES = {
    "an operator with a function for both graphs (`hard_swish`)": r"\bhard_swish\b",
    "a method of the servers (`SET_RATE`)": r"SET_RATE|SetRate|\bset_rate\b",
    "a method of the servers (`SHRINK`)": r"SHRINK|Shrink|\bshrink\b",
    "a setting of the servers (`worker_wait_seconds`)": r"\bworker_wait_seconds\b",
}
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


# Of a namespace, not of another type: clang-format indents those. Forward declarations and specialisations define no name.
CLASS = re.compile(r"^(?:template <.*>\s)?(?:class|struct|union) (?:\[\[\w+\]\] |ARGOSY_\w+(?:\([^)]*\))* )?(\w+)\b(?! ?<)[^;{]*\{", re.M)


def classes_defined_twice(files):
    """{name: headers} of the classes that several headers define, whatever their namespaces."""
    found = collections.defaultdict(list)
    for path, text in files.items():
        if path.endswith(".h"):
            for name in CLASS.findall(text):
                found[name].append(path)
    return {name: paths for name, paths in sorted(found.items()) if len(paths) > 1}


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
    lengths = [length for path, text in code.items() if path.endswith(".cc") for length in function_lengths(text)]
    code_lines = sum(text.count("\n") for text in code.values())
    test_lines, helper_lines, other_lines = (
        sum(text.count("\n") for path, text in files.items() if pattern.search(path)) for pattern in (ONLY_TEST, HELPER, OTHER)
    )
    folders = collections.Counter(str(pathlib.PurePath(path).parent) for path in code)
    stems = collections.defaultdict(set)
    for path in code:
        if path.endswith(".h"):
            stems[pathlib.PurePath(path).stem].add(str(pathlib.PurePath(path).parent))
    knots = cycles(code)
    return {
        "source files": len(code),
        "lines of code": code_lines,
        "lines of test (`_test.cc`)": test_lines,
        "lines of their helpers (`testing/`, `_scratch.h`)": helper_lines,
        "lines of benchmarks and tables of expected values": other_lines,
        "lines of test per line of code": f"{test_lines / code_lines:.3f}",
        "lines of test and helpers per line of code": f"{(test_lines + helper_lines) / code_lines:.3f}",
        "files over 400 lines": sum(text.count("\n") > 400 for text in code.values()),
        "functions": len(lengths),
        "lines of a function, median": int(statistics.median(lengths)),
        "functions over 30 lines": sum(length > 30 for length in lengths),
        "functions over 60 lines": sum(length > 60 for length in lengths),
        "files in the largest folder": f"{folders.most_common(1)[0][1]} ({folders.most_common(1)[0][0]})",
        "knots of files that include each other": len(knots),
        "files in such knots": sum(len(knot) for knot in knots),
        "header names that occur in several folders": sum(len(places) > 1 for places in stems.values()),
        "class names that several headers define": len(classes_defined_twice(code)),
        "waits by sleeping (`sleep_for`)": sum(text.count("sleep_for") for text in code.values()),
        "guarded members in the types (`ARGOSY_GUARDED_BY`)": sum(text.count("ARGOSY_GUARDED_BY(") for text in code.values()),
    }


def changes(root):
    """For each example the files and lines of argosy/ that name it, in any language, but in tests."""
    found = {name: [] for name in EXAMPLES}
    for path in sorted((root / "argosy").rglob("*")):
        if path.suffix not in (".cc", ".h", ".proto", ".py", ".pyi", ".txt") or TEST.search(str(path.relative_to(root))) or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        for name, pattern in EXAMPLES.items():
            if lines := sum(bool(re.search(pattern, line)) for line in text.splitlines()):
                found[name].append(lines)
    return {name: f"{len(lines)} files, {sum(lines)} lines" for name, lines in found.items()}


def measure_commit(commit):
    archive = subprocess.run(["git", "-C", ROOT, "archive", commit, "argosy"], check=True, capture_output=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        return measure(pathlib.Path(folder)), changes(pathlib.Path(folder))


def show(columns):
    print("| | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns))
    for name in next(iter(columns.values())):
        print(f"| {name} | " + " | ".join(f"{column[name]:,}" if isinstance(column[name], int) else column[name] for column in columns.values()) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", help="a commit to compare with")
    parser.add_argument("--at", help="the commit to measure, in place of the checkout")
    parser.add_argument("--knots", action="store_true", help="name the files that include each other")
    options = parser.parse_args()
    columns = {"now": measure_commit(options.at) if options.at else (measure(ROOT), changes(ROOT))}
    if options.before:
        columns = {options.before: measure_commit(options.before), **columns}
    show({name: shape for name, (shape, _) in columns.items()})
    print("\nWhat a change takes, by the files and lines that name it:\n")
    show({name: taken for name, (_, taken) in columns.items()})
    if options.knots:
        for knot in cycles({path: text for path, text in sources(ROOT).items() if not TEST.search(path)}):
            print("\n" + "\n".join(knot))


if __name__ == "__main__":
    main()
