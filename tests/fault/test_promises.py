"""docs/promises.md names tests that exist, has every part of every promise, and every planted bug."""

import re

import causes
import planted
from plants import PLANTS


def test_every_file_of_the_page_exists(root):
    text = (root / "docs" / "promises.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:argosy|tests|fuzz|docs)/[\w/.]+)`", text))
    assert len(named) > 15
    assert sorted(name for name in named if not (root / name).exists()) == []


def promises(root):
    text = (root / "docs" / "promises.md").read_text(encoding="utf-8")
    found = dict(part.split("\n", 1) for part in re.split(r"^## ", text, flags=re.M)[1:])
    del found["The tests are tested"]
    return found


def test_every_promise_has_its_parts(root):
    """In one sentence, in bold; what it does not cover; a test of this tree that shows it; and figures, or that there are none."""
    found = promises(root)
    assert len(found) >= 14
    for name, text in found.items():
        sentence, parts = text.split("\n- ", 1)
        assert re.fullmatch(r"\*\*(?:(?!\*\*).)+\.\*\*", sentence.strip(), re.S), name
        titles = [re.match(r"Not covered|Shown by(?= `)|Figures|.*", part)[0] for part in parts.split("\n- ")]
        assert titles == ["Not covered", "Shown by", "Figures"], f"{name}: {titles}"


def test_a_figure_says_where_it_is_from(root):
    for name, text in promises(root).items():
        figures = text.partition("\n- Figures:")[2].partition("\n\n")[0]
        said = re.search(r"`|\]\(|not measured|none to measure", figures)
        assert said, f"{name}: a figure names its test, document or command; where there is none: not measured"


def test_the_table_has_every_planted_bug(root):
    text = (root / "docs" / "promises.md").read_text(encoding="utf-8")
    table = text.partition(planted.BEGIN)[2].partition(planted.END)[0]
    rows = re.findall(r"^\| `(\w+)` \| `([^`]+)` \| ([^|]+) \|", table, re.M)
    assert rows == [(plant.name, plant.file, plant.mistake) for plant in PLANTS], "make planted writes the table"
    caught = len(re.findall(r"^\| `\w+` .* s \|$", table, re.M)) - table.count("**nobody**")
    assert f"{caught} of {len(PLANTS)} planted bugs are caught." in table


def test_the_causes_are_named():
    for cause in causes.CAUSES.values():
        assert cause.ends in ("well", "badly", "either")
        assert cause.ends == "well" or cause.named, f"{cause.name}: a job that fails names its cause"
