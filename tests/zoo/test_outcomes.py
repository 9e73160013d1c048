"""What the page about the zoo says of two runs' numbers: "agrees" has to be earned."""

import pathlib
import subprocess
import sys

import pytest
import table
from kinds import KINDS, MODES, ON_SERVERS, models
from outcomes import NOTHING, agree, on_servers, outcome, predictions, shown

HERE = pathlib.Path(__file__).resolve().parent


def test_numbers_within_the_bound_agree():
    assert agree({"auc": 0.5, "cost": 30.004}, {"auc": 0.504, "cost": 30.0}) is None
    assert agree({"loss": float("nan")}, {"loss": float("nan")}) is None
    assert agree({"loss": float("inf")}, {"loss": float("inf")}) is None


# The bound is of the loss itself: 0.014 of 2.88 was once said to agree, since it is 0.5 % of it.
@pytest.mark.parametrize(
    "ours, theirs, said",
    [
        ({"cost": 2.86413}, {"cost": 2.87808}, "cost differs by 0.014 (0.48 % of it)"),
        ({"loss": -42.2699}, {"loss": -42.2426}, "loss differs by 0.0273 (0.065 % of it)"),
        ({"auc": 0.51, "loss": 0.7}, {"auc": 0.5, "loss": 0.5}, "loss differs by 0.2"),
        ({"loss": float("nan")}, {"loss": 0.5}, "loss differs by inf"),
        ({"loss": 0.5}, {"loss": float("inf")}, "loss differs by inf"),
        ({"auc": 0.5, "loss": 1.0}, {"loss": 1.0}, "only one of the two has auc"),
    ],
)
def test_numbers_beyond_it_differ_and_the_worst_is_named(ours, theirs, said):
    assert agree(ours, theirs) == said


# Two empty outputs have no number that differs, and none that agrees.
@pytest.mark.parametrize("ours, theirs", [({}, {}), ({"loss": 1.0}, {}), ({"loss": 1.0}, {"cost": 1.0})])
def test_runs_without_a_number_in_common_do_not_agree(ours, theirs):
    assert agree(ours, theirs) == NOTHING
    found = {"here": {"status": "runs", "said": ""}, "differs": agree(ours, theirs)}
    assert table.line_of("rank/dnn static", found).endswith(NOTHING)


# A second run of 2.6.2 that was killed does not show that 2.6.2 differs from itself.
def test_a_further_run_that_failed_shows_nothing():
    theirs = {"status": "runs", "numbers": {"loss": 1.0}}
    assert shown({"status": "slow", "numbers": {}}, theirs) is None
    assert shown({"status": "runs", "numbers": {"loss": 1.5}}, theirs) == "loss differs by 0.5"


def test_the_last_line_of_a_trainer_is_what_is_compared():
    text = "epoch: 0, batch_id: 7, cost: [0.9]\nepoch: 0 done, auc: 0.5,cost: [[0.25]], epoch time: 3.1 s\n"
    assert outcome(KINDS["static"], text, 0, False) == ("runs", {"auc": 0.5, "cost": 0.25}, "auc 0.5, cost 0.25")
    assert outcome(KINDS["static"], text, 1, False)[0] == "fails"
    assert outcome(KINDS["static"], text, 0, True)[0] == "slow"


def test_predictions_are_counted():
    assert predictions("[array([[0.5],\n [0.25]], dtype=float32)]\n") == {"values": 2.0, "mean": 0.375, "square": 0.15625}
    assert predictions("no array here") == {}


def test_a_job_on_servers_has_an_exact_ledger():
    exact = "the job, 1 pass: 80 samples read, 80 applied once, 0 lost\nauc: 0.5"
    assert on_servers(exact, "runs", "") == ("runs", "80 samples read, as many applied once, auc 0.5000")
    assert on_servers(exact.replace("80 applied", "79 applied"), "runs", "")[0] == "fails"
    assert on_servers("nothing", "runs", "")[0] == "fails"


def test_every_mode_is_asked_of_every_model_on_servers(tmp_path):
    for name in ON_SERVERS:
        (tmp_path / "models" / name).mkdir(parents=True)
    assert all([str(one.relative_to(tmp_path / "models")) for one in models(tmp_path, KINDS[mode])] == list(ON_SERVERS) for mode in MODES)


def test_the_page_says_that_its_lines_are_of_other_sources():
    results = {"rank/dnn static": {"here": {"status": "runs", "said": "", "of": "aaa", "at": "2026-01-01"}}}
    assert "another state" not in table.document(results, list(results), "aaa")
    assert "another state, `bbb`, of which 0 lines are." in table.document(results, list(results), "bbb")


# Nothing listens at this address of a registry: a run that asked one would fail otherwise.
def test_a_run_fetches_nothing(tmp_path):
    command = [sys.executable, str(HERE / "run.py"), "--zoo", str(tmp_path), "--work", str(tmp_path / "work"), "--nothing"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "tests/zoo/packages.sh" in done.stderr and "which the models import" in done.stderr
