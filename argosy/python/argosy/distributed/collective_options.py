"""What a strategy says about a collective job, in one form for all strategies. Light: without torch and NumPy."""

import dataclasses

__all__ = ["CollectiveOptions", "options_of"]

_ALONE_MB = 1e-6  # pieces so small that every gradient is one


@dataclasses.dataclass(frozen=True)
class CollectiveOptions:
    """Standards are those of a job without a strategy."""

    bucket_mb: float = 32.0
    first_bucket_mb: float = 1.0
    find_unused_parameters: bool = False
    gradient_type: str = ""
    merge_steps: int = 1
    merge_average: bool = True
    local_steps: int = 0  # 0: gradients are averaged, not copies
    local_begin: int = 1
    adaptive: bool = False
    sync_batch_norm: bool = False
    amp: dict | None = None  # amp_configs, where a model computes in bfloat16
    recompute: tuple = ()  # names of sublayers whose forward is computed once more in the backward
    settings: dict = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, strategy):
        """Of paddle.distributed.fleet's DistributedStrategy."""
        local = {}
        if strategy.localsgd and strategy.adaptive_localsgd:
            raise ValueError("localsgd and adaptive_localsgd are two ways of one thing; set one of them")
        if strategy.localsgd:
            local = {"local_steps": strategy.localsgd_configs["k_steps"], "local_begin": strategy.localsgd_configs["begin_step"]}
        if strategy.adaptive_localsgd:
            configs = strategy.adaptive_localsgd_configs
            local = {"local_steps": configs["init_k_steps"], "local_begin": configs["begin_step"], "adaptive": True}
        if local and strategy.gradient_merge:
            raise ValueError("gradient_merge does not go with localsgd: processes that train their own copies send no gradients")
        merge = strategy.gradient_merge_configs if strategy.gradient_merge else {"k_steps": 1, "avg": True}
        fused = strategy.fuse_all_reduce_ops
        return cls(
            bucket_mb=float(strategy.fuse_grad_size_in_MB) if fused else _ALONE_MB,
            first_bucket_mb=float(strategy.last_comm_group_size_MB) if fused else _ALONE_MB,
            find_unused_parameters=strategy.find_unused_parameters,
            gradient_type="float16" if strategy.fp16_allreduce else "",
            merge_steps=merge["k_steps"],
            merge_average=bool(merge["avg"]),
            sync_batch_norm=strategy.sync_batch_norm,
            amp=strategy.amp_configs if strategy.amp else None,
            recompute=tuple(strategy._checkpoints() or ()),
            settings=dict(strategy.settings),
            **local,
        )

    def of_reducer(self):
        """What the core's DataParallelOptions take."""
        return {
            "bucket_mb": self.bucket_mb,
            "first_bucket_mb": self.first_bucket_mb,
            "find_unused_parameters": self.find_unused_parameters,
            "gradient_type": self.gradient_type,
            "broadcast_buffers": not self.local_steps,
        }


def options_of(strategy):
    """The options of any strategy of collective jobs; None is the default one."""
    if strategy is None:
        return CollectiveOptions()
    convert = getattr(strategy, "_collective_options", None)
    if convert is None:
        raise TypeError(f"a strategy of a collective job is a DistributedStrategy; found {type(strategy).__name__}")
    return convert()
