"""CTR-DNN by eager PyTorch on one thread: the counterpart of ctr_bench.cc's float32_1_thread.

    bench/peers/torch_ctr.py ARRAYS.npz PASSES

ARRAYS has dense [n, 13], ids [n, 26] and label [n] (bench/run.py makes it). One table of 1,000,001 x 10 with sparse gradients
and SparseAdam, layers of 400-400-400-2 with Adam, batches of 1,000 from memory. Prints one JSON object per pass.
"""

import json
import sys
import time

import numpy as np
import torch
from torch.nn import functional

ROWS, WIDTH, HIDDEN, BATCH, RATE = 1_000_001, 10, 400, 1000, 1e-3


class CtrDnn(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(ROWS, WIDTH, sparse=True)
        torch.nn.init.uniform_(self.table.weight, -0.01, 0.01)
        sizes = [26 * WIDTH + 13, HIDDEN, HIDDEN, HIDDEN]
        hidden = [layer for size in sizes[:-1] for layer in (torch.nn.Linear(size, HIDDEN), torch.nn.ReLU())]
        self.layers = torch.nn.Sequential(*hidden, torch.nn.Linear(HIDDEN, 2))

    def forward(self, dense, ids):
        return self.layers(torch.cat([self.table(ids).flatten(1), dense], dim=1))


def train_pass(model, optimizers, dense, ids, label):
    """Samples and seconds of one pass over all whole batches."""
    samples, begun = 0, time.perf_counter()
    for part in zip(dense.split(BATCH), ids.split(BATCH), label.split(BATCH)):
        if len(part[2]) < BATCH:
            break
        for optimizer in optimizers:
            optimizer.zero_grad()
        functional.cross_entropy(model(part[0], part[1]), part[2]).backward()
        for optimizer in optimizers:
            optimizer.step()
        samples += BATCH
    return samples, time.perf_counter() - begun


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    arrays = np.load(sys.argv[1])
    dense, ids, label = (torch.from_numpy(arrays[name]) for name in ("dense", "ids", "label"))
    model = CtrDnn()
    optimizers = [torch.optim.SparseAdam(model.table.parameters(), RATE), torch.optim.Adam(model.layers.parameters(), RATE)]
    for index in range(int(sys.argv[2])):
        samples, seconds = train_pass(model, optimizers, dense, ids, label)
        print(json.dumps({"pass": index, "samples": samples, "seconds": seconds, "samples_per_second": samples / seconds}), flush=True)


if __name__ == "__main__":
    main()
