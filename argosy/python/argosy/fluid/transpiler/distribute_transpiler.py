"""DistributeTranspilerConfig: how a job shares its parameters out and keeps its workers in step."""
from argosy.fluid.settings import Settings

__all__ = ["DistributeTranspilerConfig"]


class DistributeTranspilerConfig(Settings):
    """Settings of a parameter-server job, with fluid's names and defaults.

    sync_mode: workers go in step; otherwise half_async, geo_sgd_mode (with a push every geo_sgd_need_push_nums batches) or
    neither, which is asynchronous.
    """

    _fields = {"sync_mode": True, "half_async": False, "completely_not_async": False, "geo_sgd_mode": False, "geo_sgd_need_push_nums": 100,
               "runtime_split_send_recv": False, "slice_var_up": True, "split_method": None, "min_block_size": 8192, "enable_dc_asgd": False,
               "mode": "pserver", "collective_mode": None, "wait_port": True, "print_log": False, "nccl_comm_num": 1,
               "use_hierarchical_allreduce": False, "hierarchical_allreduce_inter_nranks": 0}

    def __setattr__(self, name, value):
        other = {"sync_mode": "runtime_split_send_recv", "runtime_split_send_recv": "sync_mode"}.get(name)
        if value and other is not None and getattr(self, other):
            raise ValueError(f"{name}=True does not go with {other}=True; set {other}=False first")
        super().__setattr__(name, value)
