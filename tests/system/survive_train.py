"""A rank of tests/system/test_survive.py: trains by train_steps, and writes down what has counted. Arguments: passes, seconds of a step."""

import hashlib
import os
import pathlib
import sys
import time

import numpy as np

import paddle
import paddle.nn.functional as F
from paddle.distributed import fleet
from paddle.io import DataLoader, Dataset, DistributedBatchSampler

PASSES, SECONDS = int(sys.argv[1]), float(sys.argv[2])
trouble = os.environ.get("TROUBLE", "")  # "raise 2 7": rank 2 raises in its step 7; "exit 2": its first newcomer ends; "barrier", "move", "environ", "slow end"


class Points(Dataset):
    """With noise, as data that is changed at random for training has."""

    def __init__(self):
        self.x = np.random.RandomState(0).rand(192, 6).astype("float32")

    def __getitem__(self, i):
        return (self.x[i] + 0.1 * np.random.rand(6)).astype("float32"), self.x[i].sum(keepdims=True), i

    def __len__(self):
        return len(self.x)


def once(name):
    """Whether this is the first process that asks."""
    try:
        pathlib.Path(name).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def write(name, line):
    with open(f"{name}.{RANK}", "a") as file:
        file.write(line + "\n")


if trouble == "environ":
    print("I am", os.environ["PADDLE_TRAINER_ID"])
RANK = paddle.distributed.get_rank()  # where a spare waits
write("pid", str(os.getpid()))
if trouble == f"exit {RANK}" and "ARGOSY_REJOIN" in os.environ and once("exited"):
    sys.exit(3)
fleet.init(is_collective=True)
paddle.seed(RANK + 1)  # rank 0's first values are those of all
net = paddle.nn.Sequential(paddle.nn.Linear(6, 64), paddle.nn.BatchNorm1D(64), paddle.nn.ReLU(), paddle.nn.Dropout(0.2), paddle.nn.Linear(64, 1))
model = fleet.distributed_model(net)
rate = paddle.optimizer.lr.StepDecay(0.05, step_size=7, gamma=0.9)
optimizer = fleet.distributed_optimizer(paddle.optimizer.Adam(rate, parameters=model.parameters()))
sampler = DistributedBatchSampler(Points(), 8, shuffle=True)
loader = DataLoader(Points(), batch_sampler=sampler)
fleet.load(model, optimizer, sampler=sampler)
if trouble == "barrier" and "ARGOSY_REJOIN" in os.environ:
    paddle.distributed.barrier()


def step(batch):
    x, y, ids = batch
    time.sleep(SECONDS / 2)
    loss = F.mse_loss(model(x), y)
    time.sleep(SECONDS / 2)  # where the forward has changed buffers, and gradients are not there yet
    loss.backward()
    if trouble.startswith(f"raise {RANK} ") and len(counts) == int(trouble.split()[2]) and once("raised"):
        raise ValueError("a bad batch")
    if trouble == "move":
        optimizer.step()
    paddle.distributed.all_reduce(loss.detach())
    return [int(i) for i in ids]


counts = []


def counted(epoch, index, ids):
    counts.append(index)
    write("steps", f"{epoch} {index} {' '.join(map(str, ids))}")
    rate.step()


def after_pass(epoch):
    mean = paddle.to_tensor([float(epoch)])
    paddle.distributed.all_reduce(mean)
    assert float(mean) == 4.0 * epoch
    fleet.save(model, optimizer, "checkpoint", sampler)


fleet.train_steps(step, loader, model, optimizer, passes=PASSES, counted=counted, after_pass=after_pass, seed=3)
digest = hashlib.sha256()
for name, one in sorted(model.state_dict().items()):
    digest.update(name.encode() + one.numpy().tobytes())
for name, one in sorted(optimizer.state_dict().items()):
    digest.update(name.encode() + (repr(one).encode() if isinstance(one, dict) else one.numpy().tobytes()))
pathlib.Path(f"digest.{RANK}").write_text(digest.hexdigest())
paddle.distributed.barrier()  # the group goes on after the training
if trouble == "slow end":
    time.sleep(5)
