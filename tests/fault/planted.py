"""Runs the tests against every planted bug (plants.py) until one of them fails, and writes the table of docs/promises.md.

A bug counts as caught where a test that passes without it fails with it. Each has two minutes: first the tests that should see it, then fault cases of
every cause.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import re
import subprocess
import sys
import tempfile
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
        try:
            process.wait(max(seconds, 1))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            out.seek(0)
            says = out.read()
            return (False, says[-4000:]) if FAILED in says else (None, "not ended")
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


def find(plant):
    begun = time.monotonic()
    for test in tests_for(plant):
        left = SECONDS - (time.monotonic() - begun)
        if left < 5:
            break
        passed, says = run(test, plant.name, left)
        if passed is False:
            return Finding(plant.name, test, time.monotonic() - begun, says)
    return Finding(plant.name, seconds=time.monotonic() - begun)


def control(findings, jobs):
    """Tests that have caught something must pass where nothing is planted; those that do not have caught nothing."""
    tests = sorted({finding.test for finding in findings if finding.test})
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        passed = dict(zip(tests, pool.map(lambda test: run(test, "", 2 * SECONDS), tests)))
    for test, (well, says) in passed.items():
        if not well:
            print(f"{test} fails without a planted bug, and so proves nothing:\n{says}", flush=True)
    return {test for test, (well, _) in passed.items() if well}


def table(findings):
    rows = ["| point | where | the mistake | caught by | after |", "|---|---|---|---|---|"]
    for plant in PLANTS:
        finding = findings.get(plant.name)
        by = f"`{finding.test}`" if finding and finding.test else "**nobody**"
        rows.append(
            f"| `{plant.name}` | `{plant.file}` | {plant.mistake} | {by} | {finding.seconds:.0f} s |"
            if finding
            else f"| `{plant.name}` | `{plant.file}` | {plant.mistake} | not run | |"
        )
    caught = sum(bool(finding.test) for finding in findings.values())
    return "\n".join([f"{caught} of {len(PLANTS)} planted bugs are caught.", "", *rows])


def write_page(findings):
    text = PAGE.read_text(encoding="utf-8")
    assert BEGIN in text and END in text, f"{PAGE} has no marks for the table"
    PAGE.write_text(re.sub(re.escape(BEGIN) + ".*" + re.escape(END), lambda _: f"{BEGIN}\n{table(findings)}\n{END}", text, flags=re.S), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="a part of the points' names")
    parser.add_argument("--again", action="store_true", help="forgets what an earlier run found")
    options = parser.parse_args()
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() and not options.again else {}
    findings = {name: Finding(**value) for name, value in stored.items() if any(plant.name == name for plant in PLANTS)}
    wanted: list[Plant] = [plant for plant in PLANTS if options.only in plant.name]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for finding in pool.map(find, wanted):
            findings[finding.point] = finding
            print(f"{finding.point}: " + (f"caught by {finding.test} after {finding.seconds:.0f} s" if finding.test else "NOT CAUGHT"), flush=True)
    good = control([findings[plant.name] for plant in wanted], options.jobs)
    for plant in wanted:
        if findings[plant.name].test not in good:
            findings[plant.name] = Finding(plant.name, seconds=findings[plant.name].seconds)
    RESULTS.write_text(json.dumps({name: dataclasses.asdict(finding) for name, finding in findings.items()}, indent=1))
    write_page(findings)
    caught = sum(bool(findings[plant.name].test) for plant in wanted)
    print(f"{caught} of {len(wanted)} planted bugs are caught")
    sys.exit(len(wanted) - caught > 1)


if __name__ == "__main__":
    main()
