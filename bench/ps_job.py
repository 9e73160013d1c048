#!/usr/bin/env python3
"""One job of parameter servers and workers as processes: CTR-DNN by build/release/bench/ctr_ps_bench under fleetrun.

    bench/ps_job.py SERVERSxWORKERS 'FILES' [--passes 2] [--format criteo|multislot] [--durability none|wal] [--followers] [--serve]
                    [--wire float32|bfloat16|int8] [--link MBIT] [--replicas 0|1] [--products float32|bfloat16]

Prints one JSON object per pass over the files: samples per second; processor seconds of all workers and of all servers; bytes that
crossed the wire. A pass takes as long as its slowest worker. With wal the servers' logs are under build/, on a disk;
with --followers each server has a follower, which is another process of this machine, at a lower priority (nice 10); with --serve a
model server takes its parameters from them, is asked ten times per second, and must have answered. With --link the servers are on one machine
and the workers on another, network namespaces both, with so many Mbit/s between them in each direction (bench/link.py; needs root). With
--replicas 1 each server is two processes, of which the second has every change in its log before it is acknowledged.
"""

import argparse
import contextlib
import http.client
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading

from link import link

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/release"
SECONDS = 200  # that a job may take
FOLLOWER_PORTS = 16  # of followers, after the servers'


def free_ports(count):
    """The first of so many ports in a row that nobody has."""
    for first in range(21000, 32000, count + 3):
        probes = []
        try:
            for port in range(first, first + count):
                probes.append(socket.socket())
                probes[-1].bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
        finally:
            for probe in probes:
                probe.close()
    sys.exit("ps_job: no free ports")


def everything_here(args, port):
    servers, workers = args.shape
    return ["--server_num", servers, "--worker_num", workers, "--start_port", port]


def on_two_machines(args, port, addresses, here):
    """The flags of one of the two launchers: that of the address `here`."""
    servers, workers = ([f"{address}:{port + i}" for i in range(count)] for address, count in zip(addresses, args.shape))
    return [f"--servers={','.join(servers)}", f"--workers={','.join(workers)}", f"--node_ip={here}"]


def command(args, folder, place):
    settings = ["--durability", args.durability, "--token", "bench", "--wire-format", args.wire]
    if args.durability != "none":
        settings += ["--directory", folder / "state"]
    settings += ["--replicas", args.replicas]
    return [
        BUILD / "bin/fleetrun",
        *place,
        "--log_dir",
        folder / "logs",
        *settings,
        "--no-python",
        BUILD / "bench/ctr_ps_bench",
        args.files,
        folder,
        args.passes,
        args.format,
        args.products,
    ]


def passes(texts):
    """The passes of a job, from what each of its workers wrote."""
    of_workers = [[json.loads(line) for line in text.splitlines() if line.startswith("{")] for text in texts]
    for rows in zip(*of_workers, strict=True):
        samples, seconds = sum(row["samples"] for row in rows), max(row["seconds"] for row in rows)
        workers, servers = (sum(row[name] for row in rows) for name in ("cpu_seconds", "server_cpu_seconds"))
        yield {
            "pass": rows[0]["pass"],
            "samples": samples,
            "samples_per_second": samples / seconds,
            "samples_per_cpu_second": samples / (workers + servers),
            "worker_us": 1e6 * workers / samples,
            "server_us": 1e6 * servers / samples,
            "bytes_to_servers": sum(row["bytes_in"] for row in rows) / samples,
            "bytes_to_workers": sum(row["bytes_out"] for row in rows) / samples,
        }


def finish(job, words, seconds):
    """Waits for a launcher. One that takes too long gets SIGTERM: it then leaves no process behind."""
    try:
        output, _ = job.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        job.terminate()
        sys.exit(f"ps_job: {' '.join(words)} did not end in {seconds} s:\n{job.communicate()[0][-2000:]}")
    if job.returncode != 0:
        sys.exit(f"ps_job: {' '.join(words)} ended with {job.returncode}:\n{output[-2000:]}")


def launch(*commands, seconds=SECONDS):
    """Runs a job by one launcher, or by one for each of its machines."""
    jobs = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for words in commands]
    try:
        for job, words in zip(jobs, commands):
            finish(job, words, seconds)
    finally:
        for job in jobs:
            if job.poll() is None:
                job.terminate()
                job.communicate()


