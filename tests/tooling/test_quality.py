"""The arithmetic and the page of `make quality`, on results as its runs leave them. Not the quality."""

import importlib
import json
import math
import sys

import pytest


@pytest.fixture
def quality(root, monkeypatch):
    """bench/quality.py. Its module and those that it imports are taken out again."""
    names = ("quality", "programs", "ps_job", "run", "rows", "link")
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    monkeypatch.syspath_prepend(str(root / "bench"))
    module = importlib.import_module("quality")
    for name in names:
        sys.modules.pop(name, None)
    sys.modules.update(before)
    return module


def passes(auc, up=2000.0, speed=1000.0):
    sizes = {"bytes_to_servers": up, "bytes_to_workers": up}
    return [{"pass": i, "auc": auc, "test_auc": auc + 0.01 * i, "seconds": 1.0, "samples_per_second": speed * i, **sizes} for i in (1, 2, 3)]


def test_workers_are_joined(quality):
    first = [{"pass": 1, "auc": 0.7, "seconds": 2.0, "test_auc": 0.8, "samples": 100}]
    (row,) = quality.joined([first, [{"pass": 1, "auc": 0.6, "seconds": 4.0}]])
    assert row["auc"] == pytest.approx(0.65) and row["test_auc"] == 0.8
    assert row["samples_per_second"] == 25
    with pytest.raises(ValueError):
        quality.joined([first, []])


def test_a_paired_difference_has_the_interval_of_its_mean(quality):
    mean, half = quality.paired({1: 0.80, 2: 0.82, 3: 0.81, 9: 0.5}, {1: 0.79, 2: 0.80, 3: 0.81, 4: 0.9})
    assert mean == pytest.approx(0.01)
    assert half == pytest.approx(4.303 * 0.01 / math.sqrt(3))
    assert quality.paired({1: 0.8}, {1: 0.7}) is None


def test_every_run_is_there_once(quality):
    runs = quality.all_runs()
    adam, adagrad, sgd, wire = 2 * 5 * 5, 2 * 2 * 5, 2 * 2 * 5, 2 * 5
    assert len(runs) == len(set(runs)) == adam + adagrad + sgd + wire
    assert {run.optimizer for run in runs if run.mode == "geo"} == {"adam", "adagrad", "sgd"}


# Formats are compared with float32's runs of the same seeds: --only wire without them would leave the comparison empty.
def test_the_wires_part_has_the_runs_that_it_is_compared_with(quality):
    chosen = quality.chosen_runs(["wire"], 2)
    assert sorted((run.seed, run.wire) for run in chosen) == [(seed, wire) for seed in (1, 2) for wire in ("bfloat16", "float32", "int8")]
    assert {(run.mode, run.optimizer, run.size) for run in chosen} == {("sync", "adam", "1x1")}


# What was measured on another day, at another scale, stays when more is measured: the page is made from all of it.
def test_results_are_found_again_and_only_a_repeated_run_is_replaced(quality, tmp_path):
    first, second = quality.all_runs()[:2]
    small, whole = quality.Scale(1000, 1), quality.Scale()
    results = tmp_path / "quality.jsonl"
    assert quality.kept(results) == {}
    quality.keep(first, small, passes(0.7)[:1], results)
    quality.keep(first, whole, passes(0.71), results)
    quality.keep(second, whole, passes(0.72), results)
    quality.keep(first, whole, passes(0.73), results)
    found = quality.kept(results)
    assert {scale: {run: row["passes"][0]["auc"] for run, row in rows.items()} for scale, rows in found.items()} == {
        small: {first: 0.7},
        whole: {first: 0.73, second: 0.72},
    }
    assert len(results.read_text().splitlines()) == 3
    assert found[whole][first]["commit"]


# docs/quality.md is what the committed results give: a page that was made of others, or by hand, says what nobody can repeat.
def test_the_committed_page_is_made_from_the_committed_results(quality, root):
    assert quality.page(quality.kept()) == (root / "docs/quality.md").read_text()


def test_nothing_measured_leaves_the_page(quality, tmp_path, monkeypatch):
    monkeypatch.setattr(quality, "PAGE", tmp_path / "page.md")
    with pytest.raises(SystemExit, match="is left as it is"):
        quality.write({})
    assert not quality.PAGE.exists()


def test_the_page_says_what_was_run_and_what_was_not(quality, tmp_path):
    results, scale = tmp_path / "quality.jsonl", quality.Scale(1000, 3)
    for seed in (1, 2):
        quality.keep(quality.Run("local", "adam", "1x1", seed), scale, passes(0.74 + seed / 1000), results)
        quality.keep(quality.Run("sync", "adam", "1x1", seed), scale, passes(0.73 + seed / 1000, speed=900), results)
        quality.keep(quality.Run("async", "adam", "1x1", seed), scale, passes(0.725 + seed / 1000, speed=950), results)
        quality.keep(quality.Run("sync", "adam", "1x1", seed, "int8"), scale, passes(0.73 + seed / 1000 - 0.0005 * seed, 560.0), results)
    quality.keep(quality.Run("local", "adam", "1x1", 1), quality.Scale(100, 1), passes(0.6)[:1], results)
    page = quality.page(quality.kept(results))
    assert page.index("## 1,000 lines, 3 passes") < page.index("## 100 lines, 1 pass\n")
    assert "Made by `make quality LINES=1000 PASSES=3`" in page and "8 runs. Not measured: adam-1x1 (19 runs)" in page
    assert "| local | 2 | 0.7415 ± 0.0007 | 0.7515 ± 0.0007 | 0.7615 ± 0.0007 | 0.7715 ± 0.0007 |  |  | 3,000 |" in page
    assert "| sync | 2 | 0.7315 ± 0.0007 |" in page and "| -0.0100 ± 0.0000 |  | 2,700 (0.90) |" in page
    assert "| async | 2 | 0.7265 ± 0.0007 |" in page and "| -0.0150 ± 0.0000 | -0.0050 ± 0.0000 | 2,850 (0.95) |" in page
    assert "| int8 | 2 | 0.7308 ± 0.0004 |" in page and "| 560 | 560 |" in page
    assert json.loads(results.read_text().splitlines()[0])["commit"]
