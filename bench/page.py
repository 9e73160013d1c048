"""What was measured last of every row, and docs/benchmarks.md, which is written from it.

bench/measured.json has, by row, the medians and the run that they are of; a run is a machine, a commit and a date. `make bench` notes what it has
measured, all rows or one, and writes the page anew, so that one command brings one row up to date.
"""

import json
import os
import pathlib

import bounds
import programs
import rows

ROOT = programs.ROOT
MEASURED, PAGE = ROOT / "bench/measured.json", ROOT / "docs/benchmarks.md"
BUSY = 0.5  # a load above it says that the machine does something else
ROUNDS = 3  # of fewer nothing is noted

TEXT = """# Benchmarks

Written by `make bench` from `bench/measured.json`, which has what was measured last of each row; `make bench ONLY=row` measures one and writes the page anew.

Each number is the median of the run's rounds (3 at most where a round takes long); in a round every program runs once, ours beside its peer. CTR-DNN: 13 numbers, 26 slots, a table
of 1,000,001 x 10, layers of 400-400-400-2, batches of 1,000, Adam; 100,000 lines, in memory where there are no servers. The speed is that of the second pass over them, the AUC that of
20,000 other lines after the first. Jobs with servers (`ps-*`, `wal`) are processes that stream the lines from files, one thread per worker; so do PaddlePaddle's.
[What helped, and what single tries gave](benchmarks-notes.md): a row that is not measured here has been tried there at most.

"""
JOBS_TEXT = """
## More and more processes

The same job as 1 to 8 servers and workers, measured once, in run {run}: processor time and bytes on the wire count here, samples per second mean little where there are more processes than
cores.

"""
GPU_TEXT = "\n## On a GPU\n\nBy `bench/gpu.py`, on a machine of its own.\n\n"


def load(path=MEASURED):
    return json.loads(path.read_text()) if path.exists() else {"runs": {}, "rows": {}, "processes": None}


def key(about):
    return f"{about['date'].removesuffix(' UTC')} {about['commit']}"


def is_busy(about):
    return about["load_before"] > BUSY


def note(measured, outcomes, jobs, about):
    """Takes in what a run has found. Returns the names of the rows that it leaves as they are: measured on an idle machine, while this run's was busy."""
    left, run = [], key(about)
    measured["runs"][run] = about
    for outcome in outcomes:
        if outcome.result is None:
            continue
        before = measured["rows"].get(outcome.row.name)
        if before and is_busy(about) and not is_busy(measured["runs"][before["run"]]):
            left.append(outcome.row.name)
            continue
        measured["rows"][outcome.row.name] = {"ours": outcome.ours, "peer": outcome.peer, "run": run}
    if jobs:
        measured["processes"] = {"run": run, "jobs": jobs}
    used = {one["run"] for one in [*measured["rows"].values(), *filter(None, [measured["processes"]])]}
    measured["runs"] = {name: measured["runs"][name] for name in sorted(used)}
    return left


def letters(measured):
    """A short name for each run, by its date."""
    return {run: chr(ord("a") + i) for i, run in enumerate(sorted(measured["runs"]))}


def outcomes_of(measured):
    """Of every row of bench/rows.py, with the run behind it."""
    found = []
    for row in rows.ROWS:
        kept = measured["rows"].get(row.name)
        if kept is None:
            found.append((bounds.Outcome(row, None, None, None, False, "not measured"), None))
        else:
            found.append((bounds.outcome(row, kept["ours"], kept["peer"]), kept["run"]))
    return found


def runs_table(measured):
    lines = ["| run | when | commit | machine | rounds | load before |", "|---|---|---|---|---:|---|"]
    for run, letter in letters(measured).items():
        about = measured["runs"][run]
        load = f"{about['load_before']:.1f}: **busy**" if is_busy(about) else f"{about['load_before']:.1f}"
        machine = f"{about['cpu']}, {about['cores']} cores, {about['memory']}"
        lines.append(f"| {letter} | {about['date']} | {about['commit']} | {machine} | {about['rounds']} | {load} |")
    return "\n".join(lines) + "\n"


def document(measured):
    named = letters(measured)
    found = outcomes_of(measured)
    text = TEXT + bounds.table([outcome for outcome, _ in found], [named.get(run, "") for _, run in found])
    missing = sum(run is None for _, run in found)
    text += f"\n{bounds.summary([outcome for outcome, run in found if run])}, {missing} rows not measured yet. A busy machine slows both sides, and not always by as much.\n\n"
    text += runs_table(measured)
    text += GPU_TEXT + (ROOT / "bench/gpu_results.md").read_text()
    if measured["processes"]:
        text += JOBS_TEXT.format(run=named[measured["processes"]["run"]]) + bounds.jobs_table(measured["processes"]["jobs"])
    return text


def save(measured, path=MEASURED, page=PAGE):
    unfinished = pathlib.Path(f"{path}.unfinished")
    unfinished.write_text(json.dumps(measured, indent=1) + "\n")
    os.rename(unfinished, path)
    page.write_text(document(measured))
