"""paddle.inference.Config: which model, on which device, with how many threads, in which precision.

PaddlePaddle's configuration has a hundred switches for its own graph passes and engines. Those that cannot change a prediction are hints: they are
accepted, remembered where they can be asked for, and named once in the log. Those that ask for another engine are refused by name.
"""

import functools
import os
import warnings

from argosy.inference.types import PrecisionType

# Switches of PaddlePaddle's own passes, memory plans and log, with nothing here for them to switch.
HINTS = """
    delete_pass disable_mkldnn enable_mkldnn enable_mkldnn_int8 enable_profile exp_disable_mixed_precision_ops
    pass_builder set_bfloat16_op set_mkldnn_cache_capacity set_mkldnn_op set_optim_cache_dir switch_ir_debug switch_specify_input_names
    switch_use_feed_fetch_ops enable_cudnn enable_cinn enable_new_executor enable_new_ir set_exec_stream use_optimized_model disable_mkldnn_fc_passes
""".split()
# Other engines and devices.
REFUSED = """
    enable_tensorrt_engine enable_tensorrt_dla enable_tensorrt_oss enable_tensorrt_varseqlen enable_tensorrt_memory_optim
    enable_tuned_tensorrt_dynamic_shape set_trt_dynamic_shape_info collect_shape_range_info enable_xpu enable_ipu enable_npu enable_custom_device
    enable_lite_engine enable_dlnne enable_onnxruntime enable_ort_optimization set_dist_config set_model_buffer set_xpu_config set_xpu_device_id
    enable_gpu_multi_stream enable_low_precision_io set_ipu_config set_ipu_custom_info load_ipu_config
""".split()


@functools.cache
def _say_once(text):
    warnings.warn(text, stacklevel=4)


