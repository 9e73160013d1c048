#!/usr/bin/env python3
"""Steps on a GPU beside the same by PyTorch, in rounds that take turns; jobs of one process that send their gradients by NCCL. Writes
bench/gpu_results.md, which bench/run.py puts into docs/benchmarks.md.

    tools/gpu_build.sh                             on a machine of its own, see docs/gpu.md; then
    python3 bench/gpu.py build/release             [what the rows to measure contain]

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

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUNDS = int(os.environ.get("ROUNDS", "5"))
SECONDS = 150  # of one run: torch.compile takes a minute for ResNet-50
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


def milliseconds(arguments, build):
    environment = dict(
        os.environ, MASTER_ADDR="127.0.0.1", MASTER_PORT=str(random.randrange(20000, 30000)), RANK="0", WORLD_SIZE="1", LOCAL_RANK="0", LOCAL_WORLD_SIZE="1"
    )
    environment["PYTHONPATH"] = os.pathsep.join([str(build / "python"), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode != 0:
        sys.exit(f"gpu: {' '.join(arguments)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])["ms"]


def peers_of(rows):
    return [peer for peer in PEERS if any(peer in row.against for row in rows)]


def measured(model, rows, build, run=milliseconds):
    """The medians of `rows` and of the model's peers, by name."""
    commands = {row.what: command(row.ours, build) for row in rows}
    commands |= {peer: command(model.peer, build) + [peer] * (peer != "eager") for peer in peers_of(rows)}
    rounds = [{name: run(one, build) for name, one in commands.items()} for _ in range(ROUNDS)]
    return {name: statistics.median(values[name] for values in rounds) for name in commands}


def line(row, medians):
    ratio = medians[row.what] / min(medians[peer] for peer in row.against)
    columns = " | ".join(f"{medians[peer]:.3f}" if peer in row.against else "" for peer in PEERS)
    bound, verdict = ("", "") if row.bound is None else (f"≤ {row.bound:.2f}", "met" if ratio <= row.bound else "**not met**")
    return f"| {row.what} | {medians[row.what]:.3f} | {columns} | {ratio:.3f} | {bound} | {verdict} |"


def main():
    import torch

    build, wanted = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2] if len(sys.argv) > 2 else ""
    lines = [
        f"Measured on one {torch.cuda.get_device_name()}, {os.cpu_count()} cores, torch {torch.__version__}, {datetime.date.today()}; medians of {ROUNDS} rounds in turns, "
        "ms per step. Adam is fused in both (CIFAR), SGD plain (ResNet). The ratio is to the fastest peer.",
        "",
        "| step | ours | PyTorch eager | torch.compile | reduce-overhead | ratio | bound | |",
        "|---|---:|---:|---:|---:|---:|---:|---|",
    ]
    for model in MODELS:
        rows = [row for row in model.rows if wanted in row.what]
        if not rows:
            continue
        medians = measured(model, rows, build)
        lines += [line(row, medians) for row in rows]
        print("\n".join(lines[-len(rows) :]), flush=True)
        target = pathlib.Path(os.environ.get("OUT", ROOT / "bench")) / "gpu_results.md"
        target.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
