"""Online training in one command: clicks are messages of Kafka, servers and workers train them as they come, and predictions are served meanwhile.

python examples/online/run.py [FOLDER]                             brokers of this process, which keep nothing (librdkafka's mock cluster)
python examples/online/run.py --brokers HOST:PORT [FOLDER]         your own, with a topic of two partitions (--topic clicks)
python examples/online/run.py --files [FOLDER]                     files that appear, without Kafka

clicks ──> Kafka ──> 2 workers ──> 2 servers ──log──> 2 followers ──> argosy serve ──> a prediction, from the model as it is now
                     progressive AUC
                     models/1201, models/1202, …: the model as of each minute of the clicks' own time
"""

import argparse
import contextlib
import datetime
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests"))

TOKEN = "online"
LINES, FILES = int(os.environ.get("ONLINE_LINES", "30000")), 10
SECONDS = 0.7  # between two files, each of which is a minute of the clicks' own time
BEGIN = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC)
PARTITIONS = 2
SAMPLE = {"dense_input": [0.5] * 13} | {f"C{i}": [i] for i in range(1, 27)}


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


def produce(producer, topic, minute, file):
    """The lines of a file as messages of one minute, dealt to the partitions."""
    lines = file.read_text().splitlines()
    times = [BEGIN.timestamp() + 60 * (minute + i / len(lines)) for i in range(len(lines))]
    for partition in range(PARTITIONS):
        producer.produce(topic, partition, lines[partition::PARTITIONS], times[partition::PARTITIONS])


class Clicks:
    """Where clicks come from: messages, or files."""

    def __init__(self, chosen, folder, at_end):
        self._producer = None
        if chosen.files:
            self._incoming = folder / "incoming"
            self._incoming.mkdir()
            self.words = ["incoming/part-*"]
            return
        from kafka_mock import MockCluster, Producer

        self._producer, self._topic = at_end.enter_context(contextlib.closing(Producer(chosen.brokers) if chosen.brokers else MockCluster())), chosen.topic
        self._producer.topic(chosen.topic, PARTITIONS)
        self.words = [self._producer.brokers, chosen.topic]

    def add(self, minute, file):
        if self._producer:
            return produce(self._producer, self._topic, minute, file)
        (self._incoming / "new").write_bytes(file.read_bytes())
        (self._incoming / "new").rename(self._incoming / file.name)  # a file is whole when it gets its name


class Served:
    """A model that predicts with the parameters that the followers have now."""

    def __init__(self, processes, model, followers):
        server = start(processes, "argosy", "serve", model, "--port=0", f"--rows={','.join(followers)}", f"--token={TOKEN}", stdout=subprocess.PIPE, text=True)
        self._url = server.stdout.readline().strip()

    def click(self):
        """The probability that the sample is clicked."""
        request = urllib.request.Request(self._url + ":predict", json.dumps({"instances": [SAMPLE]}).encode())
        return json.load(urllib.request.urlopen(request, timeout=60))["predictions"][0][1]


def run(chosen, folder, processes, at_end):
    subprocess.run(
        [sys.executable, ROOT / "tools" / "make_criteo.py", folder / "clicks", "--lines", str(LINES), "--files", str(FILES)], check=True, timeout=600
    )
    clicks = Clicks(chosen, folder, at_end)
    port = free_port(6)
    command = ["fleetrun", f"--start_port={port}", "--server_num=2", "--worker_num=2", f"--token={TOKEN}", "--directory=kept"]
    job = start(processes, *command, HERE / "train.py", *clicks.words, cwd=folder, env=dict(os.environ, IDLE_SECONDS="8", ARGOSY_PYTHON=sys.executable))
    followers = [f"127.0.0.1:{port + 4 + i}" for i in range(2)]
    for i, address in enumerate(followers):
        command = ["argosy-server", f"--address={address}", f"--follow=127.0.0.1:{port + i}", f"--token={TOKEN}"]
        follower = start(processes, *command, stdout=subprocess.PIPE, text=True)
        next(line for line in follower.stdout if line.strip() == address)  # it has caught up, and answers
    served = None
    for minute, file in enumerate(sorted((folder / "clicks" / "train").iterdir())):
        clicks.add(minute, file)
        time.sleep(SECONDS)
        first = folder / "models" / "1201"
        if served is None and first.exists():
            served = Served(processes, first, followers)
            print(f"a click's probability is {served.click():.6f} while the job goes on", flush=True)
    print("followers have applied", rows(followers), "records while the job goes on", flush=True)
    if job.wait(timeout=600) != 0:
        raise SystemExit("the job failed: see the folder logs")
    print("followers have applied", rows(followers), "records in the end")
    if served:
        print(f"a click's probability is {served.click():.6f} in the end")
    for log in sorted((folder / "logs").glob("workerlog.*")):
        print(log.name, *re.findall(r"list .*|models/.*", log.read_text()), sep="\n  ")


def main():
    parser = argparse.ArgumentParser(description="Online training in one command.")
    parser.add_argument("folder", nargs="?", help="to work in; by default one that is removed in the end")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--brokers", help="of Kafka, HOST:PORT,HOST:PORT; by default a mock cluster is started")
    source.add_argument("--files", action="store_true", help="files that appear in place of messages")
    parser.add_argument("--topic", default="clicks", help=f"of the brokers, with {PARTITIONS} partitions (clicks)")
    chosen = parser.parse_args()
    os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"  # fleetrun and the others, installed beside this Python
    processes = []
    with tempfile.TemporaryDirectory(prefix="online-") as temporary, contextlib.ExitStack() as at_end:
        try:
            run(chosen, pathlib.Path(chosen.folder or temporary).resolve(), processes, at_end)
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait(timeout=60)


if __name__ == "__main__":
    main()
