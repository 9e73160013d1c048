"""Where programs and tensors are."""

import os
import warnings

from argosy.errors import InvalidArgumentError, UnimplementedError

_state = {"device": "cpu", "warned": False, "flags": False}


class CPUPlace:
    """The CPU, as a place for executors and tensors.

    >>> paddle.CPUPlace()
    CPUPlace
    """

    def __repr__(self):
        return "CPUPlace"

    def __eq__(self, other):
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self):
        return hash(repr(self))


class CUDAPlace(CPUPlace):
    """A GPU, by number, as a place for executors and tensors.

    >>> paddle.CUDAPlace(0).get_device_id()
    0
    """

    def __init__(self, id=0):
        if not isinstance(id, int) or id < 0:
            raise InvalidArgumentError(f"CUDAPlace takes the number of a GPU, 0 or more; found {id!r}")
        self._id = id

    def get_device_id(self):
        return self._id

    def __repr__(self):
        return f"CUDAPlace({self._id})"


class CUDAPinnedPlace(CPUPlace):
    """Memory of the CPU that a GPU can read.

    >>> paddle.CUDAPinnedPlace()
    CUDAPinnedPlace
    """

    def __repr__(self):
        return "CUDAPinnedPlace"


def _gpu_count():
    from argosy import _core

    return _core.gpu_count()


def resolve(place, above=3):
    """The place where a request for `place` runs. ARGOSY_DEVICE=cpu turns a GPU into the CPU, with one warning a process.

    >>> paddle.device.resolve(paddle.CPUPlace())
    CPUPlace
    """
    if place is None:
        place = _place_of(_state["device"])
    if not isinstance(place, CPUPlace):
        raise InvalidArgumentError(f"a place is CPUPlace() or CUDAPlace(number); found {type(place).__name__}")
    if type(place) is not CUDAPlace:
        return place
    if os.environ.get("ARGOSY_DEVICE", "").strip().lower() == "cpu":
        if not _state["warned"]:
            _state["warned"] = True
            warnings.warn(f"{place} was asked for; ARGOSY_DEVICE=cpu makes it the CPU", stacklevel=above)
        return CPUPlace()
    count = _gpu_count()
    if place.get_device_id() < count:
        return place
    found = "no GPU" if count == 0 else f"{count} GPUs"
    raise InvalidArgumentError(
        f"{place}: libtorch sees {found} on this machine; use CPUPlace(), or set ARGOSY_DEVICE=cpu to run on the CPU what asks for a GPU"
    )


def _place_of(device):
    kind, _, number = device.partition(":")
    if kind == "cpu" and not number:
        return CPUPlace()
    if kind in ("gpu", "cuda") and (not number or number.isdigit()):
        return CUDAPlace(int(number or 0))
    raise InvalidArgumentError(f"set_device takes 'cpu', 'gpu' or 'gpu:<number>'; found {device!r}")


def use(place, above=4):
    """The place of what is made without one. Returns it. The caller that a warning names is `above` it.

    >>> paddle.device.use(paddle.CPUPlace())
    CPUPlace
    """
    found = resolve(place, above)
    _state["device"] = f"gpu:{found.get_device_id()}" if type(found) is CUDAPlace else "cpu"
    return found


def set_device(device):
    """The place of what is made without one, by name. Returns it. 'gpu' without a number is the one that the launcher chose for this process.

    >>> paddle.set_device("cpu")
    CPUPlace
    """
    name = device.lower()
    if name in ("gpu", "cuda"):
        from argosy import _core

        chosen = _core.rank_info_from_environment().device
        name = chosen if chosen.startswith("gpu:") else name
    return use(_place_of(name), 4)


def torch_device(place=None):
    """torch's name of a place or of its name; None is where set_device has said.

    >>> paddle.device.torch_device("cpu")
    'cpu'
    """
    place = _place_of(_state["device"]) if place is None else _place_of(place.lower()) if isinstance(place, str) else place
    found = resolve(place, 3)
    if type(found) is not CUDAPlace:
        return "cpu"
    if not _state["flags"]:
        _state["flags"] = True
        _honour_flags()
    return f"cuda:{found.get_device_id()}"


def _honour_flags():
    """FLAGS_cudnn_deterministic of the environment, once, before the first GPU is used."""
    if os.environ.get("FLAGS_cudnn_deterministic"):
        from argosy.fluid.flags import set_flags

        set_flags({"FLAGS_cudnn_deterministic": os.environ["FLAGS_cudnn_deterministic"]})


def place_of(device):
    """The place of a torch device.

    >>> import torch
    >>> paddle.device.place_of(torch.device("cpu"))
    CPUPlace
    """
    return CUDAPlace(device.index or 0) if device.type == "cuda" else CPUPlace()


def place_name(device):
    """How a tensor's printed form names a torch device.

    >>> import torch
    >>> paddle.device.place_name(torch.device("cpu"))
    'Place(cpu)'
    """
    return f"Place(gpu:{device.index or 0})" if device.type == "cuda" else "Place(cpu)"


def get_device():
    """The name of the place of what is made without one: cpu, or gpu and a number.

    >>> paddle.get_device()
    'cpu'
    """
    return _state["device"]


def is_compiled_with_cuda():
    """Whether the libtorch of this process sees a GPU.

    >>> isinstance(paddle.is_compiled_with_cuda(), bool)
    True
    """
    return _gpu_count() > 0


def is_compiled_with_custom_device(device_type):
    """Whether there are devices of a kind that a plugin adds, such as 'npu': there are no plugins here.

    >>> paddle.is_compiled_with_custom_device("npu")
    False
    """
    return False


def is_compiled_with_xpu():
    """Whether there are Baidu's XPUs: never here.

    >>> paddle.is_compiled_with_xpu()
    False
    """
    return False


def cpu_places(device_count=None):
    """One CPUPlace for each of device_count threads; as many as the environment's CPU_NUM says, 1 without it.

    >>> paddle.static.cpu_places(2)
    [CPUPlace, CPUPlace]
    """
    return [CPUPlace() for _ in range(device_count or int(os.environ.get("CPU_NUM", 1)))]


def cuda_pinned_places(device_count=None):
    """An error that names its substitute: memory that a GPU reads directly is the core's own matter.

    >>> try:
    ...     fluid.cuda_pinned_places()
    ... except NotImplementedError as error:
    ...     print(str(error).split(":")[0])
    cuda_pinned_places
    """
    raise UnimplementedError("cuda_pinned_places: what is fed goes to the GPU from ordinary memory; use cpu_places() for the CPU or cuda_places() for GPUs")


def cuda_places(device_ids=None):
    """The GPUs with these numbers; without them those that FLAGS_selected_gpus names, or all of them.

    >>> paddle.static.cuda_places([0, 1])
    [CUDAPlace(0), CUDAPlace(1)]
    """
    if device_ids is None:
        chosen = os.environ.get("FLAGS_selected_gpus")
        device_ids = [int(one) for one in chosen.split(",")] if chosen else range(_gpu_count())
    return [CUDAPlace(number) for number in device_ids]


def synchronize(device=None):
    """Waits until all that was queued on a device is done: 'cpu', 'gpu:0' or a place; without one where set_device has said.

    >>> paddle.device.synchronize()
    """
    if torch_device(device) != "cpu":
        cuda.synchronize(device)


from argosy.device import cuda as cuda  # noqa: E402  it uses what is above
