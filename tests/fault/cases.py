"""Which cases there are, which of them are chosen, and how one is run."""

import argparse
import dataclasses
import itertools
import os
import pathlib
import random
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def use_build(build=None):
    """The front end of a build folder of this checkout, for this process and those that it starts."""
    build = pathlib.Path(build or ROOT / "build" / "release")
    os.environ["PYTHONPATH"] = str(build / "python")
    os.environ["PATH"] = os.pathsep.join([str(build / "bin"), str(ROOT / ".venv" / "bin"), os.environ["PATH"]])


for folder in (HERE, HERE.parent / "system", HERE.parent):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from causes import CAUSES, logs_have  # noqa: E402
from faulty_job import HOLDS, FaultyJob  # noqa: E402
from oracle import MODES, READERS, THREADS, Layout  # noqa: E402

# A lost worker is waited for. A process that waits for something that never comes ends, and says for what, before the test does.
PATIENCE = ("--on-worker-loss=wait", "--server-wait-seconds=90", "--sync-wait-seconds=90", "--worker-wait-seconds=90")


@dataclasses.dataclass(frozen=True)
class Case:
    cause: str
    mode: str
    reader: str
    threads: int

    def __str__(self):
        return f"{self.cause}-{self.mode}-{self.reader}-{self.threads}"

    @staticmethod
    def parse(text):
        cause, mode, reader, threads = text.split("-")
        return Case(cause, mode, reader, int(threads))


def all_cases(replicas=0):
    causes = [name for name, cause in CAUSES.items() if replicas or not cause.only_replicas]
    return [Case(*values) for values in itertools.product(causes, MODES, READERS, THREADS)]


def pairs_of(cases):
    return {pair for case in cases for pair in itertools.combinations(dataclasses.astuple(case), 2)}


def replica_selection(seed):
    """Of the causes that only servers with followers have, one case each: every mode occurs."""
    chooser = random.Random(seed)
    modes = [*MODES, *MODES]
    chooser.shuffle(modes)
    causes = [name for name, cause in CAUSES.items() if cause.only_replicas]
    return [Case(cause, mode, chooser.choice(READERS), chooser.choice(THREADS)) for cause, mode in zip(causes, modes, strict=False)]


def selection(seed, replicas=0):
    """Cases in which every pair of two values occurs (of a cause, a mode, a reader, a number of threads): greedy, in an order that the seed decides."""
    left = all_cases(replicas)
    random.Random(seed).shuffle(left)
    missing = pairs_of(left)
    chosen = []
    while missing:
        best = max(left, key=lambda case: len(pairs_of([case]) & missing))
        chosen.append(best)
        missing -= pairs_of([best])
        left.remove(best)
    return chosen


def run_case(case, seed, folder, replicas=0):
    """Runs one case to its end, with followers of the servers where `replicas` is 1. An AssertionError says what it should have done instead."""
    cause = CAUSES[case.cause]
    replicas = bool(replicas) or cause.only_replicas
    job = FaultyJob(folder, Layout(mode=case.mode, reader=case.reader, threads=case.threads), seed)
    try:
        if cause.small_disk:
            job.small_disk()
        cause.first(job)
        job.hold(*HOLDS)
        flags = [*PATIENCE, *(["--directory=kept"] if cause.directory else []), *cause.flags]
        if replicas and cause.directory:
            flags.append("--replicas=1")
        (job.launch_on_two_machines if cause.two_machines else job.launch)(*flags, restarts=cause.restarts)
        cause.disturb(job)
        job.release(*HOLDS)
        outcome = job.finish()
        judge(cause, job, outcome)
        return outcome
    except AssertionError as error:
        raise AssertionError(
            f"{case}, seed {seed}: {error}\nagain: .venv/bin/python tests/fault/cases.py {case} --seed {seed}{' --replicas 1' if replicas else ''}"
        ) from None
    finally:
        job.close()


def judge(cause, job, outcome):
    """Compares how a job ended with what its cause allows."""
    if outcome.status == 0:
        assert not outcome.wrong, f"the job ended with status 0, but {outcome}\n{job.story()}"
        assert cause.ends != "badly", f"the job ended with status 0; expected a failure that says '{cause.named}'\n{job.story()}"
        return
    assert cause.ends != "well", f"the job ended with status {outcome.status}; every sample should have counted once\n{job.story()}"
    assert logs_have(job, cause.named), f"nothing says '{cause.named}'\n{job.story()}"
    if cause.reads_back:
        job.read_back(outcome)
        assert not outcome.wrong, f"{outcome}\n{job.story()}"


def main():
    parser = argparse.ArgumentParser(description="Runs single fault cases; without one, lists them.")
    parser.add_argument("cases", nargs="*", help="such as kill_worker-sync-feeder-2")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build", default=None)
    parser.add_argument("--replicas", type=int, choices=(0, 1), default=0, help="1: servers have followers")
    parser.add_argument("--keep", action="store_true", help="leaves the folders of the jobs")
    options = parser.parse_args()
    use_build(options.build)
    for name in options.cases or []:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="argosy-fault-"))
        print(f"{name}: {run_case(Case.parse(name), options.seed, folder, options.replicas)}", flush=True)
        if options.keep:
            print(folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    if not options.cases:
        print("\n".join(map(str, all_cases(options.replicas))))


if __name__ == "__main__":
    main()
