"""The documents about the code are true: their paths exist, their table and their code are the real ones."""
import re
import subprocess
import tomllib

import pytest

PATH = re.compile(r"\.?[\w-]+(/[\w.-]+)+/?|[\w-]+/|\w+\.(md|json|toml)|Makefile")


@pytest.fixture(scope="module")
def text(root):
    return (root / "ARCHITECTURE.md").read_text(encoding="utf-8")


def paths_in(text):
    """What stands between backticks and looks like a path of this repository."""
    return {word for word in re.findall(r"`([^`\n]+)`", text) if PATH.fullmatch(word)}


def test_paths_are_told_from_other_words():
    text = "`argosy/base` `cmake/` `.ci/run` `README.md` but not `make test`, `find_package(argosy)`, `int`, `a::b`"
    assert paths_in(text) == {"argosy/base", "cmake/", ".ci/run", "README.md"}


@pytest.mark.parametrize("document, least", [("ARCHITECTURE.md", 20), ("README.md", 5), ("docs/adding_an_op.md", 5)])
def test_every_path_exists(root, document, least):
    named = paths_in((root / document).read_text(encoding="utf-8"))
    assert len(named) >= least
    tracked = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, check=True,
                             capture_output=True, text=True).stdout.split("\n")
    known = set(tracked) | {"/".join(path.split("/")[:depth]) for path in tracked for depth in range(1, path.count("/") + 1)}
    assert sorted(path for path in named if path.rstrip("/") not in known) == []


# A room that is still being built (unfinished in layers.toml) may be left out until it is done.
def test_the_room_table_is_the_checked_one(root, text):
    rows = re.findall(r"^\| `argosy/(\w+)` \| .*? \| (.*?) \|$", text, re.M)
    shown = {name: set(allowed.replace(",", " ").split()) for name, allowed in rows}
    table = tomllib.loads((root / "tools/layers.toml").read_text(encoding="utf-8"))
    rooms = {room["name"]: room for room in table["room"]}
    assert list(shown) == [name for name in rooms if name in shown], "rooms stand lowest first"
    assert {name for name, room in rooms.items() if not room.get("unfinished")} <= shown.keys()
    for name, allowed in shown.items():
        assert allowed & rooms.keys() == set(rooms[name].get("may_use", [])), name


def test_the_operator_in_the_document_is_the_one_that_the_tests_build(root):
    shown = (root / "docs/adding_an_op.md").read_text(encoding="utf-8")
    assert (root / "tests/consumer/soft_cap.cc").read_text(encoding="utf-8").strip() in shown


@pytest.mark.parametrize("language, examples", [("cpp", ["ctr_dnn.cc", "ctr_fleet.cc"]), ("python", ["ctr_dnn.py", "ctr_fleet.py"])])
def test_the_code_in_the_readme_is_from_the_examples(root, language, examples):
    readme = (root / "README.md").read_text(encoding="utf-8")
    shown = re.findall(rf"^```{language}\n(.*?)^```", readme, re.M | re.S)
    assert len(shown) == len(examples)
    for block, example in zip(shown, examples):
        source = [line.strip() for line in (root / "examples" / example).read_text(encoding="utf-8").splitlines()]
        lines = [line.strip() for line in block.splitlines()]
        assert any(source[i:i + len(lines)] == lines for i in range(len(source))), block
