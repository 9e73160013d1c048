#!/usr/bin/env python3
"""What parameter servers carry: N servers and N load generators (bench/server_load.cc) as processes of this machine, for each N.

    bench/server_scale.py                  1, 2, 4 and 8 of each; a line of JSON per N, then a table
    bench/server_scale.py 2x2 2x4          two servers with two and with four load generators
    bench/server_scale.py --apart          each process on cores of its own, where there are enough

A turn is what one worker does per batch of 1,000 samples of CTR-DNN: pulls some thousand rows and 430,000 dense parameters, and pushes as
many gradients. Rates are of all load generators together; a latency is the median of the load generators' p50, and the largest of
their p99 and p99.9. `straight` is the rate per load generator against that of the first line: 1 means that nobody slows
anybody. Neither torch nor Python packages are needed; with --build the programs of another build are measured.
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", default=["1x1", "2x2", "4x4", "8x8"], help="SERVERSxLOADS")
    parser.add_argument("--seconds", type=float, default=8, help="that are measured per round")
    parser.add_argument("--rounds", type=int, default=3, help="of which the median counts; shapes take turns")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="the build whose programs run")
    parser.add_argument("--apart", action="store_true", help="gives each process its share of the cores, and no others")
    parser.add_argument("--threads", type=int, default=0, help="handler threads of each server; 0: the program's own choice")
    return parser.parse_args()


def shape_of(text):
    servers, _, loads = text.partition("x")
    if not (servers.isdigit() and loads.isdigit() and int(servers) and int(loads)):
        sys.exit(f"server_scale: '{text}' is no shape; expected SERVERSxLOADS, as in 2x2")
    return int(servers), int(loads)


class Cores:
    """The cores of each process, in the order in which processes are started; all of them for all where they are not apart."""

    def __init__(self, apart, processes):
        self.all = sorted(os.sched_getaffinity(0))
        self.share = max(1, len(self.all) // processes) if apart else 0
        self.given = 0

    def next(self):
        if not self.share:
            return self.all
        first = self.given % len(self.all)
        self.given += self.share
        return self.all[first : first + self.share]


def started(command, cores):
    own = cores.next()
    return subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True, preexec_fn=lambda: os.sched_setaffinity(0, own))


def processor_seconds(process):
    """Of a process that runs."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(args, servers, loads):
    cores = Cores(args.apart, servers + loads)
    with contextlib.ExitStack() as stack:
        running = []
        for i in range(servers):
            command = [args.build / "bin/argosy-server", "--server-index", i, "--servers", servers, "--job", "load"]
            running.append(started([*command, *(["--threads", args.threads] if args.threads else [])], cores))
            stack.callback(running[-1].wait)
            stack.callback(running[-1].kill)
        endpoints = ",".join(server.stdout.readline().split()[-1] for server in running)
        command = [args.build / "bench/server_load", "--servers", endpoints, "--workers", loads, "--seconds", args.seconds]
        generators = [started([*command, "--worker", i], cores) for i in range(loads)]
        for generator in generators:
            stack.callback(generator.wait)
            stack.callback(generator.kill)
        found = [json.loads(generator.stdout.readline() or "null") for generator in generators]
        if None in found:
            sys.exit("server_scale: a load generator has failed; what it says is above")
        busy = sum(processor_seconds(server) for server in running)  # with the warm-up; turns of which are not counted
        return summary(found, servers, loads, busy)


def summary(found, servers, loads, busy):
    turns = sum(one["turns"] / one["seconds"] for one in found)
    line = {"servers": servers, "loads": loads, "turns_per_second": turns, "rows_per_second": sum(one["rows"] / one["seconds"] for one in found)}
    line["server_seconds"] = busy
    for call in ("pull", "push"):
        line[f"{call}_p50_ms"] = statistics.median(one[f"{call}_ms"]["p50"] for one in found)
        line |= {f"{call}_{part}_ms": max(one[f"{call}_ms"][part] for one in found) for part in ("p99", "p999")}
    return line


def medians(lines):
    return {name: statistics.median(line[name] for line in lines) for name in lines[0]}


def table(lines):
    """In the form of docs/benchmarks-notes.md."""
    first = lines[0]["turns_per_second"] / lines[0]["loads"]
    yield "| servers x loads | turns/s | M rows/s | straight | pull p50 / p99 / p99.9 ms | push p50 / p99 / p99.9 ms |"
    yield "|---|---:|---:|---:|---:|---:|"
    for line in lines:
        latencies = [" / ".join(f"{line[f'{call}_{part}_ms']:.2f}" for part in ("p50", "p99", "p999")) for call in ("pull", "push")]
        straight = line["turns_per_second"] / line["loads"] / first
        rates = f"{line['turns_per_second']:,.0f} | {line['rows_per_second'] / 1e6:.2f} | {straight:.2f}"
        yield f"| {line['servers']:.0f} x {line['loads']:.0f} | {rates} | {latencies[0]} | {latencies[1]} |"


def main():
    args = options()
    shapes = [shape_of(text) for text in args.shapes]
    rounds = {shape: [] for shape in shapes}
    for number in range(args.rounds):
        for shape in shapes:
            rounds[shape].append(measure(args, *shape))
            print(json.dumps({"round": number + 1} | rounds[shape][-1]), flush=True)
    print("\n".join(table([medians(lines) for lines in rounds.values()])))


if __name__ == "__main__":
    main()
