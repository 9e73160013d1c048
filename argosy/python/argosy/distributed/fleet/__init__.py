"""paddle.distributed.fleet: the functions of one Fleet, that of this process."""

from argosy.distributed.dataset import InMemoryDataset, QueueDataset
from argosy.distributed.fleet import base as base
from argosy.distributed.fleet import metrics as metrics
from argosy.distributed.fleet.base import role_maker as role_maker
from argosy.distributed.fleet.base.distributed_strategy import DistributedStrategy
from argosy.distributed.fleet.base.role_maker import PaddleCloudRoleMaker, Role, UserDefinedRoleMaker
from argosy.distributed.fleet.base.util_factory import UtilBase
from argosy.distributed.fleet.fleet import Fleet
from argosy.fluid.dataset import DatasetBase
from argosy.fluid.incubate.data_generator import MultiSlotDataGenerator, MultiSlotStringDataGenerator

__all__ = [
    "DatasetBase",
    "DistributedStrategy",
    "Fleet",
    "InMemoryDataset",
    "MultiSlotDataGenerator",
    "MultiSlotStringDataGenerator",
    "PaddleCloudRoleMaker",
    "QueueDataset",
    "Role",
    "UserDefinedRoleMaker",
    "UtilBase",
    "init",
    "is_first_worker",
    "worker_index",
    "worker_num",
    "is_worker",
    "worker_endpoints",
    "server_num",
    "server_index",
    "server_endpoints",
    "is_server",
    "barrier_worker",
    "all_reduce",
    "init_worker",
    "init_server",
    "run_server",
    "stop_worker",
    "distributed_model",
    "distributed_optimizer",
    "minimize",
    "state_dict",
    "set_state_dict",
    "set_lr",
    "get_lr",
    "step",
    "clear_grad",
    "save",
    "load",
    "train_steps",
    "save_inference_model",
    "save_persistables",
    "save_persistable",
    "load_persistables",
    "save_snapshot",
    "load_snapshot",
    "shrink",
    "server_stats",
    "set_learning_rate",
]

fleet = Fleet()
util = fleet.util
init = fleet.init
is_first_worker = fleet.is_first_worker
worker_index = fleet.worker_index
worker_num = fleet.worker_num
is_worker = fleet.is_worker
worker_endpoints = fleet.worker_endpoints
server_num = fleet.server_num
server_index = fleet.server_index
server_endpoints = fleet.server_endpoints
is_server = fleet.is_server
barrier_worker = fleet.barrier_worker
all_reduce = fleet.all_reduce
init_worker = fleet.init_worker
init_server = fleet.init_server
run_server = fleet.run_server
stop_worker = fleet.stop_worker
distributed_model = fleet.distributed_model
distributed_optimizer = fleet.distributed_optimizer
minimize = fleet.minimize
state_dict = fleet.state_dict
set_state_dict = fleet.set_state_dict
set_lr = fleet.set_lr
get_lr = fleet.get_lr
step = fleet.step
clear_grad = fleet.clear_grad
save = fleet.save
load = fleet.load
train_steps = fleet.train_steps
save_inference_model = fleet.save_inference_model
save_persistables = fleet.save_persistables
save_persistable = fleet.save_persistable
load_persistables = fleet.load_persistables
save_snapshot = fleet.save_snapshot
load_snapshot = fleet.load_snapshot
shrink = fleet.shrink
server_stats = fleet.server_stats
set_learning_rate = fleet.set_learning_rate
rank, nranks, world_size = fleet.worker_index, fleet.worker_num, fleet.worker_num


def __getattr__(name):
    if name in ("metrics", "recompute", "utils"):  # imported when they are first used: utils needs torch
        import importlib

        return importlib.import_module(f"argosy.distributed.fleet.{name}")
    raise AttributeError(f"module 'paddle.distributed.fleet' has no attribute '{name}'")
