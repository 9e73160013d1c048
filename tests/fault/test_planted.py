"""planted.py stores what it finds as it finds it, goes on where it was interrupted, and leaves no test behind."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import planted
from plants import Plant

PLANTS = tuple(Plant(name, f"argosy/{name}.cc", f"does {name}", (f"{name}_test:All.*",)) for name in ("one", "two", "three"))


@pytest.fixture
def bench(monkeypatch, tmp_path):
    """Three planted bugs whose tests are words, and the list of (test, bug) that were run."""
    monkeypatch.setattr(planted, "PLANTS", PLANTS)
    monkeypatch.setattr(planted, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(planted, "PAGE", tmp_path / "promises.md")
    monkeypatch.setattr(planted, "sources", lambda: "abc1234")
    monkeypatch.setattr(planted, "tests_for", lambda plant: plant.seen_by)
    (tmp_path / "promises.md").write_text(f"before\n{planted.BEGIN}\n{planted.END}\nafter\n")
    ran = []

    def run(test, point, _):
        ran.append((test, point))
        return point == "", "says"

    monkeypatch.setattr(planted, "run", run)
    return ran


def start(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["planted.py", "--jobs", "1", *words])
    with pytest.raises(SystemExit) as ended:
        planted.main()
    return ended.value.code


def test_an_interrupted_run_goes_on_where_it_was(bench, monkeypatch):
    plain = planted.run

    def interrupted(test, point, seconds):
        if point == "three":
            raise KeyboardInterrupt
        return plain(test, point, seconds)

    monkeypatch.setattr(planted, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        start(monkeypatch)
    assert set(json.loads(planted.RESULTS.read_text())) == {"one", "two"}, "each is stored when it is found"

    monkeypatch.setattr(planted, "run", plain)
    bench.clear()
    assert start(monkeypatch) == 0
    assert [point for _, point in bench if point] == ["three"]
    assert sorted(test for test, point in bench if not point) == ["one_test:All.*", "three_test:All.*", "two_test:All.*"], "each test is proven"
    page = planted.PAGE.read_text()
    assert "3 of 3 planted bugs are caught." in page and "| `two_test:All.*` |" in page and page.startswith("before") and page.endswith("after\n")

    bench.clear()
    assert start(monkeypatch) == 0
    assert bench == []


def test_other_sources_run_everything(bench, monkeypatch):
    assert start(monkeypatch) == 0
    monkeypatch.setattr(planted, "sources", lambda: "abc1234+12345678")
    bench.clear()
    start(monkeypatch)
    assert sorted(point for _, point in bench if point) == ["one", "three", "two"]


def test_the_table_keeps_what_was_found_before(bench, monkeypatch):
    start(monkeypatch)
    monkeypatch.setattr(planted, "sources", lambda: "def5678")
    start(monkeypatch, "--only", "two")
    assert "3 of 3 planted bugs are caught." in planted.PAGE.read_text()


def test_what_nobody_caught_is_said_and_looked_for_again(bench, monkeypatch):
    monkeypatch.setattr(planted, "run", lambda test, point, _: (point != "one", "says"))
    assert start(monkeypatch) == 1
    assert "**nobody**" in planted.PAGE.read_text()
    assert [plant.name for plant in planted.Findings(planted.RESULTS).left(PLANTS, "abc1234")] == ["two", "three"]


def test_a_test_that_fails_without_a_bug_has_caught_nothing(bench, monkeypatch):
    monkeypatch.setattr(planted, "run", lambda test, point, _: (False, "says") if point or test.startswith("two") else (True, ""))
    start(monkeypatch)
    page = planted.PAGE.read_text()
    assert "2 of 3 planted bugs are caught." in page
    assert [plant.name for plant in planted.Findings(planted.RESULTS).left(PLANTS, "abc1234")] == ["two"]


def test_sources_are_named_by_the_commit_and_what_differs_from_it():
    assert planted.sources() == planted.sources()
    assert planted.sources().partition("+")[0]


ENDLESS = """
import signal, sys
import planted
planted.command_of = lambda test: ["sh", "-c", f"sleep 300 & echo $! > {sys.argv[1]}; wait"]
signal.signal(signal.SIGTERM, planted.stop)
planted.run("x", "", 300)
"""


def test_ended_it_leaves_no_test_behind(tmp_path):
    here = str(pathlib.Path(__file__).parent)
    process = subprocess.Popen([sys.executable, "-c", ENDLESS, str(tmp_path / "pid")], cwd=here, env=os.environ | {"PYTHONPATH": here})
    end = time.monotonic() + 60
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert time.monotonic() < end
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 128 + signal.SIGTERM
    state = pathlib.Path(f"/proc/{int((tmp_path / 'pid').read_text())}/stat")
    while state.exists() and state.read_text().rsplit(")", 1)[1].split()[0] != "Z":
        assert time.monotonic() < end, "the test runs on"
        time.sleep(0.02)
