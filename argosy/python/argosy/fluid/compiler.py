"""Programs that Paddle would run on many devices of one process.

Here one device runs them; where parameter servers do the updates, several threads may take part in a step."""

import os

from argosy import device
from argosy.errors import InvalidArgumentError
from argosy.fluid import executor, framework, half_async
from argosy.fluid.settings import Settings

__all__ = ["CompiledProgram", "ParallelExecutor", "ExecutionStrategy", "BuildStrategy"]


class ExecutionStrategy(Settings):
    """Kept for scripts that read them back: they direct Paddle's thread pools, which the executor has no use for.

    >>> strategy = fluid.ExecutionStrategy()
    >>> strategy.num_threads = 4
    """

    _fields = {
        "num_threads": 0,
        "num_iteration_per_drop_scope": 100,
        "num_iteration_per_run": 1,
        "use_thread_barrier": False,
        "allow_op_delay": False,
        "use_experimental_executor": False,
    }
    _fixed = {"num_iteration_per_run": "Executor.run is one step of what it is fed; call it more often"}


class BuildStrategy(Settings):
    """allow_cuda_graph_capture: a CompiledProgram with it runs its training steps as one CUDA graph, where that can be (docs/gpu.md).
    The others are kept for scripts that read them back: they direct Paddle's graph passes, which the executor has no use for.

    >>> strategy = fluid.BuildStrategy()
    >>> strategy.fuse_all_reduce_ops = True
    """

    class ReduceStrategy:
        AllReduce = 0
        Reduce = 1

    class GradientScaleStrategy:
        CoeffNumDevice = 0
        One = 1
        Customized = 2

    _fields = {
        "reduce_strategy": 0,
        "gradient_scale_strategy": 0,
        "memory_optimize": None,
        "enable_inplace": None,
        "fuse_all_reduce_ops": None,
        "fuse_all_optimizer_ops": False,
        "fuse_elewise_add_act_ops": False,
        "fuse_relu_depthwise_conv": False,
        "fuse_broadcast_ops": False,
        "sync_batch_norm": False,
        "enable_sequential_execution": False,
        "remove_unnecessary_lock": True,
        "debug_graphviz_path": "",
        "num_trainers": 1,
        "trainer_id": 0,
        "async_mode": False,
        "enable_auto_fusion": False,
        "cache_runtime_context": False,
        "allow_cuda_graph_capture": False,
    }
    _fixed = {
        "debug_graphviz_path": "there is no graph of passes to draw; print(program) shows what runs",
        "gradient_scale_strategy": "the gradient of a batch is the mean over its devices, GradientScaleStrategy.CoeffNumDevice; scale the loss "
        "itself for another one",
    }

    _waits = False  # a script has set async_mode = False itself, which was 1.6's way to half-async

    def __setattr__(self, name, value):
        if name == "async_mode":
            if not isinstance(value, bool):
                raise InvalidArgumentError(f"{type(self).__name__}.async_mode is True or False; found {value!r}")
            vars(self)["_waits"] = not value
        if name == "reduce_strategy" and value not in (self.ReduceStrategy.AllReduce, self.ReduceStrategy.Reduce):
            raise InvalidArgumentError(f"{type(self).__name__}.reduce_strategy is ReduceStrategy.AllReduce or ReduceStrategy.Reduce; found {value!r}")
        super().__setattr__(name, value)


def check_strategy(what, value, kind):
    """`value` is a strategy of this kind, or None."""
    if value is not None and not isinstance(value, kind):
        raise InvalidArgumentError(f"{what} takes a {kind.__name__}; found {value!r}")


class CompiledProgram:
    """A program, for Executor.run; with_data_parallel() splits what is fed over CPU_NUM threads.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 2]), 1)
    >>> program = fluid.CompiledProgram(fluid.default_main_program()).with_data_parallel()
    """

    def __init__(self, program_or_graph, build_strategy=None):
        if not isinstance(program_or_graph, framework.Program):
            raise InvalidArgumentError(f"CompiledProgram takes a Program; found {type(program_or_graph).__name__}")
        check_strategy("CompiledProgram: build_strategy", build_strategy, BuildStrategy)
        self._program = program_or_graph
        self._captures = build_strategy is not None and build_strategy.allow_cuda_graph_capture
        half_async.meet(self._program, build_strategy)

    def with_data_parallel(self, loss_name=None, build_strategy=None, exec_strategy=None, share_vars_from=None, places=None):
        """A program that trains on parameter servers is run by as many threads as there are CPU places, or as CPU_NUM says: each
        takes a part of what is fed. Another program has one thread: the batch that is fed is the whole batch."""
        check_strategy("with_data_parallel: build_strategy", build_strategy, BuildStrategy)
        check_strategy("with_data_parallel: exec_strategy", exec_strategy, ExecutionStrategy)
        if build_strategy is not None:
            self._captures = build_strategy.allow_cuda_graph_capture
        half_async.meet(self._program, build_strategy)
        self._check_loss(loss_name)
        if places is not None and len(places) > 1 and not all(type(place) is device.CPUPlace for place in places):
            raise InvalidArgumentError(f"with_data_parallel: {len(places)} places were given, and one process runs on one GPU; start more with fleetrun")
        self._threads = (lambda: len(places)) if places else cpu_num
        return self

    def _check_loss(self, name):
        if name is None:
            return
        if not isinstance(name, str):
            raise InvalidArgumentError(f"with_data_parallel: loss_name is the name of a variable; found {type(name).__name__}; give loss.name")
        if not any(block.has_var(name) for block in self._program.blocks):
            raise InvalidArgumentError(f"with_data_parallel: loss_name={name!r}, and the program has no such variable; give the name of its loss, loss.name")


def cpu_num():
    """The number of trainer threads that CPU_NUM says; 1 without it."""
    text = os.environ.get("CPU_NUM", "1")
    if not text.isdigit() or int(text) < 1:
        raise InvalidArgumentError(f"CPU_NUM={text!r}: expected a number of threads, 1 or more")
    return int(text)


class ParallelExecutor:
    """An executor that is bound to a program, and splits what is fed over CPU_NUM threads.

    >>> loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [None, 2]), 1))
    >>> result = fluid.Executor().run(fluid.default_startup_program())
    >>> exe = fluid.ParallelExecutor(use_cuda=False, loss_name=loss.name)
    >>> len(exe.run([loss.name], feed={"x": np.ones([4, 2], "float32")}))
    1
    """

    def __init__(
        self,
        use_cuda,
        loss_name=None,
        main_program=None,
        share_vars_from=None,
        exec_strategy=None,
        build_strategy=None,
        num_trainers=1,
        trainer_id=0,
        scope=None,
    ):
        if num_trainers != 1:
            raise InvalidArgumentError(f"ParallelExecutor: num_trainers={num_trainers}, and one process is one trainer; start more with fleetrun")
        place = framework.cuda_places([0])[0] if use_cuda else framework.cpu_places(1)[0]
        self._executor = executor.Executor(place)
        program = framework.default_main_program() if main_program is None else main_program
        self._program = CompiledProgram(program).with_data_parallel(loss_name, build_strategy, exec_strategy, places=None if not use_cuda else [place])
        self._scope = scope

    @property
    def device_count(self):
        return self._program._threads()

    def run(self, fetch_list, feed=None, feed_dict=None, return_numpy=True):
        return self._executor.run(self._program, feed if feed is not None else feed_dict, fetch_list, scope=self._scope, return_numpy=return_numpy)

    def drop_local_exe_scopes(self):
        """Temporaries are dropped after every run."""
