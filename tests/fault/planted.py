"""Runs the tests against every planted bug (plants.py) until one of them fails, and writes the table of docs/promises.md.

A bug counts as caught where a test that passes without it fails with it. Each has two minutes: first the tests that should see it, then fault cases of
every cause. Each finding is stored when it is made: a run that was interrupted goes on where it was, as long as the sources are the same. The table is made
of all that is stored.
"""

import argparse
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

import cases
from plants import PLANTS, Plant

BUILD = cases.ROOT / "build" / "planted"
RESULTS = cases.ROOT / "build" / "planted-results.json"
PAGE = cases.ROOT / "docs" / "promises.md"
BEGIN, END = "<!-- planted: begin; `make planted` writes what follows -->", "<!-- planted: end -->"
SECONDS = 120
CASE_SEED = 7
FAILED = "[  FAILED  ]"  # of a unit test, whatever hangs after it
RAN = re.compile(r"^\[=+\] (?!0)\d+ tests? ", re.M)  # a unit test program that has run something


@dataclasses.dataclass
class Finding:
    point: str
    test: str = ""  # that failed; empty: none did
    seconds: float = 0
    says: str = ""
    sources: str = ""  # that were tested
    proven: bool = False  # that the test passes without the bug; of a finding with a test only


def sources():
    """Names the commit, and what the checkout has besides: findings of one name are of the same tests and the same code."""

    def git(*words):
        return subprocess.run(["git", "-C", str(cases.ROOT), *words], check=True, capture_output=True, text=True).stdout

    changed = git("diff", "HEAD", "--", ".", ":!docs", ":!changes", ":!*.md")
    return git("rev-parse", "--short", "HEAD").strip() + ("+" + hashlib.sha256(changed.encode()).hexdigest()[:8] if changed else "")


class Findings:
    """The last finding of each planted bug, in a file that has each as soon as it is noted. Any thread may note one."""

    def __init__(self, path: pathlib.Path):
        self.path = path
        self.lock = threading.Lock()
        stored = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self.of = {name: Finding(**value) for name, value in stored.items() if any(plant.name == name for plant in PLANTS)}

    def note(self, finding):
        with self.lock:
            self.of[finding.point] = finding
            unfinished = self.path.with_suffix(".unfinished")
            unfinished.write_text(json.dumps({name: dataclasses.asdict(each) for name, each in self.of.items()}, indent=1), encoding="utf-8")
            os.rename(unfinished, self.path)

    def left(self, wanted, at):
        """Those of `wanted` that nobody has caught in these sources."""
        return [plant for plant in wanted if not (plant.name in self.of and self.of[plant.name].sources == at and self.of[plant.name].test)]

    def unproven(self, at):
        """Those of these sources whose tests have not been seen to pass without a bug, by test."""
        found = {}
        for finding in self.of.values():
            if finding.test and not finding.proven and finding.sources == at:
                found.setdefault(finding.test, []).append(finding)
        return found


RUNNING = set()  # tests' processes, each the first of a group of its own


def command_of(test):
    """`ps_test:Filter.*` is a unit test, `x.py` a check of its own, anything else a fault case."""
    if ":" in test:
        program, pattern = test.split(":", 1)
        return [str(next(BUILD.glob(f"argosy/*/{program}"))), f"--gtest_filter={pattern}", "--gtest_brief=1", "--gtest_fail_fast=1"]
    if test.endswith(".py"):
        return [sys.executable, str(cases.HERE / test), "--build", str(BUILD)]
    return [sys.executable, str(cases.HERE / "cases.py"), test, "--seed", str(CASE_SEED), "--build", str(BUILD)]


