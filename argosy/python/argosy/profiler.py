"""Where the time of a training goes, by torch's profiler: Profiler around the steps, RecordEvent around what is to have a name."""

import enum
import os
import time

import torch
from torch import profiler as of_torch

from argosy.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError

__all__ = [
    "ProfilerState",
    "ProfilerTarget",
    "make_scheduler",
    "export_chrome_tracing",
    "export_protobuf",
    "Profiler",
    "RecordEvent",
    "load_profiler_result",
    "SortedKeys",
    "SummaryView",
]

ProfilerState = enum.Enum("ProfilerState", "CLOSED READY RECORD RECORD_AND_RETURN", start=0)
ProfilerState.__doc__ = """What a profiler does in a step: nothing, warm up, record, record and hand out.

>>> paddle.profiler.ProfilerState.RECORD.value
2
"""
ProfilerTarget = enum.Enum("ProfilerTarget", "CPU GPU XPU CUSTOM_DEVICE", start=0)
ProfilerTarget.__doc__ = """Where operators are timed; CPU and GPU can be.

>>> paddle.profiler.ProfilerTarget.CPU.name
'CPU'
"""
SortedKeys = enum.Enum("SortedKeys", "CPUTotal CPUAvg CPUMax CPUMin GPUTotal GPUAvg GPUMax GPUMin", start=0)
SortedKeys.__doc__ = """What summary() sorts by.

>>> paddle.profiler.SortedKeys.CPUTotal.value
0
"""
SummaryView = enum.Enum(
    "SummaryView", "DeviceView OverView ModelView DistributedView KernelView OperatorView MemoryView MemoryManipulationView UDFView", start=0
)
SummaryView.__doc__ = """Parts of Paddle's report; summary() prints operators (OperatorView).

>>> paddle.profiler.SummaryView.OperatorView.value
5
"""

_ACTIONS = {
    ProfilerState.CLOSED: of_torch.ProfilerAction.NONE,
    ProfilerState.READY: of_torch.ProfilerAction.WARMUP,
    ProfilerState.RECORD: of_torch.ProfilerAction.RECORD,
    ProfilerState.RECORD_AND_RETURN: of_torch.ProfilerAction.RECORD_AND_SAVE,
}
_SORTED = {"CPUTotal": "cpu_time_total", "CPUAvg": "cpu_time", "GPUTotal": "device_time_total", "GPUAvg": "device_time"}


def make_scheduler(*, closed, ready, record, repeat=0, skip_first=0):
    """A function from the number of a step to its state: skip_first steps nothing, then, `repeat` times or for ever, closed, ready and record steps.

    >>> state = paddle.profiler.make_scheduler(closed=1, ready=1, record=2, repeat=1)
    >>> [state(step).name for step in range(5)]
    ['CLOSED', 'READY', 'RECORD', 'RECORD_AND_RETURN', 'CLOSED']
    """
    if min(closed, ready, repeat, skip_first) < 0 or record < 1:
        raise InvalidArgumentError(f"make_scheduler: record is 1 or more, the rest 0 or more; found {closed=}, {ready=}, {record=}, {repeat=}, {skip_first=}")
    span = closed + ready + record

    def state(step):
        at = step - skip_first
        if at < 0 or (repeat and at >= repeat * span) or at % span < closed:
            return ProfilerState.CLOSED
        if at % span < closed + ready:
            return ProfilerState.READY
        return ProfilerState.RECORD_AND_RETURN if at % span == span - 1 else ProfilerState.RECORD

    return state


def export_chrome_tracing(dir_name, worker_name=None):
    """For Profiler's on_trace_ready: writes each trace to dir_name, for chrome://tracing.

    >>> with paddle.profiler.Profiler(on_trace_ready=paddle.profiler.export_chrome_tracing("traces", "me")):
    ...     total = paddle.ones([2]).sum()
    >>> import os
    >>> len(os.listdir("traces"))
    1
    """
    os.makedirs(dir_name, exist_ok=True)

    def write(profiler):
        name = worker_name or f"host_{os.uname().nodename}pid_{os.getpid()}"
        stamp = time.strftime("%Y_%m_%d_%H_%M_%S", time.localtime())
        profiler.export(os.path.join(dir_name, f"{name}_time_{stamp}_step_{profiler._steps}.paddle_trace.json"))

    return write


def export_protobuf(dir_name, worker_name=None):
    """An error that names its substitute: traces are written as JSON.

    >>> try:
    ...     paddle.profiler.export_protobuf("traces")
    ... except NotImplementedError as error:
    ...     print(str(error).split(":")[0])
    export_protobuf
    """
    raise UnimplementedError("export_protobuf: traces are written as JSON here; use export_chrome_tracing(dir_name)")


def load_profiler_result(filename):
    """The trace of a file that Profiler.export() wrote, as a dict.

    >>> with paddle.profiler.Profiler() as found:
    ...     total = paddle.ones([2]).sum()
    >>> found.export("trace.json")
    >>> "traceEvents" in paddle.profiler.load_profiler_result("trace.json")
    True
    """
    import json

    with open(filename, encoding="utf-8") as file:
        return json.load(file)


class RecordEvent:
    """A name for what runs between begin() and end(), or inside of a with block, in the profiler's report.

    >>> with paddle.profiler.RecordEvent("forward"):
    ...     total = paddle.ones([2]).sum()
    """

    def __init__(self, name, event_type=None):
        self._name, self._open = name, None

    def begin(self):
        if self._open is None:
            self._open = torch.profiler.record_function(self._name)
            self._open.__enter__()

    def end(self):
        if self._open is not None:
            found, self._open = self._open, None
            found.__exit__(None, None, None)

    def __enter__(self):
        self.begin()
        return self

    def __exit__(self, *exception):
        self.end()

    def __call__(self, function):
        import functools

        @functools.wraps(function)
        def called(*args, **kwargs):
            with RecordEvent(self._name):
                return function(*args, **kwargs)

        return called


