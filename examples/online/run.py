"""Online training in one command: clicks appear as files, servers and workers train them as they come, followers have the model as it is now.

python examples/online/run.py [FOLDER]

files that appear ──> 2 workers ──> 2 servers ──log──> 2 followers ──> argosy rows, argosy serve
                      progressive AUC
"""

import contextlib
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = HERE.parents[1] / "tools"
TOKEN = "online"
LINES, FILES = int(os.environ.get("ONLINE_LINES", "30000")), 10
SECONDS = 0.7  # between two files


def free_port(count):
    """The first of so many free ports that follow each other."""
    for first in range(7400, 9900, count):
        with contextlib.suppress(OSError), contextlib.ExitStack() as open_ports:
            for port in range(first, first + count):
                open_ports.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return first
    raise SystemExit("no free ports")


def start(processes, *command, **options):
    processes.append(subprocess.Popen([str(word) for word in command], **options))
    return processes[-1]


def rows(endpoints):
    """How servers or followers stand: the records that each has applied."""
    said = subprocess.run(["argosy", "rows", ",".join(endpoints), f"--token={TOKEN}"], capture_output=True, text=True, check=True, timeout=60).stdout
    return [int(version) for version in re.findall(r"version (\d+)", said)]


def run(folder, processes):
    subprocess.run([sys.executable, TOOLS / "make_criteo.py", folder / "clicks", "--lines", str(LINES), "--files", str(FILES)], check=True, timeout=600)
    incoming = folder / "incoming"
    incoming.mkdir()
    port = free_port(6)
    command = [
        "fleetrun",
        f"--start_port={port}",
        "--server_num=2",
        "--worker_num=2",
        f"--token={TOKEN}",
        "--directory=kept",
        HERE / "train.py",
        "incoming/part-*",
    ]
    job = start(processes, *command, cwd=folder, env=dict(os.environ, IDLE_SECONDS="8", ARGOSY_PYTHON=sys.executable))
    followers = [f"127.0.0.1:{port + 4 + i}" for i in range(2)]
    for i, address in enumerate(followers):
        command = ["argosy-server", f"--address={address}", f"--follow=127.0.0.1:{port + i}", f"--token={TOKEN}"]
        follower = start(processes, *command, stdout=subprocess.PIPE, text=True)
        next(line for line in follower.stdout if line.strip() == address)  # it has caught up, and answers
    for file in sorted((folder / "clicks" / "train").iterdir()):
        (incoming / "new").write_bytes(file.read_bytes())
        (incoming / "new").rename(incoming / file.name)  # a file is whole when it gets its name
        time.sleep(SECONDS)
    print("followers have applied", rows(followers), "records while the job goes on", flush=True)
    if job.wait(timeout=600) != 0:
        raise SystemExit("the job failed: see the folder logs")
    print("followers have applied", rows(followers), "records in the end")
    for log in sorted((folder / "logs").glob("workerlog.*")):
        print(log.name, *re.findall(r"list .*", log.read_text()), sep="\n  ")


def main(folder=None):
    os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"  # fleetrun and the others, installed beside this Python
    processes = []
    with tempfile.TemporaryDirectory(prefix="online-") as temporary:
        try:
            run(pathlib.Path(folder or temporary).resolve(), processes)
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait(timeout=60)


if __name__ == "__main__":
    main(*sys.argv[1:])
