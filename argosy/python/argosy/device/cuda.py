"""paddle.device.cuda: the GPUs of this machine, their memory, and streams, by torch's own functions.

A device is a number, 'gpu:0', a CUDAPlace, or None for the one that set_device has chosen, else the first. Without a GPU every function but
device_count and empty_cache is an error that says so.
"""

import contextlib

from argosy import device as places
from argosy.errors import InvalidArgumentError

__all__ = [
    "Event",
    "Stream",
    "current_stream",
    "device_count",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "stream_guard",
    "synchronize",
]


def _number(device):
    """The number of a GPU that is there."""
    if device is None:
        device = places.get_device() if places.get_device() != "cpu" else 0
    place = places.CUDAPlace(device) if isinstance(device, int) else places._place_of(device.lower()) if isinstance(device, str) else device
    if type(place) is not places.CUDAPlace:
        raise InvalidArgumentError(f"paddle.device.cuda: {device!r} is no GPU; expected a number, 'gpu:<number>' or CUDAPlace(number)")
    found = places.resolve(place, 4)
    if type(found) is not places.CUDAPlace:
        raise InvalidArgumentError(f"paddle.device.cuda: {place} was asked for, and ARGOSY_DEVICE=cpu makes it the CPU")
    return found.get_device_id()


def _torch_cuda():
    import torch

    torch.cuda.init()  # a program may have used the GPU by the core alone: without it torch counts no memory
    return torch.cuda


def device_count():
    """How many GPUs libtorch sees.

    >>> paddle.device.cuda.device_count() >= 0
    True
    """
    return places._gpu_count()


def synchronize(device=None):
    """Waits until all that was queued on the GPU is done.

    >>> paddle.device.cuda.synchronize()  # doctest: +SKIP
    """
    number = _number(device)
    _torch_cuda().synchronize(number)


def memory_allocated(device=None):
    """Bytes of the GPU's memory that tensors have now.

    >>> paddle.device.cuda.memory_allocated("gpu:0")  # doctest: +SKIP
    """
    number = _number(device)
    return _torch_cuda().memory_allocated(number)


def max_memory_allocated(device=None):
    """The most bytes of the GPU's memory that tensors have had at once.

    >>> paddle.device.cuda.max_memory_allocated(0)  # doctest: +SKIP
    """
    number = _number(device)
    return _torch_cuda().max_memory_allocated(number)


def memory_reserved(device=None):
    """Bytes of the GPU's memory that this process keeps now, for tensors that are and that will be.

    >>> paddle.device.cuda.memory_reserved()  # doctest: +SKIP
    """
    number = _number(device)
    return _torch_cuda().memory_reserved(number)


def max_memory_reserved(device=None):
    """The most bytes of the GPU's memory that this process has kept.

    >>> paddle.device.cuda.max_memory_reserved()  # doctest: +SKIP
    """
    number = _number(device)
    return _torch_cuda().max_memory_reserved(number)


def empty_cache():
    """Gives back what is kept of the GPU's memory and no tensor uses.

    >>> paddle.device.cuda.empty_cache()
    """
    if device_count() > 0:
        _torch_cuda().empty_cache()


def get_device_properties(device=None):
    """Name, memory and processors of a GPU: .name, .major, .minor, .total_memory, .multi_processor_count.

    >>> paddle.device.cuda.get_device_properties(0).total_memory  # doctest: +SKIP
    """
    number = _number(device)
    return _torch_cuda().get_device_properties(number)


def get_device_name(device=None):
    """The name of a GPU.

    >>> paddle.device.cuda.get_device_name()  # doctest: +SKIP
    """
    return get_device_properties(device).name


def get_device_capability(device=None):
    """The (major, minor) capability of a GPU.

    >>> paddle.device.cuda.get_device_capability()  # doctest: +SKIP
    """
    found = get_device_properties(device)
    return found.major, found.minor


def current_stream(device=None):
    """The queue of the GPU that this thread's work goes to.

    >>> paddle.device.cuda.current_stream().synchronize()  # doctest: +SKIP
    """
    number = _number(device)
    return _torch_cuda().current_stream(number)


def Stream(device=None, priority=2):
    """A queue of work for a GPU; priority 1 is high, 2 is normal.

    >>> stream = paddle.device.cuda.Stream(0)  # doctest: +SKIP
    """
    if priority not in (1, 2):
        raise InvalidArgumentError(f"paddle.device.cuda.Stream: priority is 1 (high) or 2 (normal); found {priority!r}")
    number = _number(device)
    return _torch_cuda().Stream(number, priority=-1 if priority == 1 else 0)


def Event(enable_timing=False, blocking=False, interprocess=False):
    """A mark in a stream that others can wait for.

    >>> paddle.device.cuda.Event(enable_timing=True).record()  # doctest: +SKIP
    """
    _number(None)
    return _torch_cuda().Event(enable_timing=enable_timing, blocking=blocking, interprocess=interprocess)


@contextlib.contextmanager
def stream_guard(stream):
    """What is computed inside goes to `stream`.

    >>> with paddle.device.cuda.stream_guard(paddle.device.cuda.Stream()): y = x * 2  # doctest: +SKIP
    """
    _number(None)
    with _torch_cuda().stream(stream):
        yield