def _activities(targets):
    known = {ProfilerTarget.CPU: of_torch.ProfilerActivity.CPU, ProfilerTarget.GPU: of_torch.ProfilerActivity.CUDA}
    if targets is None:
        return [of_torch.ProfilerActivity.CPU] + ([of_torch.ProfilerActivity.CUDA] if torch.cuda.is_available() else [])
    other = [one for one in targets if one not in known]
    if other:
        raise InvalidArgumentError(f"Profiler: targets are ProfilerTarget.CPU and ProfilerTarget.GPU; found {other[0]}")
    return [known[one] for one in targets]


def _schedule(given):
    if given is None:
        return lambda step: ProfilerState.RECORD
    if isinstance(given, (tuple, list)):
        first, end = given
        if not 0 <= first < end:
            raise InvalidArgumentError(f"Profiler: scheduler=(first, end) are steps, the first before the end; found {tuple(given)}")
        return make_scheduler(closed=max(first - 1, 0), ready=1 if first else 0, record=end - first, repeat=1)
    if not callable(given):
        raise InvalidArgumentError(f"Profiler: scheduler is a function of the step, (first, end) or None; found {type(given).__name__}")
    return given


class Profiler:
    """Times the operators of the steps that the scheduler names; step() ends one. As a with block it starts and stops by itself.

    targets: ProfilerTarget.CPU and GPU. scheduler: a function as of make_scheduler, (first, end), or None for all. on_trace_ready(profiler) is called
    with each trace. timer_only: only how long steps take, for step_info(). It sees what its own thread runs.

    >>> with paddle.profiler.Profiler(timer_only=True) as found:
    ...     found.step(num_samples=32)
    >>> found.step_info().startswith("batch_cost:")
    True
    """

    def __init__(
        self,
        *,
        targets=None,
        scheduler=None,
        on_trace_ready=None,
        record_shapes=False,
        profile_memory=False,
        timer_only=False,
        emit_nvtx=False,
        custom_device_types=(),
        with_flops=False,
    ):
        if emit_nvtx or custom_device_types:
            raise UnimplementedError("Profiler: emit_nvtx and custom_device_types are not here; NVIDIA's nsys sees a whole process, targets are CPU and GPU")
        state, self._steps, self._ready = _schedule(scheduler), 0, on_trace_ready
        self._costs, self._samples, self._at, self._torch = [], 0, None, None
        if not timer_only:
            self._torch = of_torch.profile(
                activities=_activities(targets),
                schedule=None if scheduler is None else lambda step: _ACTIONS[state(step)],  # pyright: ignore[reportArgumentType]
                on_trace_ready=None if on_trace_ready is None else lambda _: on_trace_ready(self),
                record_shapes=record_shapes,
                profile_memory=profile_memory,
                with_flops=with_flops,
            )

    def start(self):
        """Begins with step 0."""
        self._at = time.perf_counter()
        if self._torch is not None:
            self._torch.start()

    def stop(self):
        """Ends, and hands out a trace that is being recorded."""
        if self._at is None:
            raise FailedPreconditionError("Profiler.stop: it does not run; start() comes first")
        self._at = None
        if self._torch is not None:
            self._torch.stop()

    def step(self, num_samples=None):
        """Ends a step, of so many samples."""
        if self._at is None:
            raise FailedPreconditionError("Profiler.step: it does not run; start() comes first")
        now = time.perf_counter()
        self._costs.append(now - self._at)
        self._at, self._steps, self._samples = now, self._steps + 1, self._samples + (num_samples or 0)
        if self._torch is not None:
            self._torch.step()

    def step_info(self, unit=None):
        """The mean time of a step since the last call, and how many samples, or steps, a second that is."""
        total, count, samples = sum(self._costs), len(self._costs), self._samples
        self._costs, self._samples = [], 0
        if not count:
            return "batch_cost: no step yet"
        rate = (samples or count) / total if total else float("inf")
        return f"batch_cost: {total / count:.5f} s ips: {rate:.3f} {unit or ('samples/s' if samples else 'steps/s')}"

    def _result(self, what):
        if self._torch is None or self._torch.profiler is None or self._torch.profiler.kineto_results is None:
            raise FailedPreconditionError(f"Profiler.{what}: nothing is recorded; start(), steps that the scheduler records and stop() come first")
        return self._torch

    def export(self, path="", format="json"):
        """Writes the trace to a file, for chrome://tracing."""
        if format != "json":
            raise UnimplementedError(f"Profiler.export: traces are written as JSON; found format {format!r}")
        self._result("export").export_chrome_trace(path)

    def summary(self, sorted_by=SortedKeys.CPUTotal, op_detail=True, thread_sep=False, time_unit="ms", views=None):
        """Prints a table of the operators."""
        if sorted_by.name not in _SORTED:
            raise InvalidArgumentError(f"Profiler.summary: it sorts by {', '.join(_SORTED)}; found {sorted_by.name}")
        if thread_sep:
            raise UnimplementedError("Profiler.summary: threads are not separated here; export() has them apart")
        print(self._result("summary").key_averages().table(sort_by=_SORTED[sorted_by.name], row_limit=100))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exception):
        self.stop()
