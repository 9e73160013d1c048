"""The demo's data: the right format, the same bytes each time, and something in it that a model can learn."""

import collections
import math
import re
import subprocess
import sys

import pytest

LINE = re.compile(rb"[01](\t\d{0,4}){13}(\t([0-9a-f]{8})?){26}\n")


@pytest.fixture(scope="module")
def make(root, tmp_path_factory):
    def run(*options, folder=None):
        folder = folder or tmp_path_factory.mktemp("criteo") / "data"
        command = [sys.executable, root / "tools/make_criteo.py", folder, *options]
        return folder, subprocess.run(command, capture_output=True, text=True)

    return run


@pytest.fixture(scope="module")
def data(make):
    folder, done = make("--lines", "20000", "--test-lines", "4000", "--files", "3")
    assert done.returncode == 0, done.stderr
    return folder


def lines_of(folder):
    return [line for path in sorted(folder.iterdir()) for line in path.read_bytes().splitlines(keepends=True)]


def test_lines_are_in_criteos_format(data):
    assert [path.name for path in sorted((data / "train").iterdir())] == [f"part-0000{i}.txt" for i in range(3)]
    train, test = lines_of(data / "train"), lines_of(data / "test")
    assert (len(train), len(test)) == (20000, 4000)
    assert all(LINE.fullmatch(line) for line in train + test)
    assert any(b"\t\t" in line for line in train), "no field is missing"


def test_equal_arguments_give_equal_bytes(data, make):
    again, _ = make("--lines", "20000", "--test-lines", "4000", "--files", "3")
    other, _ = make("--lines", "20000", "--test-lines", "4000", "--files", "3", "--seed", "2")
    assert lines_of(again / "train") == lines_of(data / "train")
    assert lines_of(other / "train") != lines_of(data / "train")


# Even a model that only counts clicks per value, field by field, tells clicks from others.
def test_there_is_something_to_learn(data):
    clicks, shows = collections.Counter(), collections.Counter()
    rows = [line.rstrip(b"\n").split(b"\t") for line in lines_of(data / "train")]
    rate = sum(row[0] == b"1" for row in rows) / len(rows)
    for row in rows:
        for field in enumerate(row[14:]):
            shows[field] += 1
            clicks[field] += row[0] == b"1"

    def score(row):
        return sum(math.log((clicks[field] + 10 * rate) / (shows[field] + 10)) for field in enumerate(row[14:]))

    test = sorted((line.rstrip(b"\n").split(b"\t") for line in lines_of(data / "test")), key=score)
    positives = [rank for rank, row in enumerate(test, 1) if row[0] == b"1"]
    n = len(positives)
    auc = (sum(positives) - n * (n + 1) / 2) / (n * (len(test) - n))
    assert auc > 0.75


def test_refuses_to_replace_a_folder_of_something_else(make, tmp_path):
    (tmp_path / "precious.txt").write_text("keep")
    _, done = make(folder=tmp_path)
    assert done.returncode == 2 and "give a new folder" in done.stderr
    assert (tmp_path / "precious.txt").read_text() == "keep"
