#!/usr/bin/env python3
"""How long a job of 2 servers and 2 workers takes from `fleetrun` to its first step, and what memory a server needs that nobody talks to.

    bench/first_step.py cpp|python        seconds until both workers have trained CTR-DNN with a batch of 1,000 lines
    bench/first_step.py server            megabytes that an idle argosy-server has in memory, shared libraries included

Prints one JSON object, or as many as --times says. The model has tables of 1,000,001 rows, as in bench/ctr_model.h.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from ps_job import free_ports

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/release"
SERVERS, WORKERS, LINES = 2, 2, 1000
SECONDS = 60  # that a job may take
IDLE_SECONDS = 2


def one_batch_each(folder):
    """A file of one batch for each worker."""
    words = [ROOT / "tools/make_criteo.py", folder, "--lines", LINES * WORKERS, "--test-lines", 100, "--files", WORKERS]
    subprocess.run([sys.executable, *map(str, words)], check=True, stdout=subprocess.DEVNULL)
    return f"{folder}/train/part-*"


def until_all_have_trained(logs, job):
    """Waits for a JSON line of each worker, which it writes after its first batch."""
    files = [logs / f"workerlog.{i}" for i in range(WORKERS)]
    end = time.monotonic() + SECONDS
    while not all(file.exists() and re.search(r"^\{.*\}$", file.read_text(), re.MULTILINE) for file in files):
        if time.monotonic() > end or job.poll() not in (None, 0):
            job.terminate()
            sys.exit(f"first_step: no first step in {SECONDS} s:\n{job.communicate()[0][-2000:]}")
        time.sleep(0.005)


def first_step(program, files, folder):
    logs = folder / "logs"
    words = ["--server_num", SERVERS, "--worker_num", WORKERS, "--start_port", free_ports(SERVERS + WORKERS), "--log_dir", logs, "--token", "bench"]
    if program == "cpp":
        words += ["--no-python", BUILD / "bench/ctr_ps_bench", files, folder, 1, "criteo"]
    else:
        words += [ROOT / "bench/first_step_job.py", files]
    environment = dict(os.environ, ARGOSY_PYTHON=sys.executable, OMP_NUM_THREADS="1")
    begun = time.monotonic()
    job = subprocess.Popen(
        [str(word) for word in [BUILD / "bin/fleetrun", *words]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )
    until_all_have_trained(logs, job)
    seconds = time.monotonic() - begun
    output, _ = job.communicate(timeout=SECONDS)
    if job.returncode != 0:
        sys.exit(f"first_step: the job ended with {job.returncode}:\n{output[-2000:]}")
    return {"seconds": seconds}


def memory_of(pid):
    return {what: int(kb) / 1024 for what, kb in re.findall(r"^(VmRSS|RssAnon):\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)}


def idle_server(folder):
    """Its memory when it has listened for a while, all pages of its libraries that were read counted in."""
    endpoint = folder / "endpoint"
    server = subprocess.Popen([str(BUILD / "bin/argosy-server"), "--endpoint_file", str(endpoint)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + SECONDS
        while not endpoint.exists():
            if time.monotonic() > end or server.poll() is not None:
                sys.exit("first_step: argosy-server does not listen")
            time.sleep(0.01)
        time.sleep(IDLE_SECONDS)
        found = memory_of(server.pid)
        return {"resident_mb": found["VmRSS"], "private_mb": found["RssAnon"]}
    finally:
        server.terminate()
        server.wait(SECONDS)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["cpp", "python", "server"])
    parser.add_argument("--times", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="first-step-", dir=ROOT / "build") as name:
        folder = pathlib.Path(name)
        files = None if args.what == "server" else one_batch_each(folder / "data")
        for turn in range(args.times):
            own = folder / str(turn)
            own.mkdir()
            print(json.dumps(idle_server(own) if args.what == "server" else first_step(args.what, files, own)), flush=True)


if __name__ == "__main__":
    main()