def run_job(args, folder, port):
    if not args.link:
        return launch([str(word) for word in command(args, folder, everything_here(args, port))])
    with link(args.link) as machines:
        addresses = [address for address, _ in machines]
        commands = [[*inside, *command(args, folder, on_two_machines(args, port, addresses, address))] for address, inside in machines]
        launch(*([str(word) for word in words] for words in commands))


@contextlib.contextmanager
def followers(servers, port):
    """One of each server, for as long as the job takes; one that ends by itself has failed."""
    first = port + FOLLOWER_PORTS
    words = [
        ["nice", "-n", "10", str(BUILD / "bin/argosy-server"), f"--address=127.0.0.1:{first + i}", f"--follow=127.0.0.1:{port + i}", "--token=bench"]
        for i in range(servers)
    ]
    running = [subprocess.Popen(one, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for one in words]
    try:
        yield
        for one in running:
            if one.poll() is not None:
                sys.exit(f"ps_job: a follower ended with {one.returncode}:\n{one.stderr.read()[-2000:]}")
    finally:
        for one in running:
            one.terminate()
            text = one.communicate()[1]
            if "has caught up" not in text:
                sys.exit(f"ps_job: a follower has not caught up:\n{text[-2000:]}")


@contextlib.contextmanager
def model_server(servers, port):
    """`argosy serve` of the model of bench/serving.py by the followers' parameters, from when they answer to the job's end."""
    if not servers:
        yield
        return
    from serving import MODEL, make_model, requests

    make_model()
    dense, slots = requests(1, 1)[0]
    sample = {"dense_input": dense[0].tolist()} | {"C%d" % (i + 1): ids.tolist() for i, (ids, _) in enumerate(slots)}
    body = json.dumps({"instances": [sample]})
    endpoints = ",".join(f"127.0.0.1:{port + FOLLOWER_PORTS + i}" for i in range(servers))
    words = ["nice", "-n", "10", str(BUILD / "bin/argosy"), "serve", str(MODEL), "--port=0", "--threads=1", "--rows", endpoints, "--token=bench"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    answered, over = [], threading.Event()

    def ask():
        address, path = server.stdout.readline().strip().split("//")[1].split("/", 1)
        while not over.wait(0.1):
            connection = http.client.HTTPConnection(address, timeout=60)
            connection.request("POST", f"/{path}:predict", body)
            answered.append(connection.getresponse().status)
            connection.close()

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        yield
    finally:
        over.set()
        asking.join()
        server.terminate()
        server.wait(60)
    if len(answered) < 20 or set(answered) != {200}:
        sys.exit(f"ps_job: the model server answered {len(answered)} requests with status {sorted(set(answered))}")


def shape(text):
    servers, _, workers = text.partition("x")
    return int(servers), int(workers)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", type=shape, metavar="SERVERSxWORKERS")
    parser.add_argument("files")
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--format", choices=["criteo", "multislot"], default="criteo")
    parser.add_argument("--durability", choices=["none", "wal"], default="none")
    parser.add_argument("--followers", action="store_true")
    parser.add_argument("--replicas", type=int, choices=[0, 1], default=0)
    parser.add_argument("--serve", action="store_true", help="implies --followers")
    parser.add_argument("--wire", choices=["float32", "bfloat16", "int8"], default="float32")
    parser.add_argument("--products", choices=["float32", "bfloat16"], default="float32", help="of the worker's layers")
    parser.add_argument("--link", type=int, metavar="MBIT", help="not with --followers and --serve")
    args = parser.parse_args()
    if args.link and (args.followers or args.serve):
        parser.error("--link: followers and model servers are started on this machine, which is neither of the two")
    with tempfile.TemporaryDirectory(prefix="bench-", dir=ROOT / "build") as name:
        folder = pathlib.Path(name)
        port = free_ports(FOLLOWER_PORTS + args.shape[0])
        followed = args.followers or args.serve
        with followers(args.shape[0] if followed else 0, port), model_server(args.shape[0] if args.serve else 0, port):
            run_job(args, folder, port)
        for row in passes([file.read_text() for file in sorted((folder / "logs").glob("workerlog.*"))]):
            print(json.dumps({"servers": args.shape[0], "workers": args.shape[1], **row}))


if __name__ == "__main__":
    main()
