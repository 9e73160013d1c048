#!/usr/bin/env python3
"""Compares the speed of two builds: this checkout's and that of another checkout, say the commit before a change. They take turns, so that both
meet the same noise.

    git worktree add ../before COMMIT && (cd ../before && make bench ONLY=store ROUNDS=1)
    .venv/bin/python bench/compare.py ../before                           all rows, 5 rounds
    .venv/bin/python bench/compare.py ../before --only ps-1x1 --only wal  some of them

A row fails where the median here is more than 3 % worse than the median there; the status is then 1. What counts is processor time where a program
reports it: other processes disturb it less. Leaves bench/results/DATE-COMMIT-compare.json.
REQUIRES: both builds have the programs of `make bench`.
"""

import argparse
import collections
import dataclasses
import json
import os
import pathlib
import statistics
import sys

import programs
import run

ALLOWED = 0.97  # of the other build's speed


@dataclasses.dataclass(frozen=True)
class Compared:
    """A row: the speed that the series `speed` has; where `relative_to` names another, the ratio of the two. `inverted`: the series is a time."""

    name: str
    speed: str
    unit: str
    relative_to: str = ""
    inverted: bool = False

    def measured(self, values):
        value = 1 / values[self.speed] if self.inverted else values[self.speed]
        return value / values[self.relative_to] if self.relative_to else value


ROWS = [
    Compared("gemm", "ctr.float32_1_thread.per_cpu_second", "samples per processor second"),
    Compared("threads", "ctr.float32_2_threads.per_cpu_second", "samples per processor second"),
    Compared("ps-1x1", "ps.1x1.samples_per_cpu_second", "samples per processor second"),
    Compared("ps-2x2", "ps.2x2.samples_per_cpu_second", "samples per processor second"),
    Compared("ps-local", "ps.1x1.samples_per_cpu_second", "of one thread without servers", relative_to="ctr.float32_1_thread.per_cpu_second"),
    Compared("wal", "ps.1x1-wal.samples_per_cpu_second", "samples per processor second"),
    Compared("store", "store", "M rows/s per core"),
    Compared("replay", "replay", "M rows/s"),
    Compared("wire-push", "wire.BM_Push/tcp", "pushes per µs", inverted=True),
    Compared("ddp-mlp", "mlp.ours", "steps/s"),
]


def there(program, checkout):
    """The same program of the other checkout, on this checkout's data."""

    def moved(part):
        inside = isinstance(part, pathlib.Path) and part.is_relative_to(programs.ROOT) and not part.is_relative_to(programs.ROOT / "bench/data")
        return checkout / part.relative_to(programs.ROOT) if inside else part

    return dataclasses.replace(program, command=[moved(part) for part in program.command])


def needed_programs(rows):
    names = {name for row in rows for name in (row.speed, row.relative_to) if name}
    return [program for program in programs.programs(run.Data()) if any(name == program.gives or name.startswith(program.gives + ".") for name in names)]


def measure(chosen, checkout, rounds):
    """The series of this checkout and of the other one; in every second round the other one goes first."""
    here, other = collections.defaultdict(list), collections.defaultdict(list)
    for turn in range(rounds):
        for program in chosen:
            print(f"compare: round {turn + 1} of {rounds}: {program.gives}", flush=True)
            pair = [(here, program), (other, there(program, checkout))]
            for series, one in pair if turn % 2 == 0 else reversed(pair):
                for name, value in one.measure().items():
                    series[name].append(value)
    return here, other


def medians(row, series):
    """The row's value in each round, and their median."""
    rounds = len(series[row.speed])
    values = [row.measured({name: series[name][turn] for name in (row.speed, row.relative_to) if name}) for turn in range(rounds)]
    return statistics.median(values)


def table(rows, here, other):
    lines = ["| row | unit | before | now | ratio | |", "|---|---|---:|---:|---:|---|"]
    slower = []
    for row in rows:
        before, now = medians(row, other), medians(row, here)
        if now < ALLOWED * before:
            slower.append(row.name)
        lines.append(f"| {row.name} | {row.unit} | {before:,.4g} | {now:,.4g} | {now / before:.3f} | {'**slower**' if row.name in slower else ''} |")
    return "\n".join(lines), slower


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=pathlib.Path, help="the other checkout, with its build/release")
    parser.add_argument("--only", action="append", choices=[row.name for row in ROWS], metavar="ROW", help="this row; may be given several times")
    parser.add_argument("--rounds", type=int, default=5, help="how often each program runs in each build (5)")
    args = parser.parse_args()
    checkout = args.before.resolve()
    if not (checkout / "build/release").is_dir():
        parser.error(f"{checkout}/build/release is not there: build the programs of make bench in that checkout first")
    rows = [row for row in ROWS if not args.only or row.name in args.only]
    run.make_criteo(run.Data())
    load = os.getloadavg()[0]
    here, other = measure(needed_programs(rows), checkout, args.rounds)
    text, slower = table(rows, here, other)
    about = run.facts(args.rounds, load)
    results = programs.ROOT / "bench/results"
    results.mkdir(exist_ok=True)
    name = f"{about['date'][:16].replace(' ', '-').replace(':', '')}-{about['commit'].split()[0]}-compare"
    (results / f"{name}.json").write_text(json.dumps({"about": about, "before": other, "now": here, "table": text}, indent=1) + "\n")
    print(f"\n{text}\n")
    if slower:
        sys.exit(f"compare: more than {100 * (1 - ALLOWED):.0f} % slower: {', '.join(slower)}")


if __name__ == "__main__":
    main()
