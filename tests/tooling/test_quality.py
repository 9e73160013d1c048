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


def passes(auc, up=2000.0):
    return [{"pass": i, "auc": auc, "test_auc": auc + 0.01 * i, "seconds": 1.0, "bytes_to_servers": up, "bytes_to_workers": up} for i in (1, 2, 3)]


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


def test_every_run_is_there_once_and_results_are_found_again(quality, tmp_path):
    runs = quality.all_runs()
    adam, adagrad, sgd, wire = 2 * 5 * 4, 2 * 2 * 4, 2 * 2 * 5, 2 * 5
    assert len(runs) == len(set(runs)) == adam + adagrad + sgd + wire
    assert all(run.optimizer == "sgd" for run in runs if run.mode == "geo")
    results = tmp_path / "results" / "quality.jsonl"
    assert quality.kept(results) == {}
    quality.keep(results, runs[0], passes(0.7))
    (found,) = quality.kept(results).items()
    assert found[0] == runs[0] and found[1]["passes"] == passes(0.7)


def test_the_page_says_what_was_run_and_what_was_not(quality, tmp_path):
    results = tmp_path / "quality.jsonl"
    for seed in (1, 2):
        quality.keep(results, quality.Run("local", "adam", "1x1", seed), passes(0.74 + seed / 1000))
        quality.keep(results, quality.Run("sync", "adam", "1x1", seed), passes(0.73 + seed / 1000))
        quality.keep(results, quality.Run("sync", "adam", "1x1", seed, "int8"), passes(0.73 + seed / 1000 - 0.0005 * seed, 560.0))
    page = quality.page(quality.kept(results), quality.all_runs(), quality.Scale(1000, 3))
    assert "| local | 2 | 0.7415 ± 0.0007 | 0.7515 ± 0.0007 |" in page
    assert "| sync | 2 | 0.7315 ± 0.0007 |" in page and "| -0.0100 ± 0.0000 |" in page
    assert "6 runs. Not measured: adam-1x1 (16 runs)" in page
    assert "| int8 | 2 | 0.7308 ± 0.0004 |" in page and "| 560 | 560 |" in page
    assert json.loads(results.read_text().splitlines()[0])["commit"]
