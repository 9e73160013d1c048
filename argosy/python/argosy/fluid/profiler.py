"""Where the time of a run goes, by torch's profiler."""

import contextlib

from argosy.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError

__all__ = ["cuda_profiler", "reset_profiler", "profiler", "start_profiler", "stop_profiler"]

_STATES = ("CPU", "GPU", "All")
_KEYS = {
    None: "self_cpu_time_total",
    "default": "self_cpu_time_total",
    "calls": "count",
    "total": "cpu_time_total",
    "max": "cpu_time_total",
    "min": "cpu_time_total",
    "ave": "cpu_time",
}
_running = {}  # "profiler": torch's, while one runs


def _torch_profiler(state):
    from torch import profiler

    if state not in _STATES:
        raise InvalidArgumentError(f"profiler: state is one of {', '.join(_STATES)}; found {state!r}")
    kinds = [profiler.ProfilerActivity.CPU] + ([profiler.ProfilerActivity.CUDA] if state != "CPU" else [])
    return profiler.profile(activities=kinds)


def start_profiler(state, tracer_option="Default"):
    """Operators that this thread runs are timed from now on, until stop_profiler(). state: CPU, GPU or All.

    >>> fluid.profiler.start_profiler("CPU")  # doctest: +SKIP
    >>> total = paddle.ones([2, 2]).sum()
    >>> fluid.profiler.stop_profiler("total", "profile.json")  # doctest: +SKIP
    """
    if _running:
        raise FailedPreconditionError("start_profiler: a profiler runs already; stop_profiler() ends it")
    if tracer_option not in ("Default", "OpDetail", "AllOpDetail"):
        raise InvalidArgumentError(f"start_profiler: tracer_option is Default, OpDetail or AllOpDetail; found {tracer_option!r}")
    found = _torch_profiler(state)
    found.start()
    _running.update(profiler=found, state=state)


def stop_profiler(sorted_key=None, profile_path="/tmp/profile"):
    """Prints a table of what was run, sorted by calls, total, max, min or ave, and writes a trace for chrome://tracing to profile_path.

    >>> fluid.profiler.start_profiler("CPU")  # doctest: +SKIP
    >>> fluid.profiler.stop_profiler(profile_path="profile.json")  # doctest: +SKIP
    """
    if not _running:
        raise FailedPreconditionError("stop_profiler: no profiler runs; start_profiler() starts one")
    if sorted_key not in _KEYS:
        raise InvalidArgumentError(f"stop_profiler: sorted_key is default, calls, total, max, min or ave; found {sorted_key!r}")
    found = _running.pop("profiler")
    _running.clear()
    found.stop()
    print(found.key_averages().table(sort_by=_KEYS[sorted_key], row_limit=100))
    found.export_chrome_trace(profile_path)


def reset_profiler():
    """What was timed so far is forgotten.

    >>> with fluid.profiler.profiler("CPU", profile_path="profile.json"):  # doctest: +SKIP
    ...     fluid.profiler.reset_profiler()
    """
    if not _running:
        raise FailedPreconditionError("reset_profiler: no profiler runs; start_profiler() starts one")
    state = _running["state"]
    _running["profiler"].stop()
    _running.clear()
    start_profiler(state)


@contextlib.contextmanager
def profiler(state, sorted_key=None, profile_path="/tmp/profile", tracer_option="Default"):
    """The block inside is timed: start_profiler() and stop_profiler() around it.

    >>> with fluid.profiler.profiler("CPU", "total", "profile.json"):  # doctest: +SKIP
    ...     total = paddle.ones([2, 2]).sum()
    """
    start_profiler(state, tracer_option)
    try:
        yield
    finally:
        stop_profiler(sorted_key, profile_path)


@contextlib.contextmanager
def cuda_profiler(output_file, output_mode=None, config=None):
    """An error that names its substitute: NVIDIA has taken this way of profiling out of CUDA.

    >>> try:
    ...     with fluid.profiler.cuda_profiler("out"):
    ...         pass
    ... except NotImplementedError as error:
    ...     print(str(error).split(":")[0])
    cuda_profiler
    """
    raise UnimplementedError("cuda_profiler: CUDA has it no longer; fluid.profiler.profiler('GPU') times kernels, and NVIDIA's nsys a whole process")
    yield
