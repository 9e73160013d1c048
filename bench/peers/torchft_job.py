"""A replica of bench/rank_loss.py with torchft: the model and steps of bench/rank_loss_job.py. Argument: seconds of a step. TORCHFT_LIGHTHOUSE and
REPLICA say where and who. Writes the time of each step that counts to times.REPLICA, with the replicas that took part in it."""

import os
import sys
import time
from datetime import timedelta

import numpy as np
import torch
import torch.nn.functional as F
from torch.distributed import TCPStore
from torchft import Manager, Optimizer, ProcessGroupGloo
from torchft.ddp import PureDistributedDataParallel

SECONDS, REPLICA = float(sys.argv[1]), int(os.environ["REPLICA"])
with open(f"pid.{REPLICA}", "a") as file:
    file.write(f"{os.getpid()}\n")
torch.set_num_threads(1)
torch.manual_seed(0)
store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(store.port), RANK="0", WORLD_SIZE="1")
net = torch.nn.Sequential(torch.nn.Linear(784, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 10))
inner = torch.optim.Adam(net.parameters(), lr=0.001)


def load_state_dict(state):
    net.load_state_dict(state["model"])
    inner.load_state_dict(state["optimizer"])


manager = Manager(
    pg=ProcessGroupGloo(timeout=timedelta(seconds=5)),
    min_replica_size=2,
    load_state_dict=load_state_dict,
    state_dict=lambda: {"model": net.state_dict(), "optimizer": inner.state_dict()},
    replica_id=f"replica_{REPLICA}_",
    timeout=timedelta(seconds=10),
    use_async_quorum=True,
)
# With torchft 0.2.0's DistributedDataParallel survivors ended with an AssertionError (ddp.py, _comm_hook) when a peer was lost, in the one run of it
model, optimizer = PureDistributedDataParallel(manager, net), Optimizer(manager, inner)
x = torch.from_numpy(np.random.RandomState(0).rand(4096, 784).astype("float32"))
y = ((x.sum(1) * 10) % 10).long()
times = open(f"times.{REPLICA}", "a", buffering=1)  # noqa: SIM115
while True:
    before = manager.current_step()
    optimizer.zero_grad()
    at = (4 * before + REPLICA) * 32 % len(x)
    time.sleep(SECONDS)
    F.cross_entropy(model(x[at : at + 32]), y[at : at + 32]).backward()
    optimizer.step()
    if manager.current_step() > before:
        times.write(f"{time.time():.4f} {before} {manager.num_participants()}\n")
