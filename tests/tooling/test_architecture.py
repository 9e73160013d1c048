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
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, check=True, capture_output=True, text=True
    ).stdout.split("\n")
    known = set(tracked) | {"/".join(path.split("/")[:depth]) for path in tracked for depth in range(1, path.count("/") + 1)}
    assert sorted(path for path in named if path.rstrip("/") not in known) == []


# A room that is still being built (unfinished in layers.toml) may be left out until it is done.
def test_the_room_table_is_the_checked_one(root, text):
    rows = re.findall(r"^\| `argosy/([\w/]+)` \| .*? \| (.*?) \|$", text, re.M)
    shown = {name: set(allowed.replace(",", " ").split()) for name, allowed in rows}
    table = tomllib.loads((root / "tools/layers.toml").read_text(encoding="utf-8"))
    rooms = {room["name"]: room for room in table["room"]}
    assert list(shown) == [name for name in rooms if name in shown], "rooms stand lowest first"
    assert {name for name, room in rooms.items() if not room.get("unfinished")} <= shown.keys()
    for name, allowed in shown.items():
        assert allowed & rooms.keys() == set(rooms[name].get("may_use", [])), name


STEP = re.compile(r"(?P<indent> *)(?:(?P<name>\w+): )?(?P<path>argosy/\S+)  +\S")


def steps_of(picture):
    """(depth, name by which its caller calls it, path) of each line of the picture that names a file."""
    found = [STEP.match(line) for line in picture.splitlines()]
    return [(len(step["indent"]) // 2, step["name"], step["path"]) for step in found if step]


def unfollowed(steps, read):
    """Lines whose file is not called by that name by the one that they stand under, or does not know the name itself."""
    callers = []
    for depth, name, path in steps:
        callers = [*callers[:depth], path]
        if depth == 0:
            continue
        for file in (callers[depth - 1], path):
            if not re.search(rf"\b{name}\b", read(file)):
                yield f"{path} is called {name} by {callers[depth - 1]}, says the picture, but {file} has no such word"


def test_the_path_of_a_gradient_is_followed_by_its_names(root, text):
    section = text.split("## The path of a gradient")[1].split("\n## ")[0]
    steps = steps_of(re.search(r"```text\n(.*?)```", section, re.S)[1])
    assert len(steps) >= 30 and {path.split("/")[1] for _, _, path in steps} >= {"engine", "fleet", "ps", "rpc", "table", "optim"}
    assert [path for _, _, path in steps if not (root / path).is_file()] == []

    def read(path):  # a file is its header and its source
        unit = (root / path).with_suffix("")
        return "".join(half.read_text(encoding="utf-8") for half in (unit.with_suffix(".h"), unit.with_suffix(".cc")) if half.is_file())

    assert list(unfollowed(steps, read)) == []


def test_a_name_that_leads_nowhere_is_found():
    steps = steps_of("argosy/a.cc        begins\n  go: argosy/b.cc  goes on\n    - - the network - -\n  stop: argosy/c.cc  ends\n")
    assert steps == [(0, None, "argosy/a.cc"), (1, "go", "argosy/b.cc"), (1, "stop", "argosy/c.cc")]
    texts = {"argosy/a.cc": "go(); halt();", "argosy/b.cc": "void go() {}", "argosy/c.cc": "void stop() {}"}
    assert list(unfollowed(steps, texts.get)) == ["argosy/c.cc is called stop by argosy/a.cc, says the picture, but argosy/a.cc has no such word"]


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
        assert any(source[i : i + len(lines)] == lines for i in range(len(source))), block
