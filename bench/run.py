#!/usr/bin/env python3
"""Everything behind `make bench`: measures each row of bench/rows.py beside its peer, in rounds that take turns, so that all
of them meet the same noise; prints the table and writes it down.

    .venv/bin/python bench/run.py                          all rows, 5 rounds; writes docs/benchmarks.md
    .venv/bin/python bench/run.py --only gemm --rounds 3   one row; prints the table, leaves the document as it is
    .venv/bin/python bench/run.py --only processes         the table of jobs of 1 to 8 servers and workers

A bound that is not met is reported, not an error. Every run leaves bench/results/DATE-COMMIT.md and .json, and
DATE-COMMIT-processes.json for the table of jobs.
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

import programs
import rows
from link import may_make_links

ROOT = programs.ROOT
LINES, TEST_LINES, FILES = 100_000, 20_000, 8
HASH_DIM, SLOTS = 1_000_001, 26
JOBS = "processes"  # what --only calls the table of jobs
BUSY = 0.5  # a load above it says that the machine does something else


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

    changed = first_line(["git", "status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/benchmarks.md"])
    return {
        "cpu": proc("/proc/cpuinfo", "model name"),
        "cores": os.cpu_count(),
        "memory": f"{int(proc('/proc/meminfo', 'MemTotal').split()[0]) / 2**20:.0f} GiB",
        "commit": first_line(["git", "rev-parse", "--short", "HEAD"]) + (" with changes" if changed else ""),
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "rounds": rounds,
        "load_before": load,
    }


def document(outcomes, jobs, about):
    busy = f" The machine was not idle: its load was {about['load_before']:.1f} before the run.\n" if about["load_before"] > BUSY else "\n"
    text = (
        f"# Benchmarks\n\nWritten by `make bench`. {about['cpu']}, {about['cores']} cores, {about['memory']}; commit {about['commit']}; {about['date']}.{busy}\n"
        f"Each number is the median of {about['rounds']} rounds ({min(about['rounds'], programs.SLOW)} where a run takes long); in a round every program runs once, ours beside its\n"
        f"peer. CTR-DNN: 13 numbers, 26 slots, a table of {HASH_DIM:,} x 10, layers of 400-400-400-2, batches of 1,000, Adam; {LINES:,} lines, in memory\n"
        f"where there are no servers. The speed is that of the second pass over them, the AUC that of {TEST_LINES:,} other lines after the first. Jobs with servers\n"
        f"(`ps-*`, `wal`) are processes that stream the lines from files, one thread per worker; so do PaddlePaddle's. [What helped](benchmarks-notes.md).\n\n"
        f"{rows.table(outcomes)}"
    )
    text += f"\n## On a GPU\n\nBy `bench/gpu.py`, on a machine of its own.\n\n{(ROOT / 'bench/gpu_results.md').read_text()}"
    if not jobs:
        return text
    return text + (
        f"\n## More and more processes\n\nThe same job as 1 to 8 servers and workers on {about['cores']} cores, measured once: processor time and bytes on the wire count here,\n"
        f"samples per second mean little where there are more processes than cores.\n\n{rows.jobs_table(jobs)}"
    )


def write(outcomes, series, about, whole):
    results = ROOT / "bench/results"
    results.mkdir(exist_ok=True)
    name = f"{about['date'][:16].replace(' ', '-').replace(':', '')}-{about['commit'].split()[0]}"
    jobs = rows.jobs_as_json(series)
    (results / f"{name}.md").write_text(document(outcomes, jobs, about))
    (results / f"{name}.json").write_text(json.dumps({"about": about, **rows.as_json(outcomes, series)}, indent=1) + "\n")
    if jobs:
        (results / f"{name}-processes.json").write_text(json.dumps({"about": about, "jobs": jobs}, indent=1) + "\n")
    if whole:
        (ROOT / "docs/benchmarks.md").write_text(document(outcomes, jobs, about))
    return jobs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [row.name for row in rows.ROWS] + [JOBS]
    parser.add_argument("--only", action="append", choices=names, metavar="ROW", help="measure this row; may be given several times: " + ", ".join(names))
    parser.add_argument("--rounds", type=int, default=5, help="how often each program runs (5)")
    args = parser.parse_args()
    if args.rounds < 1:
        parser.error("--rounds is at least 1")
    load = os.getloadavg()[0]
    if load > BUSY:
        print(f"bench: the machine's load is {load:.1f}; what runs beside a benchmark spoils it", flush=True)

    chosen_rows = [row for row in rows.ROWS if not args.only or row.name in args.only]
    needed = {name for row in chosen_rows for name in (row.ours, row.peer) if name}
    data = Data()
    chosen = [program for program in programs.programs(data) if any(name == program.gives or name.startswith(program.gives + ".") for name in needed)]
    if not args.only or JOBS in args.only:
        chosen += programs.job_sizes(data)
    absent = prepare({program.gives for program in chosen}, data)
    series = measure([program for program in chosen if not program.gives.startswith(tuple(absent))], args.rounds)
    outcomes = [rows.judge(row, series, absent) for row in chosen_rows]
    jobs = write(outcomes, series, facts(args.rounds, load), whole=not args.only and args.rounds >= 5)
    print("\n" + rows.table(outcomes) + ("\n" + rows.jobs_table(jobs) if jobs else "") + "\n" + rows.summary(outcomes))


if __name__ == "__main__":
    main()
