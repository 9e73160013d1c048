"""Every block of code in docs/ and README.md is run, stands in a file that is run, or says why it is not."""

import pathlib

import pytest

from doc_blocks import CODE, blocks_of, matches, stands_in, unmarked_command
from doc_page import PageRun

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in [*ROOT.glob("docs/**/*.md"), ROOT / "README.md"])
# How many blocks may say that they are not run, over all pages. It goes down; up only with a kind of host (Ray, Slurm, several machines) that a page
# cannot start and a test does, which the reason names.
MOST_NOT_RUN = 24


def blocks(page):
    return blocks_of((ROOT / page).read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [page for page in PAGES if any(block.language in (*CODE, "setup") for block in blocks(page))])
def test_what_the_page_shows_works(page, tmp_path):
    run = PageRun(ROOT / page, tmp_path, ROOT)
    try:
        run.run()
    finally:
        run.end()


def test_few_blocks_are_not_run():
    not_run = [f"{page}:{block.line}: {block.marks['no-run']}" for page in PAGES for block in blocks(page) if "no-run" in block.marks]
    shown = sum(block.language in CODE for page in PAGES for block in blocks(page))
    print(f"{len(not_run)} of {shown} blocks are not run:", *not_run, sep="\n")
    assert len(not_run) <= MOST_NOT_RUN, "\n".join(not_run)


def test_a_file_that_blocks_are_from_is_run_by_a_test():
    run_by = "".join(
        path.read_text(encoding="utf-8") for path in [*ROOT.glob("tests/system/*.py"), *ROOT.glob("tests/tooling/*.py"), *ROOT.glob("tests/docs/test_*.py")]
    )
    built = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("examples/**/CMakeLists.txt"))
    for name in sorted({block.marks["from"] for page in PAGES for block in blocks(page) if "from" in block.marks}):
        path = pathlib.PurePosixPath(name)
        assert path.stem in run_by or path.stem in built or path.name in run_by, f"no test names {name}"


PAGE = """
<!-- setup: touch ready
touch steady -->
Text.
```sh
ls
```
<!-- output -->
```text
ready
…
```
=== "Python"

    <!-- file: a.py -->
    ```python
    if True:
        print(1)
    ```
<!-- no-run: needs two machines -->
```sh
fleetrun --ips a,b train.py
```
"""


def test_blocks_and_their_marks_are_found():
    found = blocks_of(PAGE)
    assert [block.language for block in found] == ["setup", "sh", "text", "python", "sh"]
    assert found[0].text == "touch ready\ntouch steady" and found[2].marks == {"output": ""}
    assert found[3].text == "if True:\n    print(1)\n" and found[3].marks == {"file": "a.py"} and found[3].line == 16
    assert found[4].marks == {"no-run": "needs two machines"}


def test_a_mark_without_a_block_is_found():
    with pytest.raises(ValueError, match="line 1: 'output' stands before no block"):
        blocks_of("<!-- output -->\nText.\n")


def test_commands_say_that_they_are_commands():
    assert unmarked_command(blocks_of("```\nfleetrun --server_num=2 train.py\n```\n")[0])
    assert not unmarked_command(blocks_of("```\nfleetrun: 'kept' holds run 3fb1\n```\n")[0])


def run_page(tmp_path, text):
    (tmp_path / "page.md").write_text(text, encoding="utf-8")
    run = PageRun(tmp_path / "page.md", tmp_path, ROOT)
    try:
        run.run()
    finally:
        run.end()
    return run


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("```python\nassert 1 == 2\n```\n", "ended with status 1"),
        ("```sh\nfalse\ntrue\n```\n", "ended with status 1"),
        ("<!-- fails -->\n```sh\ntrue\n```\n", "ended with status 0"),
        ("```sh\necho one\n```\n<!-- output -->\n```\ntwo\n```\n", "the block before has written"),
        ("```cpp\nint main() {}\n```\n", "is `from` a file"),
        ("<!-- from: VERSION -->\n```cpp\nint main() {}\n```\n", "do not stand in VERSION"),
        ("<!-- no-run: -->\n```sh\ntrue\n```\n", "says why"),
        ("```\nmake test\n```\n", "without a language"),
        ("<!-- background: ready -->\n```sh\nexit 3\n```\n", "ended with status 3"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, text, complaint):
    with pytest.raises(AssertionError, match=r"page\.md:\d: ") as error:
        run_page(tmp_path, text)
    assert complaint in str(error.value)


def test_a_page_that_is_right_passes(tmp_path):
    assert run_page(tmp_path, PAGE).ran == 2
    with_port = "<!-- ports: 8500 -->\n```sh\necho at 8500\n```\n<!-- output -->\n```\nat …\n```\n"
    assert "8500" not in run_page(tmp_path, with_port).written
    assert run_page(tmp_path, "```python\na = 1\n```\n<!-- continues -->\n```python\nprint(a)\n```\n").written == "1\n"


def test_lines_of_a_file_and_output_are_compared_without_their_indent():
    assert stands_in("b\nc\n", "  a\n  b\n    c\n") and not stands_in("a\nc\n", "a\nb\nc\n") and stands_in("a\n…\nc\n", "a\nb\nc\n")
    assert matches("x …\ny", "w\nx 1\ny\n") and not matches("x\nz", "x\ny\nz")
