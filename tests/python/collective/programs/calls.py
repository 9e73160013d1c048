"""Every call of paddle.distributed, on three ranks: each rank checks what it gets."""

import warnings

import numpy as np
import pytest

import paddle
import paddle.distributed as dist
from paddle.distributed import ReduceOp

world = dist.init_parallel_env()
rank, size = dist.get_rank(), dist.get_world_size()
assert (world.rank, world.nranks, dist.is_initialized(), size) == (rank, 3, True, 3)


def mine():
    return paddle.to_tensor([1.0, 2.0 + rank])


for op, expected in ((ReduceOp.SUM, [3, 9]), (ReduceOp.MAX, [1, 4]), (ReduceOp.MIN, [1, 2]), (ReduceOp.PROD, [1, 24]), (ReduceOp.AVG, [1, 3])):
    x = mine()
    assert dist.all_reduce(x, op).is_completed()
    np.testing.assert_allclose(x.numpy(), expected)

x = paddle.arange(6, dtype="float32").reshape([2, 3]).t()  # not contiguous
dist.all_reduce(x)
np.testing.assert_array_equal(x.numpy(), 3 * np.arange(6, dtype="float32").reshape(2, 3).T)

x = paddle.nn.Linear(2, 1).weight  # a leaf with gradients is written, not computed
dist.broadcast(x, 0)
assert x.is_leaf and not x.stop_gradient

x = mine()
dist.reduce(x, 2)
np.testing.assert_allclose(x.numpy(), [3, 9] if rank == 2 else [1, 2 + rank])

x = mine()
dist.broadcast(x, 1)
np.testing.assert_allclose(x.numpy(), [1, 3])

found = []
dist.all_gather(found, paddle.to_tensor([rank, 7]))
assert [one.tolist() for one in found] == [[0, 7], [1, 7], [2, 7]]

objects = []
dist.all_gather_object(objects, {"rank": rank, "text": "x" * rank})
assert objects == [{"rank": i, "text": "x" * i} for i in range(3)]
objects = [rank, "of", "this"]
dist.broadcast_object_list(objects, 2)
assert objects == [2, "of", "this"]
objects = []
dist.scatter_object_list(objects, ["a", "b", "c"] if rank == 1 else None, src=1)
assert objects == ["abc"[rank]]

x = mine()
dist.scatter(x, [paddle.to_tensor([10.0 * i, 1.0]) for i in range(3)] if rank == 1 else None, src=1)
np.testing.assert_allclose(x.numpy(), [10 * rank, 1])

x = paddle.zeros([2])
dist.reduce_scatter(x, [mine() + i for i in range(3)])
np.testing.assert_allclose(x.numpy(), [3 + 3 * rank, 9 + 3 * rank])
x = paddle.zeros([1, 2])
dist.reduce_scatter(x, paddle.to_tensor(np.arange(6, dtype="float32").reshape(3, 2)), ReduceOp.AVG)
np.testing.assert_allclose(x.numpy(), [[2 * rank, 2 * rank + 1]])

x = mine()
if rank == 0:
    dist.send(x, 2)
elif rank == 2:
    dist.recv(x, 0)
    np.testing.assert_allclose(x.numpy(), [1, 2])

found = []
dist.alltoall([paddle.to_tensor([10.0 * rank + i, 1.0]) for i in range(3)], found)
assert [one.tolist() for one in found] == [[10.0 * i + rank, 1.0] for i in range(3)]
found = [paddle.zeros([i + 1], "int64") for i in range(3)]  # of different shapes
dist.alltoall([paddle.full([rank + 1], 10 * rank + i, "int64") for i in range(3)], found)
assert [one.tolist() for one in found] == [[10 * i + rank] * (i + 1) for i in range(3)]
x = paddle.zeros([3])
dist.alltoall(paddle.arange(3, dtype="float32") + 10 * rank, x)
np.testing.assert_allclose(x.numpy(), [rank, 10 + rank, 20 + rank])
x, shares = paddle.zeros([3, 2]), [(rank + i) % 3 for i in range(3)]  # of which one is empty
dist.alltoall_single(paddle.full([3, 2], float(rank)), x, shares, shares)
np.testing.assert_allclose(x.numpy()[:, 0], [i for i in range(3) for _ in range((rank + i) % 3)])
with pytest.raises(ValueError, match=r"in_tensor \[4\] is cut .* each of 3 processes; found sizes None"):
    dist.alltoall_single(paddle.zeros([4]), x)
