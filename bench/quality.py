#!/usr/bin/env python3
"""How much CTR-DNN learns in each mode, with each optimizer, and with each format of the wire: AUC of the first pass and of test files after each pass.

    make quality                              what is missing, for at most 60 minutes; then writes docs/quality.md
    make quality ONLY=adam-1x1                one part; --list shows all
    make quality LINES=100000 PASSES=1        a smaller one, which stands on the page by itself
    bench/quality.py --only wire --seeds 3
    bench/quality.py --page                   measures nothing; writes the page from bench/quality.jsonl

Every run that has ended is a line of bench/quality.jsonl, which is committed and which the page is made from; it is not repeated, unless --fresh says so: then what is
measured takes the place of what was. A run is a job of processes (or one process) of bench/ctr_quality.py; runs of equal seed begin with equal parameters and read the same
lines in the same order.
"""

import argparse
import collections
import dataclasses
import datetime
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import programs
from ps_job import free_ports, launch, shape
from run import TEST_LINES

ROOT = programs.ROOT
FILES = 8
PAGE, RESULTS = ROOT / "docs/quality.md", ROOT / "bench/quality.jsonl"
MINUTES = 60
RUN_SECONDS = 1500  # that one run may take
MODES = ("local", "sync", "half_async", "async", "geo")
FORMATS = ("float32", "bfloat16", "int8")
# Of Student's distribution, two-sided 95 %, by the number of pairs.
STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}


@dataclasses.dataclass(frozen=True, order=True)
class Scale:
    """How much each run trains."""

    lines: int = 300_000
    passes: int = 3

    @property
    def command(self):
        """What measures it."""
        return "make quality" if self == Scale() else f"make quality LINES={self.lines} PASSES={self.passes}"

    @property
    def data(self):
        return ROOT / f"bench/data/criteo-{self.lines}x{FILES}"


@dataclasses.dataclass(frozen=True)
class Run:
    """One job. `size` is SERVERSxWORKERS; on one machine as many threads as it has workers."""

    mode: str
    optimizer: str
    size: str
    seed: int
    wire: str = "float32"

    @property
    def part(self):
        return "wire" if self.wire != "float32" else f"{self.optimizer}-{self.size}"

    def passes(self, scale):
        """The formats of the wire are compared after the first one."""
        return scale.passes if self.wire == "float32" else 1


def all_runs():
    """In the order in which they are done: the first seeds of everything before the second ones."""
    runs = []
    for seed in range(1, 6):
        for optimizer, size in (("adam", "1x1"), ("adam", "2x2"), ("adagrad", "1x1"), ("sgd", "1x1"), ("adagrad", "2x2"), ("sgd", "2x2")):
            if optimizer != "adam" and seed > 2:
                continue
            runs += [Run(mode, optimizer, size, seed) for mode in MODES]
        runs += [Run("sync", "adam", "1x1", seed, wire) for wire in FORMATS[1:]]
    return runs


def chosen_runs(parts, seeds):
    """Those of the parts, or all. The formats of the wire are compared with float32's, whose runs belong to them."""

    def chosen(run):
        partner = run == Run("sync", "adam", "1x1", run.seed)
        return run.part in parts or (partner and "wire" in parts)

    return [run for run in all_runs() if (not parts or chosen(run)) and run.seed <= seeds]


def data_folder(scale):
    if not scale.data.exists():
        words = [sys.executable, ROOT / "tools/make_criteo.py", scale.data, "--lines", scale.lines, "--test-lines", TEST_LINES, "--files", FILES]
        subprocess.run([str(word) for word in words], check=True)
    return scale.data


def lines_of(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def joined(of_workers):
    """The passes of a job. The AUC of a pass is the mean of its workers' AUCs, each of the lines that it read itself: with one worker it is of all lines, as that of one
    machine with any number of threads is; with two it is the mean of two halves. Its samples per second are those of all, in the time of the slowest. The test AUC
    is the first worker's: in geo mode of its own copy of the model, otherwise of the servers'."""
    rows = []
    for passes in zip(*of_workers, strict=True):
        row = dict(passes[0])
        row["auc"] = statistics.mean(one["auc"] for one in passes)
        row["samples_per_second"] = row.pop("samples") / max(one["seconds"] for one in passes)
        rows.append(row)
    return rows


def perform(run, scale):
    data = data_folder(scale)
    script = [ROOT / "bench/ctr_quality.py", run.mode, run.optimizer, run.seed, run.passes(scale), data / "train/part-*", data / "test/part-*"]
    os.environ["OMP_NUM_THREADS"] = "1"
    if run.mode == "local":
        words = [sys.executable, *script, "--threads", shape(run.size)[1]]
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=RUN_SECONDS)
        if done.returncode != 0:
            sys.exit(f"quality: {run} ended with {done.returncode}:\n{done.stderr[-2000:]}")
        return joined([lines_of(done.stdout)])
    servers, workers = shape(run.size)
    with tempfile.TemporaryDirectory(prefix="quality-", dir=ROOT / "build") as name:
        logs = pathlib.Path(name) / "logs"
        words = [programs.BUILD / "bin/fleetrun", "--server_num", servers, "--worker_num", workers, "--start_port", free_ports(servers + workers)]
        words += ["--log_dir", logs, "--durability", "none", "--token", "bench", "--wire-format", run.wire, *script]
        os.environ["ARGOSY_PYTHON"] = sys.executable
        launch([str(word) for word in words], seconds=RUN_SECONDS)
        return joined([lines_of(file.read_text()) for file in sorted(logs.glob("workerlog.*"))])


