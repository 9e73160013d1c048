#!/usr/bin/env python3
"""What `make demo` shows: a job from its data to a served prediction, on this machine.

    tools/demo.py                                      everything in the folder demo
    tools/demo.py /tmp/small --lines 20000             elsewhere, and shorter

Click logs are made. 2 servers and 2 workers learn CTR-DNN from them (demo_job.py), with a status page; a follower of each server copies what it
does. When the job has ended, `argosy serve` predicts clicks with the followers' rows, and the page's last state is a file, and a picture of it where
a Chromium or Chrome is installed.
"""

import argparse
import json
import os
import pathlib
import secrets
import shutil
import socket
import subprocess
import sys
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = pathlib.Path(sys.executable).parent
SECONDS = 120  # that anything but the training may take
SERVERS, WORKERS, ROWS = 2, 2, 100001
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def program(name):
    return shutil.which(name, path=str(PROGRAMS)) or sys.exit(f"demo: {name} is not in {PROGRAMS}; `make build` or the wheel puts it there")


def make_data(folder, lines):
    if not (folder / "data" / "test").is_dir():
        made = [sys.executable, str(ROOT / "tools" / "make_criteo.py"), str(folder / "data"), "--files", "4"]
        subprocess.run([*made, *(["--lines", str(lines), "--test-lines", str(max(lines // 10, 1))] if lines else [])], check=True)


def first_line(process, log):
    """The first line that a process writes: where it answers."""
    line = process.stdout.readline().strip()
    if not line:
        sys.exit(f"demo: {process.args[0]} ended with status {process.wait(SECONDS)} before it answered; its log is {log}:\n{log.read_text()[-1000:]}")
    return line


def free_addresses(count):
    """Addresses of this machine that nobody listens at now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return [f"127.0.0.1:{port}" for port in ports]


def start(command, log, running):
    """A process whose log goes to a file, and whose first line says where it answers."""
    with open(log, "a") as errors:
        running.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True))
    return running[-1]


def start_follower(address, log, running):
    """Read-only, and last in the queue for a core: training goes first."""
    return start(["nice", "-n", "10", program("argosy-server"), "--address", "127.0.0.1:0", "--follow", address], log, running)


def train(folder, running):
    """Runs the job to its end. Returns the addresses of its servers' followers."""
    servers = free_addresses(SERVERS)
    shutil.rmtree(folder / "state", ignore_errors=True)  # of the demo before
    options = [f"--servers={','.join(servers)}", f"--worker_num={WORKERS}", "--follow=0", "--status_port=0", "--job=clicks"]
    command = [program("fleetrun"), *options, "--directory", folder / "state", "--log_dir", folder / "logs", ROOT / "tools" / "demo_job.py", folder]
    launcher = subprocess.Popen([str(part) for part in command], cwd=folder.parent)
    running.append(launcher)
    started = [start_follower(address, folder / "followers.log", running) for address in servers]  # each waits until its server has a job
    followers = [first_line(process, folder / "followers.log") for process in started]
    status = launcher.wait()
    if status:
        sys.exit(status)
    return followers


def test_samples(folder, count):
    """(clicked, the features as a request has them) of the first lines that the model was tested on."""
    with open(folder / "data" / "test" / "part-00000.txt", "rb") as file:
        lines = b"".join(file.readline() for _ in range(count))
    text = subprocess.run([program("argosy"), "criteo", str(ROWS)], input=lines, stdout=subprocess.PIPE, check=True).stdout.decode()
    samples = []
    for line in text.splitlines():
        words, slots = line.split(), []
        while words:
            size = int(words[0])
            slots.append(words[1 : 1 + size])
            words = words[1 + size :]
        features = {"dense_input": [float(word) for word in slots[0]]} | {f"C{i}": [int(word) for word in slots[i]] for i in range(1, 27)}
        samples.append((int(slots[27][0]), features))
    return samples


def predict(folder, followers, running):
    """Serves the model with the followers' rows and asks it about some samples."""
    command = [program("argosy"), "serve", str(folder / "model"), "--name", "ctr", "--port", "0", "--rows", ",".join(followers)]
    url = first_line(start(command, folder / "served.log", running), folder / "served.log")
    samples = test_samples(folder, 8)
    body = json.dumps({"instances": [features for _, features in samples]}).encode()
    with urllib.request.urlopen(url + ":predict", body, timeout=SECONDS) as answer:
        predictions = json.load(answer)["predictions"]
    print(f"\nserved at {url} with the rows of the followers {' and '.join(followers)}:")
    for (clicked, _), prediction in zip(samples, predictions, strict=True):
        probability = prediction[1] if isinstance(prediction, list) else prediction
        print(f"  a click with {100 * probability:5.1f} %, and {'there was one' if clicked else 'there was none'}")


def picture(folder):
    """The status page as it was at the end, as a file, and as a picture where there is a browser."""
    page, image = folder / "report.html", folder / "report.png"
    subprocess.run([program("argosy"), "report", str(folder / "logs"), "-o", str(page)], check=True, stdout=subprocess.DEVNULL)
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return print(f"the job with its curves: {page} (for a picture of it install chromium)")
    flags = ["--headless", "--disable-gpu", "--hide-scrollbars", "--window-size=1280,1400", f"--screenshot={image}", f"--user-data-dir={folder / 'browser'}"]
    done = subprocess.run(
        [browser, *flags, *(["--no-sandbox"] if os.geteuid() == 0 else []), page.resolve().as_uri()], capture_output=True, timeout=SECONDS, check=False
    )
    if done.returncode or not image.is_file():
        sys.exit(f"demo: {browser} made no picture of {page}:\n{done.stderr.decode(errors='replace')[-1000:]}")
    print(f"the job with its curves: {page}, and as a picture: {image}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, nargs="?", default=ROOT / "demo", help="where everything goes (demo, beside tools)")
    parser.add_argument("--lines", type=int, help="of click logs to train on (200000)")
    options = parser.parse_args()
    folder = options.folder.resolve()
    make_data(folder, options.lines)
    os.environ["ARGOSY_TOKEN"] = secrets.token_hex(16)  # of the job, its followers and who reads from them
    print(f"a job of {SERVERS} parameter servers and {WORKERS} workers on this machine; what each says is in {folder / 'logs'}", flush=True)
    running = []
    try:
        predict(folder, train(folder, running), running)
        picture(folder)
    finally:
        for process in reversed(running):
            process.terminate()
        for process in running:
            process.wait(SECONDS)
    print(
        "try next:  .venv/bin/argosy inspect demo/model           what was saved\n"
        "           .venv/bin/argosy serve demo/model             predictions over HTTP from the saved files\n"
        "           .venv/bin/fleetrun --server_num=2 --worker_num=2 --follow=0 examples/ctr_fleet.py 'demo/data/train/*' demo/model-py\n"
        "           .venv/bin/fleetrun --server_num=2 --worker_num=2 --follow=0 --no-python "
        "build/release/examples/ctr_fleet 'demo/data/train/*' demo/model-cc\n"
        "           .venv/bin/python examples/ctr_dnn.py 'demo/data/train/*' demo/model-one   the same in one process"
    )


if __name__ == "__main__":
    main()