with pytest.raises(ValueError, match="found sizes \\[1, 1, 1\\]"):
    dist.alltoall_single(paddle.zeros([3]), paddle.zeros([4]), out_split_sizes=[1, 1, 1])
with pytest.raises(ValueError, match="found 2 tensors, expected one for each of 3"):
    dist.alltoall([mine(), mine()], [])
with pytest.raises(ValueError, match="both are lists of them; found list and Tensor"):
    dist.alltoall([mine()], mine())

found = [] if rank == 2 else None
dist.gather(mine(), found, dst=2)
assert rank != 2 or [one.tolist() for one in found] == [[1.0, 2.0 + i] for i in range(3)]
found = [paddle.zeros([2]) for _ in range(3)] if rank == 0 else None
dist.gather(mine(), found)
assert rank != 0 or [one.tolist() for one in found] == [[1.0, 2.0 + i] for i in range(3)]
if rank == 1:
    with pytest.raises(ValueError, match="found None"):
        dist.gather(mine(), None, dst=1)
assert dist.get_backend() == "GLOO" and dist.is_available()

part = dist.new_group([2, 0])
assert part.ranks == [2, 0] and part.rank == {0: 1, 1: -1, 2: 0}[rank] and dist.get_rank(part) == part.rank and dist.get_world_size(part) == 2
assert dist.get_group(part.id) is part and part.get_group_rank(2) == 0 and part.get_group_rank(1) == -1
x = mine()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    dist.all_reduce(x, group=part)
np.testing.assert_allclose(x.numpy(), [1, 3] if rank == 1 else [2, 6])
assert (rank == 1) == any("not in the group" in str(one.message) for one in caught)
found = []
with warnings.catch_warnings(record=True):
    dist.alltoall([mine(), mine() * 10], found, group=part)
assert [one.tolist() for one in found] == {0: [[10, 40], [10, 20]], 1: [], 2: [[1, 4], [1, 2]]}[rank]
if rank != 1:
    x = mine()
    dist.broadcast(x, 2, group=part)  # ranks are the job's
    np.testing.assert_allclose(x.numpy(), [1, 4])
    with pytest.raises(ValueError, match=r"rank 1 is not in the group of ranks \[2, 0\]"):
        dist.broadcast(x, 1, group=part)

with pytest.raises(ValueError, match="no rank 5|not in the group"):
    dist.broadcast(mine(), 5)
with pytest.raises(ValueError, match="average of (Int|Long) tensors"):
    dist.all_reduce(paddle.to_tensor([1]), ReduceOp.AVG)
with pytest.raises(ValueError, match="SUM, MAX"):
    dist.all_reduce(mine(), 9)
with pytest.raises(ValueError, match="takes a Tensor; found list"):
    dist.all_reduce([1.0])
with pytest.raises(ValueError, match="sync_op"):
    dist.send(mine(), 0, sync_op=False)
with pytest.raises(ValueError, match="collective_seconds"):
    dist.new_group([0], timeout=3)

paddle.enable_static()
with pytest.raises(RuntimeError, match="all_reduce is of the dynamic graph"):
    dist.all_reduce(mine)
paddle.disable_static()
dist.barrier()

# Calls that differ end in an error that names two ranks and what each does.
try:
    dist.all_reduce(paddle.zeros([2 if rank == 1 else 3]))
    raise SystemExit("the shapes differ, and nobody noticed")
except paddle.errors.FailedPreconditionError as error:
    assert "rank 1" in str(error) and "[2]" in str(error) and "[3]" in str(error), error
print("all checked")
