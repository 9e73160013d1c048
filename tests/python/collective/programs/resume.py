"""Ten steps, with a checkpoint after each. In the first life of the job rank 1 dies after the fourth."""

import os

import numpy as np

import paddle
from paddle.distributed import fleet
from paddle.io import DataLoader, Dataset, DistributedBatchSampler


class Numbers(Dataset):
    def __getitem__(self, i):
        return np.full([1], i / 40, "float32")

    def __len__(self):
        return 40


fleet.init(is_collective=True)
model = fleet.distributed_model(paddle.nn.Linear(1, 1))
optimizer = fleet.distributed_optimizer(paddle.optimizer.Momentum(0.1, parameters=model.parameters()))
sampler = DistributedBatchSampler(Numbers(), 2, shuffle=True)
if fleet.load(model, optimizer, sampler=sampler):
    print("goes on at batch", sampler.state_dict()["position"], flush=True)
for x in DataLoader(Numbers(), batch_sampler=sampler):
    model(x[0] if isinstance(x, list) else x).square().mean().backward()
    optimizer.step()
    optimizer.clear_grad()
    fleet.save(model, optimizer, "checkpoint", sampler)
    position = sampler.state_dict()["position"]
    print("batch", position, flush=True)
    if position == 4 and fleet.worker_index() == 1 and not os.environ.get("ARGOSY_RESUME"):
        os._exit(3)
print("done", flush=True)