def kept(results=RESULTS):
    """What has been measured: by scale, by run, its passes. Of a run that was repeated the last."""
    found = collections.defaultdict(dict)
    if results.exists():
        for line in results.read_text().splitlines():
            row = json.loads(line)
            found[Scale(**row["scale"])][Run(**row["run"])] = row
    return found


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()


def keep(run, scale, passes, results=RESULTS):
    """Notes a run. The line of an earlier one goes."""
    found = kept(results)
    changed = git("status", "--porcelain", "--untracked-files=no", "--", "argosy", "bench", ":!bench/quality.jsonl")
    found[scale][run] = {
        "scale": dataclasses.asdict(scale),
        "run": dataclasses.asdict(run),
        "passes": passes,
        "commit": git("rev-parse", "--short", "HEAD") + (" with changes" if changed else ""),
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
    }
    unfinished = results.with_suffix(".unfinished")
    unfinished.write_text("".join(json.dumps(row) + "\n" for of_scale in found.values() for row in of_scale.values()))
    unfinished.rename(results)


# ---- The page.


def mean_and_spread(values):
    """ "0.8210 ± 0.0007": the mean, and the deviation of single runs."""
    spread = f" ± {statistics.stdev(values):.4f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.4f}{spread}"


def paired(ours, theirs):
    """The mean difference of runs of equal seeds, and half of its 95 % interval; None with fewer than two pairs."""
    seeds = sorted(ours.keys() & theirs.keys())
    differences = [ours[seed] - theirs[seed] for seed in seeds]
    if len(differences) < 2:
        return None
    return statistics.mean(differences), STUDENT[len(differences)] * statistics.stdev(differences) / math.sqrt(len(differences))


def difference_text(pair):
    return "–" if pair is None else f"{pair[0]:+.4f} ± {pair[1]:.4f}"


def by_seed(found, value, **which):
    """{seed: value(passes)} of the runs with these fields."""
    return {run.seed: value(row["passes"]) for run, row in found.items() if all(getattr(run, name) == wanted for name, wanted in which.items())}


def speed_text(ours, theirs):
    """Samples per second of the last pass, and that over one machine's; medians both."""
    median = statistics.median(ours.values())
    return f"{median:,.0f}" + (f" ({median / statistics.median(theirs.values()):.2f})" if theirs else "")


