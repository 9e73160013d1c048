"""fluid.incubate.fleet.collective: 1.x's way to a collective job of programs."""

from argosy.distributed.collective_options import CollectiveOptions
from argosy.errors import FailedPreconditionError
from argosy.fluid.compiler import BuildStrategy, ExecutionStrategy, check_strategy
from argosy.fluid.incubate.fleet.base import fleet_base
from argosy.fluid.incubate.fleet.base.role_maker import PaddleCloudRoleMaker
from argosy.fluid.recompute_optimizer import RecomputeOptimizer

__all__ = ["Collective", "CollectiveOptimizer", "DistributedStrategy", "fleet"]

_NCCL = "processes meet in one way, which is the device's own"


class DistributedStrategy(BuildStrategy):
    """How programs of a collective job train. Gradients are averaged in every step, and sent in pieces of fuse_grad_size_in_MB; with use_local_sgd, or
    collective_mode "local_sgd", each process moves its own copy by its own gradients and the copies become their mean. sync_batch_norm: batches are
    normalized over all processes. forward_recompute: the backward computes once more what lies between recompute_checkpoints. use_amp: products
    of fc layers are in bfloat16, which needs no amp_loss_scaling. settings: those of docs/settings.md, by name. What else BuildStrategy has may be
    set as there, and changes nothing."""

    _fields = {
        **BuildStrategy._fields,
        "use_local_sgd": False,
        "use_dist_fc": False,
        "dist_fc_config": None,
        "mode": "nccl2",
        "collective_mode": "grad_allreduce",
        "nccl_comm_num": 1,
        "use_hierarchical_allreduce": False,
        "hierarchical_allreduce_inter_nranks": 1,
        "forward_recompute": False,
        "recompute_checkpoints": [],
        "use_amp": False,
        "amp_loss_scaling": 2**15,
        "exec_strategy": None,
        "fuse_grad_size_in_MB": 32,
        "settings": {},
    }
    _fixed = {
        **BuildStrategy._fixed,
        "allow_cuda_graph_capture": "give a BuildStrategy with it to CompiledProgram(fleet.main_program, build_strategy), and run that",
        "use_dist_fc": "layers are not cut into parts",
        "dist_fc_config": "layers are not cut into parts",
    }

    _hints = {**BuildStrategy._hints, **dict.fromkeys(("nccl_comm_num", "use_hierarchical_allreduce", "hierarchical_allreduce_inter_nranks"), _NCCL)}

    def __init__(self):
        super().__init__()
        vars(self).update(exec_strategy=ExecutionStrategy(), settings={})

    def __setattr__(self, name, value):
        if name == "mode" and value not in ("nccl2", "collective"):
            raise ValueError(f"DistributedStrategy.mode is 'nccl2' or 'collective', which are one here; found {value!r}")
        if name == "collective_mode" and value not in ("grad_allreduce", "local_sgd"):
            raise ValueError(f"DistributedStrategy.collective_mode is 'grad_allreduce' or 'local_sgd'; found {value!r}")
        if name == "exec_strategy":
            check_strategy("DistributedStrategy.exec_strategy", value, ExecutionStrategy)
        super().__setattr__(name, value)

    def _collective_options(self):
        local = self.use_local_sgd or self.collective_mode == "local_sgd"
        return CollectiveOptions(
            bucket_mb=float(self.fuse_grad_size_in_MB),
            local_steps=1 if local else 0,
            sync_batch_norm=bool(self.sync_batch_norm),
            settings=dict(self.settings),
        )

    @property
    def amp(self):
        return self.use_amp

    def _check_amp_of_programs(self):
        pass  # there is nothing else to choose


class CollectiveOptimizer(fleet_base.DistributedOptimizer):
    """An optimizer whose gradients are the mean over all processes."""

    def minimize(self, loss, startup_program=None, parameter_list=None, no_grad_set=None):
        """Completes the loss's program and makes it one of the job. Waits for nobody."""
        return self._minimize(loss, startup_program, parameter_list, no_grad_set)


class Collective(fleet_base.Fleet):
    """1.x's Fleet without servers."""

    def init(self, role_maker=None):
        """Takes the place that `role_maker` tells; without one, what the environment says."""
        self._init(PaddleCloudRoleMaker(is_collective=True) if role_maker is None else role_maker)
        if not self._is_collective:
            raise FailedPreconditionError(
                f"fleet.init: {type(role_maker).__name__} is for parameter servers; give it is_collective=True, or take UserDefinedCollectiveRoleMaker"
            )

    def distributed_optimizer(self, optimizer, strategy=None):
        """`optimizer`, of the mean gradients."""
        if strategy is not None and getattr(strategy, "forward_recompute", False):
            optimizer = RecomputeOptimizer(optimizer)
            optimizer._set_checkpoints(strategy.recompute_checkpoints)
        self._optimizer = CollectiveOptimizer(self, optimizer, strategy)
        return self._optimizer


fleet = Collective()
