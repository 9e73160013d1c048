"""The fenced blocks of a document, and what a test does with each.

A comment right before a fence says how the block is meant; without one, `python` runs as a script and `sh` as a shell script, in a folder that a
page has for itself, one after the other.

    <!-- file: train.py -->         the block is written to that file, for the blocks behind it
    <!-- from: examples/mlp.py -->  the block's lines stand in that file, one after the other; a test runs the file
    <!-- continues -->              the page's earlier Python blocks are run before it, in the same process
    <!-- fails -->                  it ends with a status other than 0
    <!-- output -->                 what the block before has written; … stands for anything
    <!-- background: TEXT -->       it goes on running; the page goes on when its output has TEXT
    <!-- ports: 8500 -->            numbers that stand for free ports, in all blocks of the page
    <!-- setup: COMMANDS -->        run before the blocks behind it, and not shown; $ROOT is the checkout
    <!-- no-run: REASON -->         it is not run
"""

import dataclasses
import re
import textwrap

CODE = ("python", "sh", "cpp")
COMMAND = re.compile(r"(\$ )?(fleetrun|argosy|argosy-server|python3?|mpirun|make|pip|curl|git|cmake|tools/|bench/|\.venv/)(\s|$)")
_COMMENT = re.compile(r"^ *<!-- (file|from|continues|fails|output|background|ports|setup|no-run)\b(?:: *(.*?))? *-->\n", re.M | re.S)
_FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>```+)(?P<language>\w*)[^\n]*\n(?P<text>.*?)^(?P=indent)(?P=ticks) *$\n?", re.M | re.S)


@dataclasses.dataclass
class Block:
    """A block, or a setup that is not shown: its language is "setup" then."""

    language: str
    text: str
    line: int
    marks: dict = dataclasses.field(default_factory=dict)


def blocks_of(document):
    """Its blocks in their order."""
    found, at = [], 0
    while True:
        fence, comment = _FENCE.search(document, at), _COMMENT.search(document, at)
        if comment and (not fence or comment.start() < fence.start()):
            at = _take_comment(document, comment, found)
        elif fence:
            found.append(Block(fence["language"], textwrap.dedent(fence["text"]), document.count("\n", 0, fence.start()) + 1, _marks(found)))
            at = fence.end()
        else:
            return [block for block in found if block.language != "mark"]


def _take_comment(document, comment, found):
    line = document.count("\n", 0, comment.start()) + 1
    kind, value = comment[1], textwrap.dedent(comment[2] or "")
    if kind in ("setup", "ports"):
        found.append(Block(kind, value, line))
    else:
        following = document[comment.end() :].lstrip(" ")
        if not following.startswith(("```", "<!--")):
            raise ValueError(f"line {line}: '{kind}' stands before no block")
        found.append(Block("mark", kind, line, {kind: value}))
    return comment.end()


def _marks(found):
    """What the comments right before a fence say of it."""
    marks = {}
    while found and found[-1].language == "mark":
        marks |= found.pop().marks
    return marks


def unmarked_command(block):
    """Whether a block without a language is one for a shell."""
    return block.language == "" and not block.marks and bool(COMMAND.match(block.text.lstrip()))


def stands_in(text, source):
    """Whether the lines of `text` stand in `source` one after the other, wherever they begin in a line; a line … leaves some out."""
    lines = [line.strip() for line in source.split("\n")]
    at = 0
    for part in re.split(r"^ *…\n", text.strip("\n") + "\n", flags=re.M):
        wanted = [line.strip() for line in part.strip("\n").split("\n")]
        at = next((i + len(wanted) for i in range(at, len(lines)) if lines[i : i + len(wanted)] == wanted), None)
        if at is None:
            return False
    return True


def matches(shown, written):
    """Whether `written` has the lines of `shown` somewhere, … standing for anything."""
    pattern = r"\s*\n".join(re.sub(r"\\?…", ".*?", re.escape(line.strip())) for line in shown.strip().split("\n"))
    return re.search(pattern, "\n".join(line.strip() for line in written.split("\n")), re.S) is not None
