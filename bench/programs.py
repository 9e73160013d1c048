"""The programs that measure, and how to read what they print. Each prints its measure more than once; the last counts, the
ones before it warm the process up."""
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/release"
PADDLE = ROOT / "build/parity/paddle-2.6.2/bin/python"
SECONDS = 300  # that one process may take
WARM = 2  # how often a process measures


def json_lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def read_ctr(text):
    """Speed of the last pass; quality after the first, for a second one learns the lines by heart and the test AUC falls."""
    series = {}
    for line in json_lines(text):
        series["ctr." + line["what"]] = line["samples_per_second"]
        series.setdefault("ctr." + line["what"] + ".auc", line["auc"])
    return series


def read_torch(text):
    return {"torch": float(re.findall(r"^RESULT .* samples/s=([\d.]+)", text, re.MULTILINE)[-1])}


def read_google_benchmark(text):
    return {"parse." + run["name"]: run["bytes_per_second"] / 1e6 for run in json.loads(text)["benchmarks"]}


def read_wire(text):
    """MB/s of what counts bytes, microseconds a call of what does not."""
    return {"wire." + run["name"].removesuffix("/real_time"): run["bytes_per_second"] / 1e6 if "bytes_per_second" in run else run["real_time"]
            for run in json.loads(text)["benchmarks"]}


def read_iperf(text):
    return {"iperf3": json_lines(text)[-1]["mb_per_second"]}


def read_load(name):
    return lambda text: {name: json_lines(text)[-1]["mb_per_second"], name + ".samples": json_lines(text)[-1]["samples"]}


def read_overhead(text):
    last = json_lines(text)[-1]
    return {"overhead.by_executor": last["by_executor_ns"], "overhead.by_hand": last["by_hand_ns"]}


def read_memory(text):
    last = json_lines(text)[-1]
    return {f"memory.{last['threads']}.{what}": last[what + "_mb"] for what in ("above_idle", "needed")}


@dataclasses.dataclass(frozen=True)
class Program:
    """One process a round. Its series are those whose names begin with a name of `gives`."""
    gives: str
    command: list
    read: Callable[[str], dict]

    def measure(self):
        """Runs it once; a process that fails ends the benchmark with what it said."""
        command = [str(part) for part in self.command]
        environment = dict(os.environ, OMP_NUM_THREADS="1", GLOG_minloglevel="2")
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, timeout=SECONDS, capture_output=True, text=True)
        except subprocess.TimeoutExpired:
            sys.exit(f"bench: {' '.join(command)} did not end in {SECONDS} s")
        if done.returncode != 0:
            sys.exit(f"bench: {' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
        return self.read(done.stdout)


def programs(data, peers):
    """All of them, our own before the peer that they are compared with."""
    train, test = data.criteo / "train/part-*", data.criteo / "test/part-*"
    return [
        Program("ctr", [BUILD / "bench/ctr_bench", train, test, WARM], read_ctr),
        Program("torch", [sys.executable, peers / "torch_ctr.py", "--table", "shared", "--opt", "sparseadam", "--threads", 1, "--epochs", WARM,
                          "--npz", data.arrays], read_torch),
        Program("parse", [BUILD / "argosy/data/data_bench", "--benchmark_filter=MultiSlot", "--benchmark_format=json", "--benchmark_min_time=0.5"],
                read_google_benchmark),
        Program("load", [BUILD / "bench/load_bench", data.multislot, WARM], read_load("load")),
        Program("paddle", [PADDLE, ROOT / "bench/paddle_load.py", data.multislot, WARM], read_load("paddle")),
        Program("wire", [BUILD / "argosy/rpc/rpc_bench", "--benchmark_filter=/tcp", "--benchmark_format=json", "--benchmark_min_time=1"], read_wire),
        Program("iperf3", [sys.executable, ROOT / "bench/iperf.py", 3], read_iperf),
        Program("overhead", [BUILD / "bench/overhead_bench"], read_overhead),
        Program("memory.1", [BUILD / "bench/memory_bench", train, 1], read_memory),
        Program("memory.2", [BUILD / "bench/memory_bench", train, 2], read_memory),
    ]
