"""Every fault case, each in a process of its own. A case that is done for this build is not run again: interrupted, it goes on."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import time

import cases

FOLDER = cases.ROOT / "build" / "faults"


def build_mark(build):
    """Says whether two builds are the same."""
    files = [build / "bin" / "fleetrun", *sorted((build / "python" / "argosy").glob("_core*.so"))]
    return " ".join(f"{file.stat().st_mtime_ns}-{file.stat().st_size}" for file in files)


class Part:
    """The cases of one cause, and what has become of them, in a file."""

    def __init__(self, name, seed, mark, replicas):
        self.path = FOLDER / f"{name}{'-replicas' if replicas else ''}.json"
        self.head = {"seed": seed, "build": mark}
        self.done = {}
        if self.path.exists():
            stored = json.loads(self.path.read_text())
            if {key: stored.get(key) for key in self.head} == self.head:
                self.done = stored["cases"]

    def note(self, case, result):
        self.done[str(case)] = result
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps({**self.head, "cases": self.done}, indent=1))
        os.rename(part, self.path)


def run(case, seed, build, replicas):
    begun = time.monotonic()
    ended = subprocess.run(
        [sys.executable, str(cases.HERE / "cases.py"), str(case), "--seed", str(seed), "--build", str(build), "--replicas", str(replicas)],
        capture_output=True,
        text=True,
        check=False,
    )
    result = {"passed": ended.returncode == 0, "seconds": round(time.monotonic() - begun, 1)}
    if ended.returncode:
        result["says"] = (ended.stdout + ended.stderr)[-20000:]
    return case, result


def first_line(says):
    """Of the failure."""
    found = [line for line in says.splitlines() if "Error: " in line]
    return found[0][:400] if found else says[-400:]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="a part of the cases' names")
    parser.add_argument("--build", type=pathlib.Path, default=cases.ROOT / "build" / "release")
    parser.add_argument("--replicas", type=int, choices=(0, 1), default=0, help="1: servers have followers, and are killed with them")
    parser.add_argument("--selection", action="store_true", help="what continuous integration would choose with this seed")
    options = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    mark = build_mark(options.build)
    parts = {name: Part(name, options.seed, mark, options.replicas) for name in cases.CAUSES}
    wanted = [
        case
        for case in (cases.selection(options.seed, options.replicas) if options.selection else cases.all_cases(options.replicas))
        if options.only in str(case)
    ]
    left = [case for case in wanted if not parts[case.cause].done.get(str(case), {}).get("passed")]
    print(f"{len(wanted)} fault cases, {len(left)} to run, seed {options.seed}; results in {FOLDER.relative_to(cases.ROOT)}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for number, future in enumerate(
            concurrent.futures.as_completed([pool.submit(run, case, options.seed, options.build, options.replicas) for case in left]), 1
        ):
            case, result = future.result()
            parts[case.cause].note(case, result)
            print(f"{number}/{len(left)} {'passed' if result['passed'] else 'FAILED'} {case} {result['seconds']} s", flush=True)
            if not result["passed"]:
                print("    " + first_line(result["says"]), flush=True)
    failed = [str(case) for case in wanted if not parts[case.cause].done[str(case)]["passed"]]
    print(f"{len(wanted) - len(failed)} of {len(wanted)} passed" + "".join(f"\n  failed: {name}" for name in failed))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
