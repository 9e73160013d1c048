"""FLAGS_*: Paddle's settings of a process. Those that mean something here are read from the environment where they are used."""

import os
import warnings

from argosy import _finite
from argosy.errors import InvalidArgumentError

__all__ = ["get_flags", "set_flags"]

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
_DETERMINISTIC = {  # asks for a promise that is not the flag's to make here -> what there is
    "cpu_deterministic": "a program that one thread trains gives the same numbers each time for paddle.seed(…), and threads of train_from_dataset never do; "
    "set_thread(1) is what makes a pass repeatable"
}
_values = {}  # what scripts have set


def _known(name):
    return name.removeprefix("FLAGS_") in (*_HINTS, *_HONOURED, *_DETERMINISTIC) or name.startswith("FLAGS_communicator_")


def _honour(name, value):
    if name == _finite.FLAG:
        _finite.asked = _finite.is_on(value)
    if name == "FLAGS_cudnn_deterministic":
        import torch

        torch.backends.cudnn.deterministic = _finite.is_on(value)


def set_flags(flags):
    """Sets FLAGS_*, given as a dict. One that is not known is a warning, and those of the memory and kernels of Paddle's own engine change nothing.

    FLAGS_check_nan_inf: what an operator computes has to be finite; NaN or an infinity is an error that names the operator and the variable. Programs
    then run their operators one by one, which takes longer. FLAGS_cudnn_deterministic: cuDNN's kernels give the same numbers each time.

    >>> paddle.set_flags({"FLAGS_eager_delete_tensor_gb": 1.0})
    >>> paddle.get_flags("FLAGS_eager_delete_tensor_gb")
    {'FLAGS_eager_delete_tensor_gb': 1.0}
    """
    if not isinstance(flags, dict):
        raise TypeError(f"set_flags takes a dict from names to values; found {type(flags).__name__}")
    for name, value in flags.items():
        if not str(name).startswith("FLAGS_"):
            raise InvalidArgumentError(f"set_flags: a flag's name begins with FLAGS_; found {name!r}")
        if not _known(name):
            warnings.warn(f"{name} is no flag that is known here, and setting it changes nothing", stacklevel=2)
        if name.removeprefix("FLAGS_") in _DETERMINISTIC:
            warnings.warn(f"{name} changes nothing here: {_DETERMINISTIC[name.removeprefix('FLAGS_')]}", stacklevel=2)
        try:
            _honour(name, value)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"set_flags: {name}: {error}") from None
        _values[name] = value
        if name.startswith("FLAGS_communicator_"):
            os.environ[name] = str(value)  # where a job's workers look


def get_flags(flags):
    """{name: value} of one flag or a list: what was set, or what the environment says; None of one that nobody has set.

    >>> paddle.get_flags(["FLAGS_check_nan_inf"])
    {'FLAGS_check_nan_inf': None}
    """
    names = [flags] if isinstance(flags, str) else list(flags)
    for name in names:
        if not _known(name) and name not in _values:
            raise InvalidArgumentError(f"get_flags: {name} is no flag that is known here")
    return {name: _values.get(name, os.environ.get(name)) for name in names}