class Config:
    """Which model a predictor opens, and how it runs.

    ``Config(folder)`` is a folder with ``__model__`` (one file per parameter or ``__params__``) or with one ``.pdmodel``; ``Config(model, params)`` are
    the two files.

    >>> config = paddle.inference.Config("model/__model__", "model/__params__")
    >>> config.set_cpu_math_library_num_threads(2)
    >>> config.cpu_math_library_num_threads(), config.use_gpu()
    (2, False)
    """

    def __init__(self, *files):
        self._dir = self._program = self._params = ""
        self._threads, self._gpu, self._fuse, self._bfloat16, self._memory_optim, self._glog_off = 1, -1, True, False, False, False
        self._source = {}  # where parameters come from besides the files: arguments of the predictor
        if len(files) == 1 and isinstance(files[0], Config):
            self.__dict__.update(files[0].__dict__)
        elif files:
            self.set_model(*files)

    def set_model(self, *files):
        """Names the model: its folder, or its program's file and its parameters' file."""
        if len(files) == 1:
            self._dir, self._program, self._params = os.fspath(files[0]), "", ""
        elif len(files) == 2:
            self._dir, self._program, self._params = "", os.fspath(files[0]), os.fspath(files[1])
        else:
            raise TypeError(f"a model is its folder, or its program's file and its parameters' file; {len(files)} names were given")

    def set_prog_file(self, file):
        """Names the program's file."""
        self._program, self._dir = os.fspath(file), ""

    def set_params_file(self, file):
        """Names the file with all parameters."""
        self._params = os.fspath(file)

    def model_dir(self):
        """The model's folder, or an empty text."""
        return self._dir

    def prog_file(self):
        """The program's file, or an empty text."""
        return self._program

    def params_file(self):
        """The parameters' file, or an empty text."""
        return self._params

    def disable_gpu(self):
        """Predicts on the CPU, as is the default."""
        self._gpu = -1

    def enable_use_gpu(self, memory_pool_init_size_mb=100, device_id=0, precision_mode=PrecisionType.Float32):
        """Predicts on a GPU. Its memory is torch's to manage: `memory_pool_init_size_mb` says nothing to it."""
        self._only_float32(precision_mode, "enable_use_gpu")
        self._gpu = int(device_id)

    def use_gpu(self):
        """Whether a GPU predicts."""
        return self._gpu >= 0

    def gpu_device_id(self):
        """The number of the GPU, or -1."""
        return self._gpu

    def set_cpu_math_library_num_threads(self, threads):
        """How many threads one run may use inside of an operator."""
        if int(threads) < 1:
            raise ValueError(f"set_cpu_math_library_num_threads: at least 1 thread predicts, not {threads}")
        self._threads = int(threads)

    def cpu_math_library_num_threads(self):
        """How many threads one run may use inside of an operator."""
        return self._threads

    def switch_ir_optim(self, x=True):
        """Whether operators are fused: embeddings with their pooling, fc layers. The numbers stay the same to rounding."""
        self._fuse = bool(x)

    def ir_optim(self):
        """Whether operators are fused."""
        return self._fuse

    def enable_mkldnn_bfloat16(self):
        """Matrix products with a parameter (fc and Linear layers) in bfloat16, accumulated in float32."""
        self._bfloat16 = True

    def mkldnn_enabled(self):
        """Whether oneDNN may compute: libtorch decides that for each operator, so always."""
        return True

    def enable_memory_optim(self, x=True):
        """Remembered only: values are given up after their last use with it and without it."""
        self._memory_optim = bool(x)

    def memory_optim_enabled(self):
        """Whether enable_memory_optim was called."""
        return self._memory_optim

    def disable_glog_info(self):
        """Remembered only: a predictor writes no lines of information."""
        self._glog_off = True

    def glog_info_disabled(self):
        """Whether disable_glog_info was called."""
        return self._glog_off

    def set_parameter_servers(self, endpoints, token="", wait_seconds=2.0, refresh_seconds=0.1):
        """Takes the parameters that a running job has from its servers, or from followers of them, and the others from the model's files.

        ``endpoints``: ``"host:port,host:port"`` or a list, of all servers of the job or of a follower of each; ``"host:port+host:port"`` of both
        processes of a server where replicas=1. Each run reads the rows that it looks up; dense parameters are looked at every ``refresh_seconds``. A read
        that is not answered in ``wait_seconds`` fails. PaddlePaddle has no such method.

        >>> config = paddle.inference.Config("model")
        >>> config.set_parameter_servers("127.0.0.1:7170,127.0.0.1:7171", token="secret")
        >>> config.parameter_servers()
        ['127.0.0.1:7170', '127.0.0.1:7171']
        """
        named = endpoints.split(",") if isinstance(endpoints, str) else list(endpoints)
        if not named or not all(isinstance(one, str) and ":" in one for one in named):
            raise ValueError(f"set_parameter_servers: got {endpoints!r}, expected host:port of every server of the job, or of a follower of each")
        self._set_source("set_parameter_servers", {"servers": named, "token": token}, wait_seconds, refresh_seconds)

    def parameter_servers(self):
        """The endpoints that set_parameter_servers was given; an empty list: it was not called."""
        return list(self._source.get("servers", ()))

    def set_redis(self, url, wait_seconds=2.0, refresh_seconds=0.1):
        """Takes the parameters that `argosy publish` has put into Redis, and the others from the model's files.

        ``url``: ``"redis://host:port/NAME"``. The seconds are those of ``set_parameter_servers``. PaddlePaddle has no such method.

        >>> config = paddle.inference.Config("model")
        >>> config.set_redis("redis://127.0.0.1:6379/ctr")
        >>> config.redis()
        'redis://127.0.0.1:6379/ctr'
        """
        host, _, name = str(url).removeprefix("redis://").partition("/")
        if not str(url).startswith("redis://") or not host or not name:
            raise ValueError(f"set_redis: got {url!r}, expected redis://host:port/NAME, NAME as `argosy publish --name` was given it")
        self._set_source("set_redis", {"redis": url}, wait_seconds, refresh_seconds)

    def redis(self):
        """What set_redis was given; empty: it was not called."""
        return self._source.get("redis", "")

    def _set_source(self, where, source, wait_seconds, refresh_seconds):
        if wait_seconds <= 0 or refresh_seconds <= 0:
            raise ValueError(f"{where}: wait_seconds {wait_seconds} and refresh_seconds {refresh_seconds} must be above 0")
        if self._source and source.keys() - self._source.keys():
            raise ValueError(f"{where}: parameters come from {self.redis() or ','.join(self.parameter_servers())} already; a Config names one place")
        self._source = source | {"wait_seconds": float(wait_seconds), "refresh_seconds": float(refresh_seconds)}

    def tensorrt_engine_enabled(self):
        """Whether TensorRT predicts: it never does here."""
        return False

    def summary(self):
        """The settings that a prediction depends on, a line for each."""
        rows = {"model": self._dir or self._program, "params": self._params, "threads": self._threads, "fusion": self._fuse}
        rows |= {"precision": "bfloat16" if self._bfloat16 else "float32", "device": "cpu" if self._gpu < 0 else f"gpu:{self._gpu}"}
        if self._source:
            rows["parameters_from"] = self.redis() or ",".join(self.parameter_servers())
        return "\n".join(f"{name}: {value}" for name, value in rows.items())

    def __getattr__(self, name):
        if name in REFUSED:
            raise NotImplementedError(
                f"paddle.inference.Config.{name}: there is no such engine here; predictions run on libtorch, on the CPU or a GPU (enable_use_gpu)"
            )
        if name in HINTS:
            return functools.partial(self._take_hint, name)
        raise AttributeError(f"Config has no attribute '{name}'")

    def _take_hint(self, name, *_, **__):
        _say_once(f"paddle.inference.Config.{name} switches a part of PaddlePaddle that does not exist here; predictions do not depend on it")

    @staticmethod
    def _only_float32(precision, where):
        if precision not in (PrecisionType.Float32, None):
            raise NotImplementedError(f"{where}: precision {precision} is not here; float32 is, and bfloat16 products by enable_mkldnn_bfloat16 on the CPU")
