"""Trains a small CNN on CIFAR-10's binary files, alone or as one of many processes. The lines that make it distributed are numbered.

The twin of cifar.cc: the same network, data and options, with the dynamic graph of paddle 2.x.

    cifar.py FOLDER [EPOCHS]                        one process
    fleetrun --nproc_per_node 2 cifar.py FOLDER     two; on machines with GPUs: fleetrun --gpus 0,1 cifar.py FOLDER

FOLDER has data_batch_*.bin and test_batch.bin: records of a label byte and 3 x 32 x 32 bytes.
"""

import pathlib
import sys

import numpy as np

import paddle
from paddle import nn
from paddle.distributed import fleet


class Images(paddle.io.Dataset):
    """(pixels, label): float32 [3, 32, 32] in 0 … 1, and an int64."""

    def __init__(self, folder, prefix):
        data = b"".join(path.read_bytes() for path in sorted(pathlib.Path(folder).glob(prefix + "*.bin")))
        records = np.frombuffer(data, "uint8").reshape(-1, 1 + 3 * 32 * 32)
        self.pixels = records[:, 1:].reshape(-1, 3, 32, 32).astype("float32") / 255
        self.labels = records[:, 0].astype("int64")

    def __getitem__(self, i):
        return self.pixels[i], self.labels[i]

    def __len__(self):
        return len(self.labels)


def network():
    return nn.Sequential(
        nn.Conv2D(3, 32, 3),
        nn.ReLU(),
        nn.MaxPool2D(2),
        nn.Conv2D(32, 64, 3),
        nn.ReLU(),
        nn.MaxPool2D(2),
        nn.Conv2D(64, 64, 3),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(1024, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )


def main(folder, epochs):
    fleet.init(is_collective=True)  # 1
    paddle.seed(7)
    model = fleet.distributed_model(network())  # 2
    optimizer = fleet.distributed_optimizer(paddle.optimizer.Adam(1e-3, parameters=model.parameters()))  # 3
    train, test = Images(folder, "data_batch"), Images(folder, "test_batch")
    sampler = paddle.io.DistributedBatchSampler(train, batch_size=32, shuffle=True)  # 4
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        total = 0.0
        for pixels, labels in paddle.io.DataLoader(train, batch_sampler=sampler):
            loss = nn.functional.cross_entropy(model(pixels), labels)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            total += float(loss)
        print("rank %d epoch %d loss %.4f" % (fleet.worker_index(), epoch, total / len(sampler)), flush=True)
    if fleet.is_first_worker():  # 5: one process saves
        paddle.save(model.state_dict(), folder + "/model.pdparams")
        with paddle.no_grad():
            best = model(paddle.to_tensor(test.pixels)).argmax(axis=1).numpy()
        print("test accuracy %.4f" % (best == test.labels).mean())


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} FOLDER [EPOCHS]")
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3)
