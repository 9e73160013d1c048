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
    bound: float
    ours: str  # a program of the build or of bench/, and its arguments
    peer: str  # a script of bench/peers, and its arguments
    peers: tuple = PEERS


ROWS = (
    Row("CIFAR CNN, batch 32, float32", 1.00, "collective_bench cifar 32 32 300 adam alone", "torch_ddp.py cifar 32 32 300 adam", ("eager",)),
    Row("CIFAR CNN, batch 32, float32, captured", 1.00, "collective_bench cifar 32 32 300 adam alone graph", "torch_ddp.py cifar 32 32 300 adam"),
    Row(
        "ResNet-50, batch 64, bfloat16, channels last",
        1.00,
        "collective_bench resnet50 64 224 30 alone bfloat16 channels_last",
        "torch_ddp.py resnet50 64 224 30 bfloat16 channels_last",
        ("eager",),
    ),
    Row(
        "ResNet-50, batch 64, bfloat16, channels last, captured",
        1.00,
        "collective_bench resnet50 64 224 30 alone graph bfloat16 channels_last",
        "torch_ddp.py resnet50 64 224 30 bfloat16 channels_last",
    ),
    Row("CIFAR CNN, batch 32, float32, Python's dynamic graph", 1.02, "gpu_dynamic.py cifar 32 32 300", "torch_ddp.py cifar 32 32 300 adam", ("eager",)),
    Row("CTR-DNN, batch 4096, table 1,000,001 x 10, a program", 1.00, "gpu_ctr.py 4096 200", "torch_ctr_gpu.py 4096 200", ("eager",)),
    Row("CTR-DNN, batch 4096, table 1,000,001 x 10, a program, captured", 1.00, "gpu_ctr.py 4096 200 captured", "torch_ctr_gpu.py 4096 200"),
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


def measured(row, build, run=milliseconds):
    """The medians of ours and of each peer."""
    commands = {"ours": command(row.ours, build)} | {peer: command(row.peer, build) + [peer] * (peer != "eager") for peer in row.peers}
    rounds = [{name: run(one, build) for name, one in commands.items()} for _ in range(ROUNDS)]
    return {name: statistics.median(values[name] for values in rounds) for name in commands}


def line(row, medians):
    best = min(medians[peer] for peer in row.peers)
    ratio = medians["ours"] / best
    columns = " | ".join(f"{medians[peer]:.3f}" if peer in medians else "" for peer in PEERS)
    return f"| {row.what} | {medians['ours']:.3f} | {columns} | {ratio:.3f} | ≤ {row.bound:.2f} | {'met' if ratio <= row.bound else '**not met**'} |"


def main():
    import torch

    build, wanted = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2] if len(sys.argv) > 2 else ""
    lines = [
        f"Measured on one {torch.cuda.get_device_name()}, {os.cpu_count()} cores, torch {torch.__version__}, {datetime.date.today()}; medians of {ROUNDS} rounds, "
        "ms per step. Adam is fused in both (CIFAR), SGD plain (ResNet). The ratio is to the fastest peer.",
        "",
        "| step | ours | PyTorch eager | torch.compile | reduce-overhead | ratio | bound | |",
        "|---|---:|---:|---:|---:|---:|---:|---|",
    ]
    for row in [row for row in ROWS if wanted in row.what]:
        lines.append(line(row, measured(row, build)))
        print(lines[-1], flush=True)
        target = pathlib.Path(os.environ.get("OUT", ROOT / "bench")) / "gpu_results.md"
        target.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
