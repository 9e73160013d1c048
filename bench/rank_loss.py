"""How long the ranks of a collective job stand still when one of them is killed: on_rank_loss=survive, with and without a spare process, and torchft.

rank_loss.py [--kills 10] [--seed 7] [--torchft PYTHON]

Four ranks on the CPU, by Gloo; one after the other is killed with kill -9. A pause is the longest time between two steps of a survivor that count,
from just before the kill on; with a spare process a kill waits until the next one is ready. PYTHON is that of an environment with torchft in it, whose replicas this script starts again at once.
The last line is the medians as JSON, which `make bench` reads.
"""

import argparse
import contextlib
import itertools
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
RANKS, STEP, AFTER = 4, 0.02, 4  # seconds of a step, and after a kill until the next


def times(folder, rank):
    path = folder / f"times.{rank}"
    return [float(line.split()[0]) for line in path.read_text().splitlines() if line.count(" ")] if path.exists() else []


def until(condition, what, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"waited {seconds} s for {what}")
        time.sleep(0.02)


def pid_of(folder, rank):
    return int((folder / f"pid.{rank}").read_text().split()[-1])


def pauses(folder, kills, seed, after_kill, ready=lambda number: True):
    """Of each kill. after_kill(rank) does what the job does not do by itself; ready(number) whether that kill may come."""
    draw, found = random.Random(seed), []
    until(lambda: all(len(times(folder, rank)) > 20 for rank in range(RANKS)), "the first steps")
    for number in range(kills):
        until(lambda number=number: ready(number), "a spare process")
        lost, counts = draw.randrange(RANKS), [len(times(folder, rank)) for rank in range(RANKS)]
        time.sleep(draw.uniform(0, 2 * STEP))
        killed = time.time()
        os.kill(pid_of(folder, lost), signal.SIGKILL)
        after_kill(lost)
        until(lambda lost=lost, counts=counts: len(times(folder, lost)) >= counts[lost] + 5, "the killed rank's next steps")
        time.sleep(AFTER / 4)
        gaps = []
        for rank in set(range(RANKS)) - {lost}:
            seen = [moment for moment in times(folder, rank) if moment > killed - 1]
            gaps.append(max(later - earlier for earlier, later in itertools.pairwise(seen) if later > killed))
        found.append(max(gaps))
        time.sleep(AFTER)
    return found


def argosy(kills, seed, spare):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        command = [
            str(pathlib.Path(sys.executable).with_name("fleetrun")),
            f"--nproc_per_node={RANKS}",
            f"--max_restart={kills}",
            "--on_rank_loss=survive",
            f"--spare_ranks={spare}",
        ]
        job = subprocess.Popen(
            [*command, HERE / "rank_loss_job.py", str(STEP)],
            cwd=folder,
            env={**os.environ, "ARGOSY_DEVICE": "cpu", "ARGOSY_PYTHON": sys.executable, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            log = folder / "log" / "sparelog.0"
            there = lambda number: not spare or (log.exists() and log.read_text().count("this spare process is ready") > number)  # noqa: E731
            return pauses(folder, kills, seed, lambda _: None, there)
        finally:
            job.terminate()
            job.wait()


def torchft(python, kills, seed):
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder, port = pathlib.Path(name), 29510
        program = pathlib.Path(python).parent / "torchft_lighthouse"
        options = ["--min_replicas", "2", "--quorum_tick_ms", "100", "--join_timeout_ms", "1000", "--heartbeat_timeout_ms", "2000"]
        running = {}

        def start(key, command, **env):
            log = stack.enter_context(open(folder / f"log.{key}", "a"))
            running[key] = subprocess.Popen(command, cwd=folder, env={**os.environ, **env}, stdout=log, stderr=log)

        def replica(rank):
            if rank in running:
                running[rank].wait()
            command = [python, HERE / "peers" / "torchft_job.py", str(STEP)]
            start(rank, command, TORCHFT_LIGHTHOUSE=f"http://127.0.0.1:{port}", REPLICA=str(rank), OMP_NUM_THREADS="1")

        try:
            start("lighthouse", [program, *options, "--bind", f"127.0.0.1:{port}"])
            for rank in range(RANKS):
                replica(rank)
            return pauses(folder, kills, seed, replica)
        except SystemExit:
            print("\n".join(f"--- {path.name}\n{path.read_text()[-1500:]}" for path in sorted(folder.glob("log.*"))), file=sys.stderr)
            raise
        finally:
            for process in running.values():
                process.kill()
                process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--torchft", metavar="PYTHON")
    words = parser.parse_args()
    rows = {
        "survive": lambda: argosy(words.kills, words.seed, 0),
        "spare": lambda: argosy(words.kills, words.seed, 1),
    }
    if words.torchft:
        rows["torchft"] = lambda: torchft(words.torchft, words.kills, words.seed)
    medians = {}
    for name, measure in rows.items():
        found = measure()
        medians[name] = round(statistics.median(found), 3)
        print(f"{name}: median {statistics.median(found):.2f} s, max {max(found):.2f} s of {len(found)} kills, seed {words.seed}", flush=True)
    print(json.dumps(medians))


if __name__ == "__main__":
    main()
