"""The fields of a DistributedStrategy besides a_sync: their defaults, and of what is not here or changes nothing, why and what does its job. Tables only."""

_NOT_HERE = "it is not there, neither in parameter-server jobs nor in collective ones"
_PARTS = "large tables go to parameter servers, and recompute lets larger layers fit into a process"
_LESS = "fp16_allreduce halves what is sent and localsgd sends less often"
_SUBSTITUTES = {  # what does the job of what is not there; the beginning of a name counts
    "pipeline": _PARTS,
    "tensor_parallel": _PARTS,
    "sharding": _PARTS,
    "hybrid": _PARTS,
    "auto": "say it yourself: a_sync and a_sync_configs, or the collective options",
    "semi_auto": "say it yourself: a_sync and a_sync_configs, or the collective options",
    "dgc": _LESS,
    "elastic": "fleetrun --nnodes=1:4 lets machines come and go",
    "qat": "amp trains with bfloat16, and argosy convert hands models to other tools",
    "asp": "amp trains with bfloat16, and argosy convert hands models to other tools",
    "gradient_scale": "scale the loss",
    "heter": "workers on devices and servers on CPUs are there without it",
    "is_fl": "a_sync with k_steps above 0 trains each worker's own copy",
    "is_with": "a_sync with k_steps above 0 trains each worker's own copy",
    "sparse_table": "paddle.static.nn.sparse_embedding has a table's size, entry and rule",
    "fs_client": "paddle.distributed.fleet.utils.HDFSClient copies models",
}


def not_here(name):
    """Why a setting keeps its default, and what to use in its place."""
    return f"{_NOT_HERE} ({next(instead for beginning, instead in _SUBSTITUTES.items() if name.startswith(beginning))})"


_DEVICE = "processes exchange gradients in one way, which is the device's own"
_KERNELS = "kernels are those of libtorch"
HINTS = {  # name -> (default, why it changes nothing)
    "use_hierarchical_allreduce": (False, _DEVICE),
    "hierarchical_allreduce_inter_nranks": (1, _DEVICE),
    "nccl_comm_num": (1, _DEVICE),
    "sync_nccl_allreduce": (True, _DEVICE),
    "fuse_grad_size_in_num": (8, "fuse_grad_size_in_MB says how gradients are put together"),
    "fuse_grad_merge": (False, "gradients of several batches are added up where they lie"),
    "split_data": (True, "each process reads what it is given"),
    "without_graph_optimization": (True, "a program is prepared in one way"),
    "cudnn_exhaustive_search": (False, _KERNELS),
    "cudnn_batchnorm_spatial_persistent": (False, _KERNELS),
    "conv_workspace_size_limit": (512, _KERNELS),
}
RULES = {  # what makes another optimizer, or another precision, of a script's
    "lamb": False,
    "lamb_configs": {"lamb_weight_decay": 0.01, "exclude_from_weight_decay": []},
    "lars": False,
    "lars_configs": {"lars_coeff": 0.001, "lars_weight_decay": 0.0005, "epsilon": 0.0, "exclude_from_weight_decay": []},
    "recompute": False,
    "recompute_configs": {"checkpoints": [], "enable_offload": False, "checkpoint_shape": []},
    "amp": False,
    "amp_configs": {
        "init_loss_scaling": 32768.0,
        "incr_every_n_steps": 1000,
        "decr_every_n_nan_or_inf": 2,
        "incr_ratio": 2.0,
        "decr_ratio": 0.8,
        "use_dynamic_loss_scaling": True,
        "custom_white_list": [],
        "custom_black_list": [],
        "custom_black_varnames": [],
        "use_pure_fp16": False,
        "use_fp16_guard": True,
        "use_optimizer_fp16": False,
        "use_pure_bf16": False,
    },
}
_NOT_OF_AMP = {  # of amp_configs -> what to do instead
    "custom_black_varnames": "custom_black_list in the dynamic graph",
    "use_pure_fp16": "use_pure_bf16 in the dynamic graph, or paddle.amp.auto_cast(dtype='float16') with paddle.amp.GradScaler",
    "use_optimizer_fp16": "nothing: optimizers keep float32",
}
_NOT_OF_RECOMPUTE = {
    "enable_offload": "more checkpoints: what is kept stays where it was computed",
    "checkpoint_shape": "nothing: shapes are those of the run",
}
INSTEAD = {"amp_configs": _NOT_OF_AMP, "recompute_configs": _NOT_OF_RECOMPUTE}
TRAINER = {"dump_fields_path": "", "dump_fields": [], "dump_param": [], "stat_var_names": [], "local_sparse": [], "remote_sparse": []}
COLLECTIVE = {  # what only collective jobs have
    "gradient_merge": False,
    "gradient_merge_configs": {"k_steps": 1, "avg": True},
    "localsgd": False,
    "localsgd_configs": {"k_steps": 1, "begin_step": 1},
    "adaptive_localsgd": False,
    "adaptive_localsgd_configs": {"init_k_steps": 1, "begin_step": 1},
    "fp16_allreduce": False,
    "find_unused_parameters": False,
    "sync_batch_norm": False,
    "fuse_all_reduce_ops": True,
    "fuse_grad_size_in_MB": 32,
    "last_comm_group_size_MB": 1.0,
}
_ONE_MESSAGE = "nothing: what a worker pushes is one message per server"
WITH_SERVERS = {  # of COLLECTIVE, by its first word or words -> what there is in a job with servers
    "gradient_merge": "a_sync_configs = {'max_merge_var_num': k}, by which an asynchronous worker merges what waits, or larger batches",
    "localsgd": "a_sync_configs = {'k_steps': k}: each worker trains a copy, and the servers add up differences",
    "adaptive_localsgd": "a_sync_configs = {'k_steps': k}: each worker trains a copy, and the servers add up differences",
    "fp16_allreduce": "settings = {'wire_format': 'bfloat16'}, with which gradients travel in 16 bits",
    "find_unused_parameters": "nothing: the program says which parameters have gradients",
    "sync_batch_norm": "layer_norm, which needs no other worker's batch",
    "fuse_all_reduce_ops": _ONE_MESSAGE,
    "fuse_grad_size_in_MB": _ONE_MESSAGE,
    "last_comm_group_size_MB": _ONE_MESSAGE,
}
SCALING = ("init_loss_scaling", "incr_every_n_steps", "decr_every_n_nan_or_inf", "incr_ratio", "decr_ratio", "use_dynamic_loss_scaling")
