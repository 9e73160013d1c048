#!/usr/bin/env python3
"""What does not fit into continuous integration, in parts of at most 40 minutes each; every part's last result is kept with its commit.

    make nightly                every part that has not passed at this commit, one after the other
    make nightly PART=asan      one part
    make nightly PART=list      the last result of each part
    make nightly ZOO=folder     with the zoo, which needs a checkout of PaddleRec

A part that is interrupted has no result. Results lie in build/nightly/results.json, what a part printed in build/nightly/PART.log. A part that lacks what
it needs is not run, and has not passed: the call says so and fails.
"""

import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "nightly"
MINUTES = 40


@dataclasses.dataclass(frozen=True)
class Part:
    name: str
    command: tuple
    what: str
    needs: tuple = ()  # a variable that must be set, and what it must name
    resumes: bool = False  # run again after it was stopped, it goes on where it was


# Parts write these pages; a checkout that differs in them only is still that of its commit.
WRITTEN = ("docs/promises.md", "docs/zoo.md", "docs/parity.md", "docs/observe/*.png")


PARTS = (
    Part("asan", ("make", "asan"), "the torch-free rooms under AddressSanitizer and UndefinedBehaviorSanitizer"),
    Part("tsan", ("make", "tsan"), "the torch-free rooms under ThreadSanitizer"),
    Part("fuzz", ("make", "fuzz", "SECONDS=60"), "each fuzzer for a minute"),
    Part("tidy", ("make", "tidy"), "clang-tidy"),
    Part(
        "examples",
        ("env", "ARGOSY_EVERY_EXAMPLE=1", ".venv/bin/python", "-m", "pytest", "-q", "tests/system/test_ranking_examples.py"),
        "each ranking model on servers",
    ),
    Part("faults", ("make", "faults"), "every fault case", resumes=True),
    Part(
        "replicas",
        (".venv/bin/python", "tests/fault/every_case.py", "--replicas", "1", "--selection"),
        "fault cases of servers with followers: every pair of cause, mode, reader and threads",
        resumes=True,
    ),
    Part("soak", ("make", "soak", "MINUTES=20"), "jobs under random faults"),
    Part("planted", ("make", "planted"), "the tests against every planted bug", resumes=True),
    Part("parity", ("make", "parity"), "every function against PaddlePaddle 1.8.5 and 2.6.2"),
    Part(
        "zoo",
        ("make", "zoo", "RESUME=1"),
        "PaddleRec's models on their sample data (with JUDGE=python, against PaddlePaddle 2.6.2)",
        needs=("ZOO", "a checkout of PaddleRec"),
        resumes=True,
    ),
    Part("no-servers", ("make", "noservers"), "the build without gRPC and RocksDB: its extension trains"),
    Part(
        "ray",
        (".venv/bin/python", "-m", "pytest", "-q", "-s", "-n", "0", "-p", "no:randomly", "tests/system/check_ray_faults.py"),
        "kill -9 of every role, actor and node of jobs on Ray",
    ),
    Part("observe", ("make", "observe"), "a job's metrics in Prometheus, its page in Chromium, its events in TensorBoard"),
    Part("wheel", ("make", "wheel"), "the wheel, in an empty environment"),
)


def git(*words):
    return subprocess.run(["git", "-C", str(ROOT), *words], check=True, capture_output=True, text=True).stdout.strip()


def commit():
    """With a mark where the checkout differs from it."""
    differs = git("status", "--porcelain", "--untracked-files=no", "--", ".", *(f":!{page}" for page in WRITTEN))
    return git("rev-parse", "--short", "HEAD") + ("+changes" if differs else "")


def lacks(part):
    """What is not there that the part needs, as a sentence; empty where nothing is missing."""
    variable, what = part.needs or ("", "")
    folder = os.environ.get(variable, "")
    if not variable or os.path.isdir(folder):
        return ""
    return f"{part.name} is not run: " + (f"{variable}={folder} is no folder" if folder else f"{variable} is not set") + f"; set {variable}=folder, {what}"


class Results:
    def __init__(self, path):
        self.path = path
        self.parts = json.loads(path.read_text()) if path.exists() else {}

    def passed(self, part, at):
        kept = self.parts.get(part.name)
        return kept is not None and kept["passed"] and kept["commit"] == at

    def note(self, part, **result):
        self.parts[part.name] = result
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(self.parts, indent=1))
        os.rename(unfinished, self.path)

    def table(self):
        yield f"{'part':9} {'result':8} {'minutes':>7}  {'commit':16} {'when':16}  what"
        for part in PARTS:
            kept = self.parts.get(part.name)
            if kept is None:
                yield f"{part.name:9} {'not run':8} {'':7}  {'':16} {'':16}  {part.what}"
            else:
                result = "passed" if kept["passed"] else "FAILED"
                yield f"{part.name:9} {result:8} {kept['minutes']:7.1f}  {kept['commit']:16} {kept['when']:16}  {part.what}"


def run(part, minutes):
    """Whether the part passes. What it prints goes to its log; a part that takes longer is stopped with all that it started."""
    log = FOLDER / f"{part.name}.log"
    with log.open("wb") as out:
        process = subprocess.Popen(part.command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            return process.wait(60 * minutes) == 0
        except subprocess.TimeoutExpired:
            out.write(f"\nstopped after {minutes} minutes{'; run again, it goes on from here' if part.resumes else ''}\n".encode())
            return False
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait()


def wanted(name, results, at):
    if name:
        return [part for part in PARTS if part.name == name]
    return [part for part in PARTS if not results.passed(part, at)]


def main():
    names = [part.name for part in PARTS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", default="", choices=["", "list", *names], metavar="PART", help="one of: list, " + ", ".join(names))
    parser.add_argument("--minutes", type=float, default=MINUTES, help="that a part may take")
    options = parser.parse_args()
    results, at = Results(FOLDER / "results.json"), commit()
    FOLDER.mkdir(parents=True, exist_ok=True)
    failed = False
    for part in [] if options.part == "list" else wanted(options.part, results, at):
        if missing := lacks(part):
            print(missing, flush=True)
            failed = True
            continue
        print(f"{part.name}: {part.what} (build/nightly/{part.name}.log)", flush=True)
        begun = time.monotonic()
        passed = run(part, options.minutes)
        failed |= not passed
        results.note(
            part,
            passed=passed,
            commit=at,
            minutes=round((time.monotonic() - begun) / 60, 1),
            when=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M"),
        )
    print("\n".join(results.table()))
    sys.exit(failed)


if __name__ == "__main__":
    main()
