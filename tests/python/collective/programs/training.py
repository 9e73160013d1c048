"""N ranks with differently seeded models and a part of the batch each train as one process with the whole batch: SGD, so that a wrong scale shows.

Also: no reducer but argosy's own is made.
"""

import sys

import numpy as np
import torch.nn.parallel

import paddle
import paddle.distributed as dist
import paddle.nn.functional as F
from paddle.distributed import fleet


def forbidden(self, *args, **kwargs):
    raise AssertionError("torch's DistributedDataParallel was made")


torch.nn.parallel.DistributedDataParallel.__init__ = forbidden
fleet.init(is_collective=True)
rank, size = fleet.worker_index(), fleet.worker_num()
BATCH, STEPS, RATE = 4, 3, 0.1


class Net(paddle.nn.Layer):
    """With a table of which a batch has few rows, and a part that some settings leave out."""

    def __init__(self, dtype, sparse=False):
        super().__init__()
        self.table = paddle.nn.Embedding(20, 6, sparse=sparse)
        self.first = paddle.nn.Linear(6, 16)
        self.second = paddle.nn.Linear(16, 1)
        self.unused = paddle.nn.Linear(3, 3)
        self.to(dtype=dtype)

    def forward(self, ids, use_all):
        found = self.second(F.tanh(self.first(self.table(ids).sum(axis=1))))
        return found + 0.1 * self.unused.weight.sum() + self.unused.bias.sum() if use_all else found


def batch(step, ranks):
    """The ids and targets of some ranks' parts of a step."""
    numbers = np.random.RandomState(1000 + step)
    ids, targets = numbers.randint(0, 20, (size, BATCH, 3)), numbers.rand(size, BATCH, 1)
    return ids[ranks].reshape(-1, 3), targets[ranks].reshape(-1, 1)


def loss_of(net, step, ranks, dtype, use_all):
    ids, targets = batch(step, ranks)
    return F.mse_loss(net(paddle.to_tensor(ids), use_all), paddle.to_tensor(targets.astype(dtype)))


def sgd(net):
    return paddle.optimizer.SGD(RATE, parameters=net.parameters())


def alone(net, micro, dtype, use_all, average):
    optimizer = sgd(net)
    for step in range(STEPS):
        for i in range(micro):
            loss_of(net, step * micro + i, list(range(size)), dtype, use_all).backward()
        if average:
            for parameter in net.parameters():
                if parameter.grad is not None:
                    parameter.grad.set_value(parameter.grad / micro)
        optimizer.step()
        optimizer.clear_grad()


def check(what, model, reference, dtype):
    limit = 1e-5 if dtype == "float32" else 1e-12
    for (name, one), two in zip(model.state_dict().items(), reference.state_dict().values()):
        a, b = one.numpy().astype("float64"), two.numpy().astype("float64")
        distance = np.linalg.norm(a - b) / (np.linalg.norm(b) or 1.0)
        assert distance < limit, f"{what}, {name}: {distance}"
    for one in model.parameters():
        everybody = []
        dist.all_gather(everybody, one)
        assert all((other.numpy() == everybody[0].numpy()).all() for other in everybody), f"{what}: ranks differ"


def copy_of(net, dtype, sparse):
    made = Net(dtype, sparse)
    made.set_state_dict(net.state_dict())
    return made


def run(dtype="float32", bucket=25, micro=1, by="no_sync", unused=False, sparse=False, average=False):
    what = f"{dtype} bucket={bucket} micro={micro} by={by} unused={unused} sparse={sparse} average={average}"
    paddle.seed(7 + rank)
    net = Net(dtype, sparse)
    first = net.first.weight.numpy()
    if by == "no_sync":
        model = paddle.DataParallel(net, comm_buffer_size=bucket, last_comm_buffer_size=bucket, find_unused_parameters=unused)
        optimizer = sgd(net)
    else:
        strategy = fleet.DistributedStrategy()
        strategy.gradient_merge, strategy.gradient_merge_configs = True, {"k_steps": micro, "avg": average}
        strategy.fuse_grad_size_in_MB, strategy.last_comm_group_size_MB, strategy.find_unused_parameters = bucket, bucket, unused
        optimizer = fleet.distributed_optimizer(sgd(net), strategy)
        model = fleet.distributed_model(net)
    assert isinstance(model, paddle.nn.Layer)
    assert (rank == 0) == bool((net.first.weight.numpy() == first).all()), "parameters are not those of rank 0"
    reference = copy_of(net, dtype, sparse)
    for step in range(STEPS):
        for i in range(micro):
            loss = lambda: loss_of(model, step * micro + i, [rank], dtype, not unused)
            if by == "no_sync" and i + 1 < micro:
                with model.no_sync():
                    loss().backward()
            else:
                loss().backward()
            if by == "merge":
                optimizer.step()
                optimizer.clear_grad()
        if by == "no_sync":
            optimizer.step()
            optimizer.clear_grad()
    alone(reference, micro, dtype, not unused, average)
    check(what, net, reference, dtype)


for dtype in ("float32", "float64"):
    for bucket in (25, 1e-6, 0.001):
        run(dtype, bucket)
        run(dtype, bucket, micro=3)
    run(dtype, micro=2, by="merge")
    run(dtype, 1e-6, micro=3, by="merge", average=True)
    run(dtype, unused=True)
    run(dtype, unused=True, micro=2)
    run(dtype, sparse=True)
assert not [name for name in sys.modules if name.startswith(("torch.distributed.run", "torch.distributed.launcher", "torch.distributed.elastic"))]
print("equal to one process")
