"""What came of the rows of bench/rows.py: whether their bounds are met, as tables and as JSON. Arithmetic and tables only."""

import dataclasses
import statistics

import rows

MEASURES = {
    "ratio": lambda ours, peer: ours / peer,
    "difference": lambda ours, peer: ours - peer,
    "distance": lambda ours, peer: abs(ours - peer),
    "value": lambda ours, peer: ours,
}


@dataclasses.dataclass(frozen=True)
class Outcome:
    row: rows.Row
    ours: float | None
    peer: float | None
    result: float | None  # what is held against the bound; None where it could not be measured
    met: bool
    note: str = ""


def judge(row, series, absent):
    """The outcome of a row. `series` has the measurements by name; `absent` says why those that begin with a name are not there."""
    ours, peer = (statistics.median(series[name]) if series.get(name) else None for name in (row.ours, row.peer))
    missing = [name for name in (row.ours, row.peer) if name and not series.get(name)]
    if missing:
        why = next((reason for name, reason in absent.items() if missing[0].startswith(name)), f"{missing[0]} was not measured")
        return Outcome(row, ours, peer, None, False, why)
    return outcome(row, ours, peer)


def outcome(row, ours, peer):
    """Of the medians."""
    result = MEASURES[row.measure](ours, peer)
    return Outcome(row, ours, peer, result, row.bound is not None and (result >= row.bound if row.relation == ">=" else result <= row.bound))


def checked(row):
    """Whether `make bench-check` compares this row: a ratio, which another machine should find too."""
    return row.measure == "ratio"


def fell(row, committed, now):
    """By how much of the committed ratio a newer one is worse; negative where it is better. Without a bound more is better: such ratios are of rates."""
    return 1 - now / committed if row.relation != "<=" else now / committed - 1


ALLOWED = 0.10  # that a ratio may fall below the committed one


def check_table(pairs):
    """`pairs`: what is committed of a row and what was measured now. Returns the table and the names of the rows that fell by more than is allowed."""
    lines, fallen = ["| row | committed | now | worse by | |", "|---|---:|---:|---:|---|"], []
    for committed, now in pairs:
        row = committed.row
        if now.result is None:
            lines.append(f"| {row.name} | {number(committed.result)} | – | – | not checked: {now.note} |")
            continue
        by = fell(row, committed.result, now.result)
        if by > ALLOWED:
            fallen.append(row.name)
        lines.append(f"| {row.name} | {number(committed.result)} | {number(now.result)} | {100 * by:+.1f} % | {'**fell**' if by > ALLOWED else ''} |")
    return "\n".join(lines) + "\n", fallen


def number(value, unit=""):
    """About four digits that count, thousands in groups; an AUC with five decimals."""
    if value is None:
        return "–"
    digits = 5 if unit == "AUC" else 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 2 if abs(value) >= 10 else 3
    return f"{value:,.{digits}f}"


def verdict(outcome):
    if outcome.result is None or outcome.row.bound is None:
        return outcome.note
    return "met" if outcome.met else "**not met**"


def table(outcomes, runs=None):
    """`runs`: the run that each is of, as a last column."""
    lines = ["| row | what | ours | peer | unit | result | bound | |", "|---|---|---:|---:|---|---:|---:|---|"]
    if runs is not None:
        lines = [lines[0] + " run |", lines[1] + "---|"]
    for i, outcome in enumerate(outcomes):
        row = outcome.row
        ours, peer, result = (number(value, row.unit) for value in (outcome.ours, outcome.peer, outcome.result))
        bound = row.measure if row.bound is None else f"{row.measure} {'≥' if row.relation == '>=' else '≤'} {row.bound:g}"
        cells = [row.name, row.what, ours, peer, row.unit, result, bound, verdict(outcome), *([] if runs is None else [runs[i]])]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def summary(outcomes):
    bounded = [outcome for outcome in outcomes if outcome.row.bound is not None]
    return f"{sum(outcome.met for outcome in bounded)} of {len(bounded)} bounds met"


JOB_COLUMNS = {
    "servers": "servers",
    "workers": "workers",
    "samples_per_second": "samples/s",
    "worker_us": "µs per sample, workers",
    "server_us": "µs per sample, servers",
    "bytes_to_servers": "bytes per sample to servers",
    "bytes_to_workers": "bytes per sample to workers",
}


def jobs_as_json(series):
    """What was measured of jobs of several sizes, a job after another: the medians of the series `processes.SIZE.COLUMN`."""
    sizes = sorted({int(name.split(".")[1]) for name in series if name.startswith("processes.")})
    return [{column: statistics.median(series[f"processes.{size}.{column}"]) for column in JOB_COLUMNS} for size in sizes]


def jobs_table(jobs):
    lines = [f"| {' | '.join(JOB_COLUMNS.values())} |", "|" + "---:|" * len(JOB_COLUMNS)]
    for job in jobs:
        cells = [f"{job[column]:.0f}" if column in ("servers", "workers") else number(job[column]) for column in JOB_COLUMNS]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def as_json(outcomes, series):
    """The table for machines, with every measurement behind it."""
    return {
        "rows": [
            {
                "row": o.row.name,
                "what": o.row.what,
                "unit": o.row.unit,
                "ours": o.ours,
                "peer": o.peer,
                "measure": o.row.measure,
                "result": o.result,
                "relation": o.row.relation,
                "bound": o.row.bound,
                "met": o.met,
                "note": o.note,
            }
            for o in outcomes
        ],
        "series": series,
    }
