"""Which FLAGS_* there are, in the environment of a process and for set_flags. Of the standard library alone: the core asks for it when it is loaded."""

import difflib
import os
import warnings

__all__ = ["PREFIX", "DETERMINISTIC", "is_known", "unknown_text", "warn_of_unknown"]

PREFIX = "FLAGS_"

# Of memory and kernels of Paddle's own engine: hints, accepted and without effect here.
_HINTS = """
    allocator_strategy benchmark conv_workspace_size_limit cudnn_batchnorm_spatial_persistent cudnn_exhaustive_search
    eager_delete_scope eager_delete_tensor_gb enable_cublas_tensor_op_math enable_parallel_graph enable_pir_api
    fast_eager_deletion_mode fraction_of_cpu_memory_to_use fraction_of_cuda_pinned_memory_to_use fraction_of_gpu_memory_to_use free_idle_chunk
    free_when_no_cache_hit fuse_parameter_groups_size fuse_parameter_memory_size gpu_memory_limit_mb init_allocated_mem initial_cpu_memory_in_mb
    initial_gpu_memory_in_mb inner_op_parallelism max_inplace_grad_add memory_fraction_of_eager_deletion paddle_num_threads reallocate_gpu_memory_in_mb
    selected_gpus sort_sum_gradient sync_nccl_allreduce tracer_profile_fname use_mkldnn use_pinned_memory use_system_allocator
""".split()
_HONOURED = ("check_nan_inf", "cudnn_deterministic")
_OF_LAUNCHERS = ("START_PORT",)  # in the environment alone
_OF_WORKERS = "communicator_"  # another one is an error of a job's workers, not of this module
_COMMUNICATOR = """
    max_merge_var_num send_queue_size min_send_grad_num_before_recv send_wait_times thread_pool_size independent_recv_thread is_sgd_optimizer
""".split()
DETERMINISTIC = {  # asks for a promise that is not the flag's to make here -> what there is
    "cpu_deterministic": "a program that one thread trains gives the same numbers each time for paddle.seed(…), and threads of train_from_dataset never do; "
    "set_thread(1) is what makes a pass repeatable"
}


def is_known(name):
    """Whether a flag, with its prefix, means something here or is a hint.

    >>> from argosy import _flags
    >>> _flags.is_known("FLAGS_check_nan_inf"), _flags.is_known("FLAGS_chek_nan_inf")
    (True, False)
    """
    bare = name.removeprefix(PREFIX)
    return bare in (*_HINTS, *_HONOURED, *DETERMINISTIC) or bare.startswith(_OF_WORKERS)


def unknown_text(name):
    """What is said of a flag that is not known, with the nearest one that is.

    >>> from argosy import _flags
    >>> _flags.unknown_text("FLAGS_chek_nan_inf")
    'FLAGS_chek_nan_inf is no flag that is known here, did you mean FLAGS_check_nan_inf? Setting it changes nothing'
    """
    names = (*_HINTS, *_HONOURED, *DETERMINISTIC, *(_OF_WORKERS + one for one in _COMMUNICATOR))
    near = difflib.get_close_matches(name, [PREFIX + one for one in names], 1, 0.8)
    return f"{name} is no flag that is known here{f', did you mean {near[0]}?' if near else ';'} {'Setting' if near else 'setting'} it changes nothing"


def warn_of_unknown(environment=None):
    """Warns of each FLAGS_* of the environment that is not known: Paddle passes over them silently, and so does nobody here.

    >>> from argosy import _flags
    >>> _flags.warn_of_unknown({"FLAGS_check_nan_inf": "1", "FLAGS_START_PORT": "6170"})
    """
    names = sorted(os.environ if environment is None else environment)
    for name in names:
        if name.startswith(PREFIX) and name.removeprefix(PREFIX) not in _OF_LAUNCHERS and not is_known(name):
            warnings.warn(f"environment variable {unknown_text(name)}", stacklevel=2)