def modes_table(found, optimizer, size, passes):
    later = "".join(f" pass {number} |" for number in range(2, passes + 1))
    against = " first pass against one machine | against sync |"
    lines = [f"| mode | runs | first pass | test, pass 1 |{later}{against} samples/s (of one machine's) |", f"|---|---:|---|{'---|' * passes}---|---|---:|"]
    of = {"optimizer": optimizer, "size": size, "wire": "float32"}
    first = {mode: by_seed(found, lambda rows: rows[0]["auc"], mode=mode, **of) for mode in MODES}
    speed = {mode: by_seed(found, lambda rows: rows[-1]["samples_per_second"], mode=mode, **of) for mode in MODES}
    for mode in MODES:
        if not first[mode]:
            continue
        tests = [by_seed(found, lambda rows, i=i: rows[i]["test_auc"], mode=mode, **of) for i in range(passes)]
        cells = [mean_and_spread(list(one.values())) for one in (first[mode], *tests)]
        cells += ["" if mode in (other, "local") else difference_text(paired(first[mode], first[other])) for other in ("local", "sync")]
        cells.append(speed_text(speed[mode], {} if mode == "local" else speed["local"]))
        lines.append(f"| {mode} | {len(first[mode])} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def wire_table(found):
    lines = [
        "| wire_format | runs | first pass | test, pass 1 | first pass against float32 | test, pass 1 against float32 | bytes per sample up | down |",
        "|---|---:|---|---|---|---|---:|---:|",
    ]
    which = {"mode": "sync", "optimizer": "adam", "size": "1x1"}
    first, test, up, down = (
        {wire: by_seed(found, lambda rows, name=name: rows[0][name], **which, wire=wire) for wire in FORMATS}
        for name in ("auc", "test_auc", "bytes_to_servers", "bytes_to_workers")
    )
    for wire in FORMATS:
        if not first[wire]:
            continue
        cells = [mean_and_spread(list(one[wire].values())) for one in (first, test)]
        against = ["" if wire == "float32" else difference_text(paired(one[wire], one["float32"])) for one in (first, test)]
        sizes = [f"{statistics.mean(one[wire].values()):,.0f}" for one in (up, down)]
        lines.append(f"| {wire} | {len(first[wire])} | {' | '.join(cells + against + sizes)} |")
    return "\n".join(lines) + "\n"


TEXT = f"""# Learning quality

How much CTR-DNN learns in each mode, beside one machine with as many threads as the job has workers. Written by `bench/quality.py` from `bench/quality.jsonl`, which has a line for each run: `make quality` makes
those that are missing, of 300,000 lines and three passes, for at most 60 minutes, and goes on there when it is started again; `LINES` and `PASSES` ask for another amount. The heading of
each part below says what made it.

Lines of `tools/make_criteo.py`, {TEST_LINES:,} others to test, batches of 1,000, Adam 0.001 (lazy), Adagrad 0.02, SGD 0.3; geo exchanges every 10 batches.
*First pass*: the AUC of all lines of the first pass, each scored before it is trained on. With two workers it is the mean of both, each of the lines that it read; that of one machine is of all lines
together, with two threads as with one: a small part of such a difference is that. *Test*: of the other lines, after the pass, by the first worker; in geo mode that is its own copy of the model. Mean and
deviation of single runs; differences are of runs of equal seeds, which begin with equal parameters and read the same lines, with the 95 % interval of the mean. Samples/s are the median of the
last pass, with the time that Python takes; what else the machine did then is in them.
"""


def page_of_scale(found, scale):
    commits = ", ".join(sorted({row["commit"] for row in found.values()}))
    dates = " to ".join(dict.fromkeys((min(row["date"] for row in found.values()), max(row["date"] for row in found.values()))))
    missing = collections.Counter(run.part for run in all_runs() if run not in found)
    left = ", ".join(f"{part} ({count} runs)" for part, count in missing.items())
    text = f"\n## {scale.lines:,} lines, {scale.passes} pass{'es' * (scale.passes > 1)}\n\nMade by `{scale.command}`, {dates}, at commit {commits}: {len(found)} runs. Not measured: {left or 'nothing'}.\n"
    for optimizer, size in dict.fromkeys((run.optimizer, run.size) for run in all_runs() if run in found and run.wire == "float32"):
        servers, workers = shape(size)
        people = f"{servers} server{'s' * (servers > 1)}, {workers} worker{'s' * (workers > 1)}"
        text += f"\n### {optimizer.capitalize()}, {people}\n\n{modes_table(found, optimizer, size, scale.passes)}"
    if any(run.wire != "float32" for run in found):
        text += f"\n### The wire\n\nSync mode, Adam, 1 server, 1 worker, by `wire_format` ([the wire](tuning.md#the-wire)).\n\n{wire_table(found)}"
    return text


def page(found):
    """Of all scales, the largest first."""
    return TEXT + "".join(page_of_scale(found[scale], scale) for scale in sorted(found, reverse=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = list(dict.fromkeys(run.part for run in all_runs()))
    parser.add_argument("--only", action="append", choices=parts, metavar="PART", help=", ".join(parts))
    parser.add_argument("--seeds", type=int, default=5, help="of each part, at most")
    parser.add_argument("--lines", type=int, default=Scale.lines)
    parser.add_argument("--passes", type=int, default=Scale.passes)
    parser.add_argument("--minutes", type=float, default=MINUTES, help="begin no run after so many")
    parser.add_argument("--fresh", action="store_true", help="measure again what has been measured")
    parser.add_argument("--list", action="store_true", help="show what is measured and what is missing")
    parser.add_argument("--page", action="store_true", help="measure nothing; write the page")
    args = parser.parse_args()
    if args.page:
        return write(kept())
    scale = Scale(args.lines, args.passes)
    found = kept()[scale]
    chosen = chosen_runs(args.only, args.seeds)
    if args.list:
        for run in chosen:
            print(f"{'measured' if run in found else 'missing ':8}  {run.part:12} {run.mode:10} seed {run.seed} {run.wire}")
        return
    begun = time.monotonic()
    for run in chosen:
        if run in found and not args.fresh:
            continue
        if time.monotonic() - begun > 60 * args.minutes:
            print(f"quality: {args.minutes:g} minutes are over; start it again to go on", flush=True)
            break
        print(f"quality: {run}", flush=True)
        keep(run, scale, perform(run, scale))
    write(kept())


def write(found):
    if not found:
        sys.exit(f"quality: nothing was measured, {RESULTS.relative_to(ROOT)} is empty; docs/quality.md is left as it is")
    PAGE.write_text(page(found))
    print(f"quality: {PAGE.relative_to(ROOT)} has {sum(len(one) for one in found.values())} runs")


if __name__ == "__main__":
    main()
