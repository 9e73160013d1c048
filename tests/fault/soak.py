"""Oracle jobs under random faults. A seed decides everything but how fast the machine is: `--seed S --episode N` replays one job.

An episode is a job of several passes and a schedule: every now and then a process is killed or stands still, a pipe command fails, the disk is full for
a while, or the servers' machine is cut off. All of these may happen in a job that goes on, so each has to end with status 0 and every sample
counted once. One thing is allowed: a worker that is ended by a signal after it has left its job may fail it where its servers have ended too, if the launcher
says so and of nothing else; the samples of such a job have all counted once.
"""

import argparse
import json
import os
import pathlib
import random
import re
import shutil
import signal
import sys
import tempfile
import time

import cases
from faulty_job import FaultyJob
from oracle import MODES, READERS, THREADS, Layout

FOLDER = cases.ROOT / "build" / "soak"

STOPPED = re.compile(r"^.*; stopping the job$", re.M)  # what a launcher says of each failure that ends its job
TOO_LATE = re.compile(r"(worker \d+): .* after it had left its job, and all servers had ended: nothing that it trained is lost, .*; stopping the job$")


def failed_as_allowed(output, ended_late):
    """Whether what the launchers of a failed job say is only that workers which were ended late, by their names, could not be started again."""
    causes = [TOO_LATE.search(line) for line in STOPPED.findall(output)]
    return bool(causes) and all(cause is not None and cause.group(1) in ended_late for cause in causes)


class Episode:
    def __init__(self, seed, number, folder):
        self.name = f"{seed}.{number}"
        self.random = random.Random(self.name)
        layout = Layout(mode=self.random.choice(MODES), reader=self.random.choice(READERS), threads=self.random.choice(THREADS), passes=3, files=24)
        self.job = FaultyJob(folder, layout, self.name)
        self.place = self.random.choice(["here", "here", "small disk", "two machines"])
        self.did = []
        self.ended_late = set()  # workers that were ended by a signal when they had trained everything

    def run(self):
        job = self.job
        try:
            if self.place == "small disk":
                job.small_disk()
            start = job.launch_on_two_machines if self.place == "two machines" else job.launch
            start("--on-worker-loss=wait", "--directory=kept", "--call-seconds=1", "--lease-seconds=2", "--snapshot-seconds=1", restarts=1000)
            job.until(lambda: any((job.folder / "openings").iterdir()), "nobody reads data")
            while job.running() and len(self.did) < 12:
                time.sleep(self.random.uniform(0.05, 1.5))
                self._disturb()
            outcome = job.finish()
            ended_well = outcome.status == 0 or failed_as_allowed(outcome.output, self.ended_late)
            assert ended_well and not outcome.wrong, f"{outcome}\n{job.story()}"
        finally:
            job.close()

    def _disturb(self):
        hands = ["kill", "kill", "stop", "interrupt", "pipe"]
        hands += {"small disk": ["disk"] * 2, "two machines": ["cable"] * 2}.get(self.place, [])
        hand = self.random.choice(hands)
        name = self.random.choice([f"{role} {i}" for role in ("server", "worker") for i in range(2)])
        seconds = self.random.uniform(0.1, 3.0)
        file = self.job.layout.file(self.random.randrange(3), self.random.randrange(2), self.random.randrange(24))
        self.did.append(f"{hand} {name if hand in ('kill', 'stop') else file if hand == 'pipe' else ''}".strip())
        getattr(self, "_" + hand)(name, seconds, file)

    def _kill(self, name, seconds, file):
        self._end(name, signal.SIGKILL)

    def _interrupt(self, name, seconds, file):
        self._end("worker" + name[-2:], signal.SIGINT)

    def _end(self, name, number):
        """Ends a process by a signal; a worker only while it trains, as far as a test can tell."""
        if self.job.is_done(name):
            self.did[-1] += " (which was done)"
            return
        self.job.kill(name, number)
        if self.job.is_done(name):
            self.ended_late.add(name)

    def _stop(self, name, seconds, file):
        pid = self.job.kill(name, signal.SIGSTOP)
        time.sleep(seconds)
        try:
            os.kill(pid, signal.SIGCONT) if pid else None
        except ProcessLookupError:
            pass

    def _pipe(self, name, seconds, file):
        """Fails the next time that the file is read, if it is."""
        openings = self.job.folder / "openings" / file
        (self.job.folder / "fail" / f"{file}.{len(openings.read_text().split()) + 1 if openings.exists() else 1}").touch()

    def _disk(self, name, seconds, file):
        self.job.fill_disk()
        time.sleep(seconds)
        self.job.free_disk()

    def _cable(self, name, seconds, file):
        self.job.cable("down")
        time.sleep(seconds)
        self.job.cable("up")


def run_episode(seed, number):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="argosy-soak-"))
    episode = Episode(seed, number, folder / "job")
    layout, begun, failure = episode.job.layout, time.monotonic(), None
    try:
        episode.run()
    except AssertionError as error:
        failure = str(error)
    shutil.rmtree(folder, ignore_errors=True)
    print(
        f"episode {number}: {layout.mode} {layout.reader} {layout.threads}, {episode.place}, {time.monotonic() - begun:.0f} s, {', '.join(episode.did)}: "
        f"{'every sample counted once' if failure is None else 'FAILED'}",
        flush=True,
    )
    if failure is not None:
        print(f"{failure}\nagain: make soak SEED={seed} EPISODE={number}", flush=True)
    return {"episode": number, "layout": str(layout), "place": episode.place, "did": episode.did, "failure": failure}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--episode", type=int, default=None)
    parser.add_argument("--build", default=None)
    options = parser.parse_args()
    cases.use_build(options.build)
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(10**6)
    print(f"seed {seed}", flush=True)
    ends, results, number = time.monotonic() + 60 * options.minutes, [], options.episode or 0
    while options.episode is None or not results:
        results.append(run_episode(seed, number))
        number += 1
        if time.monotonic() > ends:
            break
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"seed-{seed}.json").write_text(json.dumps(results, indent=1))
    failed = sum(result["failure"] is not None for result in results)
    print(f"seed {seed}: {len(results)} jobs, {sum(len(result['did']) for result in results)} faults, {failed} jobs failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
