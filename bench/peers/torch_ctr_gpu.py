"""CTR-DNN by PyTorch on a GPU, in the loop of bench/gpu_ctr.py: the same model, table and batches, which are copied from the CPU in each step.

torch_ctr_gpu.py BATCH STEPS [compile | reduce_overhead]

Eager: sparse gradients of the table and SparseAdam, as the model is trained. Compiled: the layers are, and the table stays as it is, which
torch.compile does not take; its lookups and its update are PyTorch's own kernels.
"""

import os
import sys
import time

import numpy as np
import torch
from torch.nn import functional

ROWS, WIDTH, HIDDEN, RATE, BATCHES, RUNS = 1_000_001, 10, 400, 1e-3, 8, 3


def batches(size):
    numbers = np.random.default_rng(1)
    for _ in range(BATCHES):
        dense = torch.from_numpy(numbers.random([size, 13], dtype=np.float32)).pin_memory()
        ids = torch.from_numpy(numbers.integers(0, ROWS, [size, 26])).pin_memory()
        yield dense, ids, torch.from_numpy(numbers.integers(0, 2, [size])).pin_memory()


def main():
    size, steps, flags = int(sys.argv[1]), int(sys.argv[2]), set(sys.argv[3:])
    device = torch.device("cuda")
    torch.manual_seed(1)
    table = torch.nn.Embedding(ROWS, WIDTH, sparse=True, device=device)
    torch.nn.init.uniform_(table.weight, -0.01, 0.01)
    sizes = [26 * WIDTH + 13, HIDDEN, HIDDEN, HIDDEN]
    hidden = [layer for width in sizes[:-1] for layer in (torch.nn.Linear(width, HIDDEN), torch.nn.ReLU())]
    layers = torch.nn.Sequential(*hidden, torch.nn.Linear(HIDDEN, 2)).to(device)

    def loss_of(rows, dense, label):
        return functional.cross_entropy(layers(torch.cat([rows.flatten(1), dense], dim=1)), label)

    if flags:
        loss_of = torch.compile(loss_of, mode="reduce-overhead" if "reduce_overhead" in flags else "default")
    optimizers = [torch.optim.SparseAdam(table.parameters(), RATE), torch.optim.Adam(layers.parameters(), RATE, fused=True)]
    fed = list(batches(size))

    def timed(count):
        begun = time.perf_counter()
        for step in range(count):
            dense, ids, label = (part.to(device, non_blocking=True) for part in fed[step % BATCHES])
            if "reduce_overhead" in flags:
                torch.compiler.cudagraph_mark_step_begin()
            loss_of(table(ids), dense, label).backward()
            for optimizer in optimizers:
                optimizer.step()
                optimizer.zero_grad()
        torch.cuda.synchronize()
        return time.perf_counter() - begun

    timed(max(steps // 4, BATCHES))
    seconds = [timed(steps) for _ in range(RUNS)]
    print('{"ms": %.4f}' % (1000 * seconds[-1] / steps), flush=True)
    for _ in sys.stdin if "BENCH_TURNS" in os.environ else ():  # bench/gpu.py's rounds
        print('{"ms": %.4f}' % (1000 * timed(steps) / steps), flush=True)


main()
