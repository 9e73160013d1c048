"""The documents' Markdown as Python-Markdown reads it: it wants a blank line before a list or a table, which GitHub's does not."""

import re

_ITEM = re.compile(r"([-*]|\d+\.) ")
_FENCE = re.compile(r" *(```|~~~)")
_NAMED = re.compile(r"^( *)<!-- (?:file|from): (\S+) -->\n\1(```\w+)$", re.M)


def for_the_site(text):
    """`text` with a blank line before each list and table that follows a line of text, and the names of files above the blocks that show them."""
    out, fenced = [], False
    for line in _NAMED.sub(r'\1\3 title="\2"', text).split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and out and _begins(line, out[-1]):
            out.append("")
        out.append(_cells(line) if line.startswith("|") and not fenced else line)
    return "\n".join(out)


def _cells(line):
    """A table's line without escaped bars: inside code they need no mark here, and elsewhere they are an entity."""
    code = re.split(r"(`[^`]*`)", line)
    return "".join(part.replace("\\|", "|" if part.startswith("`") else "&#124;") for part in code)


def _begins(line, before):
    """Whether `line` is the first of a list or a table, and `before` is text that it would be taken as a part of."""
    if not before.strip() or before.startswith((" ", "#")):
        return False
    if line.startswith("|"):
        return not before.startswith("|")
    return bool(_ITEM.match(line)) and not _ITEM.match(before)
