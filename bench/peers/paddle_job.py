#!/usr/bin/env python3
"""One job of PaddlePaddle 2.6.2's parameter servers and workers, by its own launcher: the counterpart of bench/ps_job.py.

    bench/peers/paddle_job.py PYTHON SERVERSxWORKERS 'FILES' PASSES

PYTHON is an interpreter that has PaddlePaddle. Prints one JSON object per pass, all workers together: a pass takes as long as
its slowest worker. The servers do not end by themselves; they are ended once every worker has left its figures.
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 240  # that a job may take
LOOK = 0.2  # seconds between two looks at a job; the workers time themselves


def passes(texts):
    """The passes of a job, from what each of its workers wrote."""
    of_workers = [[json.loads(line) for line in text.splitlines()] for text in texts]
    for rows in zip(*of_workers, strict=True):
        samples, seconds = sum(row["samples"] for row in rows), max(row["seconds"] for row in rows)
        yield {"pass": rows[0]["pass"], "samples": samples, "samples_per_second": samples / seconds}


def said(folder):
    """The end of what the job said, process by process."""
    return "\n".join(f"{log.name}:\n{log.read_text(errors='replace')[-1500:]}" for log in sorted(folder.glob("*log*")) if log.is_file())


def wait_for(job, folder, workers):
    """Returns once all workers have left their figures; a job that ends before, or takes too long, ends this program."""
    end = time.monotonic() + SECONDS
    while any(not (folder / f"worker-{rank}").exists() for rank in range(workers)):
        if job.poll() is not None:
            sys.exit(f"paddle_job: the job ended with {job.returncode} before its workers had finished:\n{said(folder)}")
        if time.monotonic() > end:
            sys.exit(f"paddle_job: the workers did not finish in {SECONDS} s:\n{said(folder)}")
        time.sleep(LOOK)


def end(job, folder):
    """Ends the launcher, so that it starts nobody again, and then all that it has started: each in a session of its own, and the servers wait for ever."""
    job.kill()
    job.wait()
    for process in folder.glob("process-*"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(process.name.removeprefix("process-")), signal.SIGKILL)


def launch(python, servers, workers, words, folder):
    command = [
        python,
        "-m",
        "paddle.distributed.launch",
        "--run_mode",
        "ps",
        "--server_num",
        str(servers),
        "--trainer_num",
        str(workers),
        "--log_dir",
        str(folder),
        str(HERE / "paddle_ctr.py"),
        *words,
    ]
    with open(folder / "launcherlog", "w") as log:
        job = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, env=dict(os.environ, GLOG_minloglevel="2"))
    try:
        wait_for(job, folder, workers)
    finally:
        end(job, folder)


def main():
    python, shape, files, times = sys.argv[1:]
    servers, _, workers = shape.partition("x")
    with tempfile.TemporaryDirectory(prefix="paddle-job-") as name:
        folder = pathlib.Path(name)
        launch(python, int(servers), int(workers), [name, times, files], folder)
        for row in passes([(folder / f"worker-{rank}").read_text() for rank in range(int(workers))]):
            print(json.dumps(row))


if __name__ == "__main__":
    main()
