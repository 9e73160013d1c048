"""paddle.distributed.fleet: the functions of one Fleet, that of this process."""
from argosy.distributed.fleet import base, metrics
from argosy.distributed.fleet.base import role_maker
from argosy.distributed.fleet.base.distributed_strategy import DistributedStrategy
from argosy.distributed.fleet.base.role_maker import PaddleCloudRoleMaker, Role, UserDefinedRoleMaker
from argosy.distributed.fleet.base.util_factory import UtilBase
from argosy.distributed.fleet.fleet import Fleet
from argosy.fluid.dataset import DatasetBase
from argosy.distributed.dataset import InMemoryDataset, QueueDataset
from argosy.fluid.incubate.data_generator import MultiSlotDataGenerator, MultiSlotStringDataGenerator

__all__ = ["DatasetBase", "DistributedStrategy", "Fleet", "InMemoryDataset", "MultiSlotDataGenerator", "MultiSlotStringDataGenerator",
           "PaddleCloudRoleMaker", "QueueDataset", "Role", "UserDefinedRoleMaker", "UtilBase"]

fleet = Fleet()
util = fleet.util
for _name in ("init is_first_worker worker_index worker_num is_worker worker_endpoints server_num server_index server_endpoints is_server "
              "barrier_worker all_reduce init_worker init_server run_server stop_worker distributed_model distributed_optimizer minimize "
              "state_dict set_state_dict set_lr get_lr step clear_grad save load save_inference_model "
              "save_persistables save_persistable load_persistables save_snapshot load_snapshot shrink server_stats "
              "set_learning_rate").split():
    globals()[_name] = getattr(fleet, _name)
    __all__.append(_name)
del _name
rank, nranks, world_size = fleet.worker_index, fleet.worker_num, fleet.worker_num
