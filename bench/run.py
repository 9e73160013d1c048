#!/usr/bin/env python3
"""Everything behind `make bench`: measures each row of bench/rows.py beside its peer, in rounds that take turns, so that all
of them meet the same noise; prints the table and writes it down.

    .venv/bin/python bench/run.py                          all rows, 5 rounds; writes docs/benchmarks.md
    .venv/bin/python bench/run.py --only gemm --rounds 3   one row; writes it into docs/benchmarks.md
    .venv/bin/python bench/run.py --only processes         the table of jobs of 1 to 8 servers and workers
    .venv/bin/python bench/run.py --page                   measures nothing; writes the page from bench/measured.json
    .venv/bin/python bench/run.py --check                  make bench-check: fails where a ratio fell 10 % below that of bench/measured.json; changes neither it nor the page

A bound that is not met is reported, not an error. Every run leaves bench/results/DATE-COMMIT.json with all that was measured. With 3 rounds or more it is
noted in bench/measured.json, from which the page is made; where the machine is busy, rows that were measured on an idle one stay as they are.
REQUIRES: the programs are built (make bench does it).
"""

import argparse
import collections
import ctypes.util
import dataclasses
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np

import bounds
import page
import programs
import rows
from link import may_make_links

ROOT = programs.ROOT
LINES, TEST_LINES, FILES = 100_000, 20_000, 8
HASH_DIM, SLOTS = 1_000_001, 26
JOBS = "processes"  # what --only calls the table of jobs


@dataclasses.dataclass(frozen=True)
class Data:
    """The same lines in each reader's format."""

    criteo: pathlib.Path = ROOT / f"bench/data/criteo-{LINES}x{FILES}"
    multislot_parts: pathlib.Path = ROOT / f"bench/data/multislot-{LINES}x{FILES}"
    multislot: pathlib.Path = ROOT / f"bench/data/multislot-{LINES}x{FILES}.txt"  # all parts in one
    arrays: pathlib.Path = ROOT / f"bench/data/arrays-{LINES}x{FILES}.npz"
    words: pathlib.Path = ROOT / "bench/data/words-5000000x2"  # bench/make_corpus.py's

    def parts(self, kind):
        return sorted((self.criteo / kind).iterdir())


def make_criteo(data):
    if not data.criteo.exists():
        subprocess.run(
            [sys.executable, ROOT / "tools/make_criteo.py", data.criteo, "--lines", str(LINES), "--test-lines", str(TEST_LINES), "--files", str(FILES)],
            check=True,
        )


def make_multislot(data):
    if data.multislot.exists():
        return
    (data.multislot_parts / "train").mkdir(parents=True, exist_ok=True)
    unfinished = data.multislot.with_suffix(".unfinished")
    with unfinished.open("wb") as whole:
        for part in data.parts("train"):
            with part.open("rb") as lines:
                done = subprocess.run(
                    [programs.BUILD / "bin/argosy", "criteo", str(HASH_DIM), "--scheme", "log1p"], stdin=lines, stdout=subprocess.PIPE, check=True
                )
            (data.multislot_parts / "train" / part.name).write_bytes(done.stdout)
            whole.write(done.stdout)
    unfinished.rename(data.multislot)


def make_arrays(data):
    """The numbers of the MultiSlot lines, each of which is: 13 and the numbers, 1 and an id for each slot, 1 and the label."""
    if data.arrays.exists():
        return
    numbers = np.fromstring(data.multislot.read_text(), np.float64, sep=" ").reshape(-1, 14 + 2 * SLOTS + 2)
    unfinished = data.arrays.with_suffix(".unfinished.npz")
    np.savez(unfinished, dense=numbers[:, 1:14].astype(np.float32), ids=numbers[:, 15:-2:2].astype(np.int64), label=numbers[:, -1].astype(np.int64))
    unfinished.rename(data.arrays)


def make_words(data):
    if not data.words.exists():
        unfinished = data.words.with_suffix(".unfinished")
        subprocess.run([sys.executable, ROOT / "bench/make_corpus.py", unfinished], check=True)
        unfinished.rename(data.words)


