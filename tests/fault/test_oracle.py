"""The oracle sees what it is there for: samples that were left out, or counted twice, of jobs that end well."""

import numpy as np
import pytest

import cases
from faulty_job import FaultyJob
from oracle import MODES, Layout, Window, server_of, wrong_counts, wrong_steps


def undisturbed(folder, **layout):
    return FaultyJob(folder, Layout(**layout), seed=1)


def end(job):
    try:
        job.launch("--on-worker-loss=wait")
        return job.finish()
    finally:
        job.close()


@pytest.mark.parametrize("mode, reader, threads", [("sync", "dataset", 2), ("async", "feeder", 1), ("half_async", "loader", 2), ("geo", "dataset", 1)])
def test_planted_losses_and_duplicates_are_seen(tmp_path, mode, reader, threads):
    """One sample's line is left out and one of a later batch stands in its place: the first is lost, the other counts twice."""
    job = undisturbed(tmp_path / "job", mode=mode, reader=reader, threads=threads)
    path = job.folder / "data" / job.layout.file(1, 0, 2)
    lost, doubled = job.layout.ids(1, 0, 2)[0], job.layout.ids(1, 0, 5)[0]
    path.write_text("".join([f"1 {doubled}\n", *path.read_text().splitlines(True)[1:]]))
    outcome = end(job)
    assert outcome.status == 0, outcome.output
    kinds = {line.split(" (")[0]: line.split(": ")[1] for line in outcome.wrong}
    assert kinds == {f"sample {lost}": "lost", f"sample {doubled}": "doubled"}, outcome


@pytest.mark.parametrize("mode", MODES)
def test_an_undisturbed_job_is_right(tmp_path, mode):
    outcome = end(undisturbed(tmp_path / "job", mode=mode, reader="dataset", threads=2))
    assert outcome.status == 0 and not outcome.wrong, f"{outcome}\n{outcome.output}"


def test_what_a_failed_job_has_applied_is_compared_row_by_row():
    layout = Layout(mode="sync", reader="dataset", threads=2, passes=1, files=2)
    applied = [[Window(0, 2, {3}), Window(0, 0, set())], [Window(0, 3, set()), Window(1, 0, set())]]
    values = np.array([layout.share * ((0, layout.batch_of(s)[2]) in applied[server_of(s, 2)][layout.batch_of(s)[0]]) for s in range(layout.rows)])
    assert wrong_counts(layout, values, applied) == []
    some = int(np.flatnonzero(values)[0])
    none = int(np.flatnonzero(values == 0)[0])
    values[some] = 0
    values[none] = layout.share
    assert [line.split(" (")[0] for line in wrong_counts(layout, values, applied)] == [f"sample {i}" for i in sorted((some, none))]


def test_a_batch_that_is_missing_on_one_server_is_seen():
    layout = Layout(mode="async")
    values = np.full(layout.rows, layout.share)
    steps = np.full(6, layout.workers * layout.passes * layout.batches, "float64")
    assert wrong_counts(layout, values) == [] and wrong_steps(layout, steps) == []
    steps[3] -= 1
    assert len(wrong_steps(layout, steps)) == 1


def test_the_selection_has_every_pair():
    for seed in (1, 2, 3):
        chosen = cases.selection(seed)
        assert cases.pairs_of(chosen) == cases.pairs_of(cases.all_cases())
        assert len(chosen) < len(cases.all_cases()) / 3
    assert cases.selection(1) == cases.selection(1) != cases.selection(2)
