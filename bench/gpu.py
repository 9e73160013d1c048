#!/usr/bin/env python3
"""Steps on a GPU, ours in C++ beside PyTorch's DistributedDataParallel in rounds that take turns; both send their gradients by
NCCL, as a job of one process. Writes bench/gpu_results.md, which bench/run.py puts into docs/benchmarks.md.

    cmake -S . -B build/alone -DARGOSY_PS=OFF -DCMAKE_BUILD_TYPE=Release && cmake --build build/alone --target collective_bench
    python3 bench/gpu.py build/alone/bench/collective_bench            [what the rows to measure contain]
"""
import datetime
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys

import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUNDS = 5
ROWS = [  # what, bound, ours, the peer's
    ("CIFAR CNN, batch 32, float32", 1.00, "cifar 32 32 300 adam alone", "cifar 32 32 300 adam"),
    ("CIFAR CNN, batch 32, float32, channels last", 1.00, "cifar 32 32 300 adam alone channels_last", "cifar 32 32 300 adam channels_last"),
    ("CIFAR CNN, batch 32, bfloat16, channels last", 1.00, "cifar 32 32 300 adam alone bfloat16 channels_last", "cifar 32 32 300 adam bfloat16 channels_last"),
    ("CIFAR CNN, batch 32, float32, the step captured as a CUDA graph", 0.30, "cifar 32 32 300 adam alone graph", "cifar 32 32 300 adam"),
    ("ResNet-50, batch 64, 224 x 224, float32, channels last", 1.00, "resnet50 64 224 30 alone channels_last", "resnet50 64 224 30 channels_last"),
    ("ResNet-50, batch 64, 224 x 224, bfloat16, channels last", 1.00, "resnet50 64 224 30 alone bfloat16 channels_last", "resnet50 64 224 30 bfloat16 channels_last"),
]


def milliseconds(command):
    environment = dict(os.environ, MASTER_ADDR="127.0.0.1", MASTER_PORT=str(random.randrange(20000, 30000)), RANK="0", WORLD_SIZE="1", LOCAL_RANK="0",
                       LOCAL_WORLD_SIZE="1")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit(f"gpu: {' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])["ms"]


def main():
    program = sys.argv[1]
    lines = [f"Measured on one {torch.cuda.get_device_name()}, {os.cpu_count()} cores, torch {torch.__version__}, {datetime.date.today()}; medians of {ROUNDS} rounds, "
             "ms a step. Adam is fused in both (CIFAR), SGD plain (ResNet).", "", "| step | ours | DistributedDataParallel | ratio | bound | |", "|---|---:|---:|---:|---:|---|"]
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    for what, bound, ours, peer in [row for row in ROWS if wanted in row[0]]:
        rounds = [(milliseconds([program, *ours.split()]), milliseconds([sys.executable, str(ROOT / "bench/peers/torch_ddp.py"), *peer.split()])) for _ in range(ROUNDS)]
        mine, theirs = (statistics.median(column) for column in zip(*rounds))
        lines.append(f"| {what} | {mine:.3f} | {theirs:.3f} | {mine / theirs:.3f} | ≤ {bound:.2f} | {'met' if mine / theirs <= bound else '**not met**'} |")
        print(lines[-1], flush=True)
    target = pathlib.Path(os.environ.get("OUT", ROOT / "bench")) / "gpu_results.md"
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")


main()