def make_gensim():
    """An environment with gensim; false where it cannot be had."""
    folder = programs.GENSIM.parent.parent
    if programs.GENSIM.exists():
        return True
    done = subprocess.run([sys.executable, "-m", "venv", folder]).returncode
    if done == 0:
        done = subprocess.run(
            [folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", ROOT / "bench/peers/requirements-gensim.txt"]
        ).returncode
    if done != 0:
        shutil.rmtree(folder, ignore_errors=True)
    return done == 0


def wants(wanted, *names):
    return any(each.startswith(names) for each in wanted)


def prepare(wanted, data):
    """Makes the data and the peers that the wanted programs need. Returns why a peer cannot run, by the beginning of its name."""
    absent = {}
    make_criteo(data)
    if wants(wanted, "load", "paddle", "torch", "ps.1x1-pipe"):
        make_multislot(data)
    if wants(wanted, "torch"):
        make_arrays(data)
    if wants(wanted, "paddle") and subprocess.run([ROOT / "tests/parity/environments.sh", "2.6.2"]).returncode != 0:
        absent["paddle"] = "peer not present: PaddlePaddle 2.6.2 could not be installed"
    if wants(wanted, "fluid") and subprocess.run([ROOT / "tests/parity/environments.sh", "1.8.5"]).returncode != 0:
        absent["fluid"] = "peer not present: PaddlePaddle 1.8.5 could not be installed"
    if wants(wanted, "word2vec", "gensim"):
        make_words(data)
    if wants(wanted, "gensim") and not make_gensim():
        absent["gensim"] = "peer not present: gensim could not be installed"
    for allocator in ("jemalloc", "mimalloc"):
        if wants(wanted, allocator) and ctypes.util.find_library(allocator) is None:
            absent[allocator] = f"peer not present: {allocator} is not installed"
    if wants(wanted, "iperf3") and shutil.which("iperf3") is None:
        absent["iperf3"] = "peer not present: iperf3 is not installed"
    if wants(wanted, "link-") and not may_make_links():
        absent["link-"] = "network namespaces need root"
    return absent


def measure(chosen, rounds):
    """A list of measurements for each series, a round after another."""
    series = collections.defaultdict(list)
    for turn in range(rounds):
        for program in chosen:
            if turn >= program.rounds:
                continue
            print(f"bench: round {turn + 1} of {min(rounds, program.rounds)}: {program.gives}", flush=True)
            for name, value in program.measure().items():
                series[name].append(value)
    if "load" in series and "paddle" in series and series["load.samples"] != series["paddle.samples"]:
        sys.exit(f"bench: we read {series['load.samples']} samples of one file, PaddlePaddle {series['paddle.samples']}")
    return dict(series)


def first_line(command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.partition("\n")[0].strip()


def facts(rounds, load):
    """Where, when and on what the run was made."""

    def proc(file, key):
        return next((line.partition(":")[2].strip() for line in pathlib.Path(file).read_text().splitlines() if line.startswith(key)), "unknown")

    changed = first_line(["git", "status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/benchmarks.md", ":!bench/measured.json"])
    return {
        "cpu": proc("/proc/cpuinfo", "model name"),
        "cores": os.cpu_count(),
        "memory": f"{int(proc('/proc/meminfo', 'MemTotal').split()[0]) / 2**20:.0f} GiB",
        "commit": first_line(["git", "rev-parse", "--short", "HEAD"]) + (" with changes" if changed else ""),
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "rounds": rounds,
        "load_before": load,
    }


def write(outcomes, series, about):
    """Keeps every measurement, and brings the page up to date where there were rounds enough."""
    results = ROOT / "bench/results"
    results.mkdir(exist_ok=True)
    name = f"{about['date'][:16].replace(' ', '-').replace(':', '')}-{about['commit'].split()[0]}"
    jobs = bounds.jobs_as_json(series)
    (results / f"{name}.json").write_text(json.dumps({"about": about, "jobs": jobs, **bounds.as_json(outcomes, series)}, indent=1) + "\n")
    if about["rounds"] < page.ROUNDS:
        print(f"bench: {about['rounds']} rounds are too few for docs/benchmarks.md, which is left as it is")
        return jobs
    measured = page.load()
    left = page.note(measured, outcomes, jobs, about)
    page.save(measured)
    if left:
        print(f"bench: the machine was busy; of an idle one, and left as they are in docs/benchmarks.md: {', '.join(left)}")
    return jobs


def check(chosen_rows, series, absent):
    """Compares what was measured with what is committed; ends with an error where a ratio fell, or nothing could be compared."""
    committed = {one.row.name: one for one, run in page.outcomes_of(page.load()) if run}
    pairs = [(committed[row.name], bounds.judge(row, series, absent)) for row in chosen_rows]
    table, fallen = bounds.check_table(pairs)
    print("\n" + table)
    if fallen:
        sys.exit(
            f"bench-check: more than {100 * bounds.ALLOWED:.0f} % worse than bench/measured.json has it: {', '.join(fallen)}; measure it again on an idle machine"
        )
    compared = sum(now.result is not None for _, now in pairs)
    if compared == 0:
        sys.exit("bench-check: nothing could be compared")
    print(f"bench-check: none of {compared} ratios is more than {100 * bounds.ALLOWED:.0f} % worse than the committed one")


def rows_to_check(only):
    """Those with a committed ratio."""
    known = page.load()["rows"]
    chosen = [row for row in rows.ROWS if bounds.checked(row) and row.name in known and (not only or row.name in only)]
    if not chosen:
        sys.exit(f"bench-check: bench/measured.json has no ratio of {', '.join(only or ['any row'])}")
    return chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [row.name for row in rows.ROWS] + [JOBS]
    parser.add_argument("--only", action="append", choices=names, metavar="ROW", help="measure this row; may be given several times: " + ", ".join(names))
    parser.add_argument("--rounds", type=int, default=5, help="how often each program runs (5)")
    parser.add_argument("--page", action="store_true", help="measure nothing; write the page from bench/measured.json")
    parser.add_argument("--check", action="store_true", help="compare the ratios with those of bench/measured.json, and leave that as it is")
    args = parser.parse_args()
    if args.page:
        return page.save(page.load())
    if args.rounds < 1:
        parser.error("--rounds is at least 1")
    load = os.getloadavg()[0]
    if load > page.BUSY:
        print(f"bench: the machine's load is {load:.1f}; what runs beside a benchmark spoils it", flush=True)

    chosen_rows = rows_to_check(args.only) if args.check else [row for row in rows.ROWS if not args.only or row.name in args.only]
    needed = {name for row in chosen_rows for name in (row.ours, row.peer) if name}
    data = Data()
    chosen = [program for program in programs.programs(data) if any(name == program.gives or name.startswith(program.gives + ".") for name in needed)]
    if not args.check and (not args.only or JOBS in args.only):
        chosen += programs.job_sizes(data)
    absent = prepare({program.gives for program in chosen}, data)
    series = measure([program for program in chosen if not program.gives.startswith(tuple(absent))], args.rounds)
    if args.check:
        return check(chosen_rows, series, absent)
    outcomes = [bounds.judge(row, series, absent) for row in chosen_rows]
    jobs = write(outcomes, series, facts(args.rounds, load))
    print("\n" + bounds.table(outcomes) + ("\n" + bounds.jobs_table(jobs) if jobs else "") + "\n" + bounds.summary(outcomes))


if __name__ == "__main__":
    main()
