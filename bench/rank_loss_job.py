"""A rank of bench/rank_loss.py. Argument: seconds of a step. Writes the time of each step that counts to times.RANK."""

import os
import sys
import time

import numpy as np

import paddle
import paddle.nn.functional as F
from paddle.distributed import fleet
from paddle.io import DataLoader, DistributedBatchSampler, TensorDataset

SECONDS = float(sys.argv[1])
RANK = paddle.distributed.get_rank()
with open(f"pid.{RANK}", "a") as file:
    file.write(f"{os.getpid()}\n")
fleet.init(is_collective=True)
net = paddle.nn.Sequential(paddle.nn.Linear(784, 1024), paddle.nn.ReLU(), paddle.nn.Linear(1024, 10))
model = fleet.distributed_model(net)
optimizer = fleet.distributed_optimizer(paddle.optimizer.Adam(0.001, parameters=model.parameters()))
x = np.random.RandomState(0).rand(4096, 784).astype("float32")
data = TensorDataset([paddle.to_tensor(x), paddle.to_tensor((x.sum(1) * 10 % 10).astype("int64"))])
loader = DataLoader(data, batch_sampler=DistributedBatchSampler(data, 32, shuffle=True))
times = open(f"times.{RANK}", "a", buffering=1)  # noqa: SIM115


def step(batch):
    images, labels = batch
    time.sleep(SECONDS)
    F.cross_entropy(model(images), labels).backward()


def counted(epoch, index, value):
    times.write(f"{time.time():.4f} {index}\n")


fleet.train_steps(step, loader, model, optimizer, passes=10**6, counted=counted)  # until it is stopped
