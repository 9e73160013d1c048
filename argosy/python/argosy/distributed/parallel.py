"""Data parallel training in the dynamic graph. One process is all there is to agree with; more need the collective core."""
import contextlib

from argosy.distributed.environment import get_world_size, needs_core
from argosy.errors import InvalidArgumentError
from argosy.nn.layer import Layer

__all__ = ["DataParallel", "init_parallel_env", "all_reduce", "all_gather", "broadcast", "reduce", "barrier", "ReduceOp"]


class ReduceOp:
    """How values of several processes become one."""

    SUM, MAX, MIN, PROD, AVG = range(5)


def init_parallel_env():
    """Makes the processes of the job known to each other."""
    if get_world_size() > 1:
        needs_core("init_parallel_env")


def _alone(what):
    if get_world_size() > 1:
        needs_core(what)


def all_reduce(tensor, op=ReduceOp.SUM, group=None, sync_op=True):
    """The tensors of all processes become their sum (or `op`), in place."""
    _alone("all_reduce")


def reduce(tensor, dst, op=ReduceOp.SUM, group=None, sync_op=True):
    _alone("reduce")


def broadcast(tensor, src, group=None, sync_op=True):
    _alone("broadcast")


def all_gather(tensor_list, tensor, group=None, sync_op=True):
    """Fills the list with the tensors of all processes."""
    _alone("all_gather")
    tensor_list.append(tensor.clone())


def barrier(group=None):
    _alone("barrier")


class DataParallel(Layer):
    """A layer whose gradients are averaged over the processes of the job."""

    def __init__(self, layers, strategy=None, comm_buffer_size=25, last_comm_buffer_size=1, find_unused_parameters=False, group=None):
        super().__init__(layers.full_name() + "_data_parallel")
        if not isinstance(layers, Layer):
            raise InvalidArgumentError(f"DataParallel takes a Layer; found {type(layers).__name__}")
        _alone("DataParallel")
        self._layers = layers

    def forward(self, *inputs, **kwargs):
        return self._layers(*inputs, **kwargs)

    @contextlib.contextmanager
    def no_sync(self):
        """Gradients of backward() inside stay in this process until the next one outside."""
        yield

    def scale_loss(self, loss):
        """The loss as it is: gradients are averaged, and not the loss."""
        return loss

    def apply_collective_grads(self):
        """Nothing: gradients are averaged while backward() runs."""

    def state_dict(self, *args, **kwargs):
        """The layer's own, without a name in front."""
        return self._layers.state_dict(*args, **kwargs)

    def set_state_dict(self, state_dict, use_structured_name=True):
        return self._layers.set_state_dict(state_dict, use_structured_name)

    set_dict = load_dict = set_state_dict
