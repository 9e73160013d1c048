#!/usr/bin/env python3
"""Steps on a GPU beside the same by PyTorch, in rounds that take turns: every program of a model is started once, and then each measures while the
others wait. Jobs of one process; gradients of C++ steps and of PyTorch's go by NCCL. Writes bench/gpu_results.md, which bench/run.py puts into
docs/benchmarks.md.

    tools/gpu_build.sh                             on a machine of its own, see docs/gpu.md; then
    python3 bench/gpu.py build/release             [what the rows to measure contain…]

A row's bound is against the fastest of its peers: PyTorch as it is (eager; DistributedDataParallel), by torch.compile, and by
torch.compile(mode="reduce-overhead"), which records CUDA graphs.
"""

import dataclasses
import datetime
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUNDS = int(os.environ.get("ROUNDS", "5"))
SECONDS = 150  # until a program has started and measured once: torch.compile takes a minute for ResNet-50
PEERS = ("eager", "compile", "reduce_overhead")


@dataclasses.dataclass(frozen=True)
class Row:
    what: str
    ours: str  # a program of the build or of bench/, and its arguments
    against: tuple = PEERS  # the peers, of which the fastest counts
    bound: float | None = 1.00  # of its time, at the most


@dataclasses.dataclass(frozen=True)
class Model:
    """What one script of bench/peers does, and our rows of the same: all of them run once in each round."""

    peer: str  # the script, and its arguments
    rows: tuple


EAGER = ("eager",)
MODELS = (
    Model(
        "torch_ddp.py cifar 32 32 300 adam",
        (
            Row("CIFAR CNN, batch 32, float32", "collective_bench cifar 32 32 300 adam alone", EAGER),
            Row("CIFAR CNN, batch 32, float32, captured", "collective_bench cifar 32 32 300 adam alone graph"),
            Row("CIFAR CNN, batch 32, float32, Python's dynamic graph", "gpu_dynamic.py cifar 32 32 300", EAGER, 1.02),
        ),
    ),
    Model(
        "torch_ddp.py resnet50 64 224 30 bfloat16 channels_last",
        (
            Row("ResNet-50, batch 64, bfloat16, channels last", "collective_bench resnet50 64 224 30 alone bfloat16 channels_last", EAGER),
            Row("ResNet-50, batch 64, bfloat16, channels last, captured", "collective_bench resnet50 64 224 30 alone graph bfloat16 channels_last"),
        ),
    ),
    Model(
        "torch_ctr_gpu.py 4096 200",
        (
            Row("CTR-DNN, batch 4096, table 1,000,001 x 10, a program, not captured", "gpu_ctr.py 4096 200", bound=None),
            Row("CTR-DNN, batch 4096, table 1,000,001 x 10, a program, captured", "gpu_ctr.py 4096 200 captured"),
        ),
    ),
)


def command(line, build):
    name, *arguments = line.split()
    if not name.endswith(".py"):
        return [str(build / "bench" / name), *arguments]
    script = next(path for path in (ROOT / "bench" / name, ROOT / "bench/peers" / name) if path.is_file())
    return [sys.executable, str(script), *arguments]


def environment_of(arguments, build):
    """One process of a job: PyTorch's scripts by torchrun's variables, ours by fleetrun's."""
    port = str(random.randrange(20000, 30000))
    if any("peers" in one for one in arguments):
        own = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1"}
    else:
        address = f"127.0.0.1:{port}"
        own = {"PADDLE_TRAINER_ID": "0", "PADDLE_TRAINERS_NUM": "1", "PADDLE_TRAINER_ENDPOINTS": address, "PADDLE_CURRENT_ENDPOINT": address}
    path = os.pathsep.join([str(build / "python"), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, **own, "PYTHONPATH": path, "BENCH_TURNS": "1"}


class Running:
    """A program that has warmed up, and measures once for each line that it is sent."""

    def __init__(self, arguments, build):
        self._arguments = arguments
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  (for as long as the program runs)
        self._process = subprocess.Popen(
            arguments, env=environment_of(arguments, build), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True
        )
        self._answer()

    def turn(self):
        """Milliseconds of a step."""
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self):
        watch = threading.Timer(SECONDS, self._process.kill)
        watch.start()
        try:
            for text in self._process.stdout:
                if text.startswith('{"ms"'):
                    return json.loads(text)["ms"]
        finally:
            watch.cancel()
        self._errors.seek(0)
        sys.exit(f"gpu: {' '.join(self._arguments)} ended with {self._process.wait()}:\n{self._errors.read()[-2000:]}")

    def close(self):
        self._process.stdin.close()
        self._process.stdout.read()
        if self._process.wait(SECONDS) != 0:
            print(f"gpu: {' '.join(self._arguments)} ended with {self._process.returncode}", file=sys.stderr)


def peers_of(rows):
    return [peer for peer in PEERS if any(peer in row.against for row in rows)]


def measured(model, rows, build, start=Running):
    """The medians of `rows` and of the model's peers, by name."""
    commands = {row.what: command(row.ours, build) for row in rows}
    commands |= {peer: command(model.peer, build) + [peer] * (peer != "eager") for peer in peers_of(rows)}
    programs = {name: start(one, build) for name, one in commands.items()}
    rounds = [{name: program.turn() for name, program in programs.items()} for _ in range(ROUNDS)]
    for program in programs.values():
        program.close()
    print(json.dumps(rounds), file=sys.stderr, flush=True)
    return {name: statistics.median(values[name] for values in rounds) for name in commands}


def line(row, medians):
    ratio = medians[row.what] / min(medians[peer] for peer in row.against)
    columns = " | ".join(f"{medians[peer]:.3f}" if peer in row.against else "" for peer in PEERS)
    bound, verdict = ("", "") if row.bound is None else (f"≤ {row.bound:.2f}", "met" if ratio <= row.bound else "**not met**")
    return f"| {row.what} | {medians[row.what]:.3f} | {columns} | {ratio:.3f} | {bound} | {verdict} |"


def main():
    import torch

    build, wanted = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:] or [""]
    lines = [
        f"Measured on one {torch.cuda.get_device_name()}, {os.cpu_count()} cores, torch {torch.__version__}, {datetime.date.today()}; medians of {ROUNDS} rounds in turns, "
        "ms per step. Adam is one kernel in both (CIFAR), SGD plain (ResNet-50). The ratio is to the fastest peer of the row.",
        "",
        "| step | ours | PyTorch eager | torch.compile | reduce-overhead | ratio | bound | |",
        "|---|---:|---:|---:|---:|---:|---:|---|",
    ]
    for model in MODELS:
        rows = [row for row in model.rows if any(one in row.what for one in wanted)]
        if not rows:
            continue
        medians = measured(model, rows, build)
        lines += [line(row, medians) for row in rows]
        print("\n".join(lines[-len(rows) :]), flush=True)
        target = pathlib.Path(os.environ.get("OUT", ROOT / "bench")) / "gpu_results.md"
        target.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