def run(test, point, seconds):
    """Whether the test passes; None where it has not ended in time, which says nothing."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("ARGOSY_")}
    if point:
        env["ARGOSY_PLANT"] = point
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command_of(test), env=env, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        RUNNING.add(process)
        try:
            process.wait(max(seconds, 1))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            out.seek(0)
            says = out.read()
            return (False, says[-4000:]) if FAILED in says else (None, "not ended")
        finally:
            RUNNING.discard(process)
        out.seek(0)
        says = out.read()
        assert process.returncode != 0 or ":" not in test or RAN.search(says), f"{test} ran nothing:\n{says[:1000]}"
        return process.returncode == 0, says[-4000:]


def tests_for(plant):
    """Those that should see it; then a case of each cause, in every mode and reader in turn."""
    general = [
        f"{cause}-{mode}-{reader}-{threads}"
        for cause, mode, reader, threads in zip(
            [name for name, cause in cases.CAUSES.items() if not cause.only_replicas],
            ("sync", "async", "geo", "half_async") * 9,
            ("dataset", "feeder", "loader") * 9,
            (1, 2, 2, 1, 2) * 9,
        )
    ]
    return [*plant.seen_by, *(test for test in general if test not in plant.seen_by)]


def find(plant, at):
    begun = time.monotonic()
    for test in tests_for(plant):
        left = SECONDS - (time.monotonic() - begun)
        if left < 5:
            break
        passed, says = run(test, plant.name, left)
        if passed is False:
            return Finding(plant.name, test, time.monotonic() - begun, says, at)
    return Finding(plant.name, seconds=time.monotonic() - begun, sources=at)


def look_for(plants, findings, at, jobs):
    def look(plant):
        finding = find(plant, at)
        findings.note(finding)
        print(f"{plant.name}: " + (f"caught by {finding.test} after {finding.seconds:.0f} s" if finding.test else "NOT CAUGHT"), flush=True)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(look, plants))


def control(findings, at, jobs):
    """Tests that have caught something must pass where nothing is planted; those that do not have caught nothing."""

    def prove(test, caught):
        passed, says = run(test, "", 2 * SECONDS)
        if not passed:
            print(f"{test} fails without a planted bug, and so proves nothing:\n{says}", flush=True)
        for finding in caught:
            findings.note(dataclasses.replace(finding, proven=True) if passed else Finding(finding.point, seconds=finding.seconds, sources=finding.sources))

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda item: prove(*item), sorted(findings.unproven(at).items())))


def table(findings):
    rows = ["| point | where | the mistake | caught by | after |", "|---|---|---|---|---|"]
    for plant in PLANTS:
        finding = findings.get(plant.name)
        if finding is None or (finding.test and not finding.proven):
            by = "not run | "
        else:
            by = f"`{finding.test}` | {finding.seconds:.0f} s" if finding.test else f"**nobody** | {finding.seconds:.0f} s"
        rows.append(f"| `{plant.name}` | `{plant.file}` | {plant.mistake} | {by} |")
    caught = sum(finding.proven for finding in findings.values())
    return "\n".join([f"{caught} of {len(PLANTS)} planted bugs are caught.", "", *rows])


def write_page(findings):
    text = PAGE.read_text(encoding="utf-8")
    assert BEGIN in text and END in text, f"{PAGE} has no marks for the table"
    PAGE.write_text(re.sub(re.escape(BEGIN) + ".*" + re.escape(END), lambda _: f"{BEGIN}\n{table(findings)}\n{END}", text, flags=re.S), encoding="utf-8")


def stop(*_):
    """The tests are groups of their own, which do not get the signal that ends this process."""
    for process in list(RUNNING):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    os._exit(128 + signal.SIGTERM)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="a part of the points' names")
    parser.add_argument("--again", action="store_true", help="forgets what an earlier run found")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, stop)
    if options.again:
        RESULTS.unlink(missing_ok=True)
    at, findings = sources(), Findings(RESULTS)
    wanted: list[Plant] = [plant for plant in PLANTS if options.only in plant.name]
    left = findings.left(wanted, at)
    print(f"{len(wanted)} planted bugs, {len(wanted) - len(left)} of them caught before in {at}", flush=True)
    look_for(left, findings, at, options.jobs)
    control(findings, at, options.jobs)
    write_page(findings.of)
    caught = sum(findings.of[plant.name].proven for plant in wanted)
    print(f"{caught} of {len(wanted)} planted bugs are caught")
    sys.exit(len(wanted) - caught > 1)


if __name__ == "__main__":
    main()
