"""The part of docs/parity.md about names and graphs: what PaddlePaddle 2.6.2 can call in which graph, and what can be called here.

.venv/bin/python tests/parity/graph_table.py      changes docs/parity.md; run.py, which writes the rest of it, calls it too
"""

import pathlib

import graphs

HERE = pathlib.Path(__file__).resolve().parent
RECORDED = HERE / "recorded/graphs-2.6.2.txt"
REPORT = HERE.parents[1] / "docs/parity.md"
TITLE = "## Names by graph"
SPACES = ("paddle", "paddle.nn", "paddle.nn.functional", "Tensor")
WORDS = {"ds": "both", "d": "dynamic", "s": "programs", "-": "neither"}
INTRODUCTION = """
Every public name of `paddle`, `paddle.nn` and `paddle.nn.functional` in 2.6.2, and every attribute of its tensors (of Variables in programs), called in each graph there and here by
`tests/parity/graphs.py`: it works in a graph where a call of it gives something, and in a program where that runs as well. Types, devices, modes and files, which are of no graph, are
looked up. "neither" in 2.6.2: it needs a GPU, or fails for every call that was tried. `tests/parity/test_graphs.py` asks that what is here works in each graph in which 2.6.2 has it.
"""


def is_less(theirs, ours):
    """Whether a graph is missing here."""
    return any(letter in theirs and letter not in ours for letter in "ds")


def rows(theirs, ours):
    """(space, graphs there, graphs here, names) of every combination."""
    found = {}
    for full, graph in theirs.items():
        space, _, name = full.rpartition(".")
        found.setdefault((space, graph, ours.get(full, "-")), []).append(name)
    return [(*key, sorted(names)) for key, names in sorted(found.items(), key=lambda one: (SPACES.index(one[0][0]), one[0][1:]))]


def section(theirs, ours):
    """The part's text."""
    lines = [TITLE, INTRODUCTION]
    for space in SPACES:
        of_space = [full for full in theirs if full.rpartition(".")[0] == space]
        fine = sum(not is_less(theirs[full], ours.get(full, "-")) for full in of_space)
        lines.append(f"`{space}`: {fine} of {len(of_space)} names work here wherever they do in 2.6.2.")
    lines += ["", "| | in 2.6.2 | here | how many | names |", "|---|---|---|---|---|"]
    for space, there, here, names in rows(theirs, ours):
        lines.append(f"| `{space}` | {WORDS[there]} | {WORDS[here]} | {len(names)} | {' '.join(f'`{name}`' for name in names)} |")
    return "\n".join(lines) + "\n"


def replaced(text, part, title=TITLE):
    """`text` with `part` in the place of the old one, or at the end."""
    before, found, after = text.partition(title)
    rest = after.partition("\n## ")[2] if found else ""
    return before.rstrip("\n") + "\n\n" + part + (f"\n## {rest}" if rest else "")


def here(names):
    """{name: graphs} of what works in this process."""
    import paddle

    found = {full: "".join(letter for letter in "ds" if graphs.in_graph(paddle, full, letter == "s")) or "-" for full in names}
    paddle.disable_static()
    return found


def write():
    theirs = graphs.read(RECORDED)
    REPORT.write_text(replaced(REPORT.read_text(encoding="utf-8"), section(theirs, here(theirs))), encoding="utf-8")


if __name__ == "__main__":
    write()
