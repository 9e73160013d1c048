"""What the processes of a group do together with tensors and objects. Every member makes the same calls in the same order.

Ranks are those of the job, also where a group is given. A call returns when its own part is done.
"""

import pickle

from argosy import _core, graph_mode
from argosy.distributed import groups
from argosy.dynamic.tensor import Tensor
from argosy.errors import FailedPreconditionError, InvalidArgumentError

__all__ = [
    "ReduceOp",
    "all_reduce",
    "reduce",
    "broadcast",
    "all_gather",
    "all_gather_object",
    "broadcast_object_list",
    "scatter",
    "scatter_object_list",
    "reduce_scatter",
    "send",
    "recv",
    "barrier",
    "wait",
]

_NAMES = ("sum", "max", "min", "prod", "avg")


class ReduceOp:
    """How values of several processes become one: SUM, MAX, MIN, PROD or AVG.

    >>> group, x = paddle.distributed.init_parallel_env(), paddle.ones([2])
    >>> paddle.distributed.all_reduce(x, op=paddle.distributed.ReduceOp.MAX)  # doctest: +ELLIPSIS
    <...>
    """

    SUM, MAX, MIN, PROD, AVG = range(5)


class Done:
    """What a call returns: by then it has been done."""

    def wait(self, timeout=None):
        return True

    def is_completed(self):
        return True


def _name(op):
    if op not in range(len(_NAMES)):
        raise InvalidArgumentError(f"op is one of paddle.distributed.ReduceOp: SUM, MAX, MIN, PROD, AVG; found {op!r}")
    return _NAMES[op]


def torch_of(tensor, what):
    if isinstance(tensor, _core.Variable) or not graph_mode.in_dynamic_mode():
        raise FailedPreconditionError(
            f"paddle.distributed.{what} is of the dynamic graph, and takes a Tensor; a program's gradients are averaged by "
            "fleet.distributed_optimizer(…).minimize(loss)"
        )
    if not isinstance(tensor, Tensor):
        raise InvalidArgumentError(f"paddle.distributed.{what} takes a Tensor; found {type(tensor).__name__}")
    return tensor._torch


def _all_torch(tensors, what):
    return [torch_of(tensor, what) for tensor in tensors]


def member(group, rank, what):
    found = group.get_group_rank(rank)
    if found < 0:
        raise InvalidArgumentError(f"{what}: rank {rank} is not in the group of ranks {group.ranks}")
    return found


def all_reduce(tensor, op=ReduceOp.SUM, group=None, sync_op=True):
    """The tensors of all become their sum (or `op`), in place.

    >>> group, x = paddle.distributed.init_parallel_env(), paddle.ones([2])
    >>> paddle.distributed.all_reduce(x)  # doctest: +ELLIPSIS
    <...>
    >>> x.tolist()
    [1.0, 1.0]
    """
    here, values = groups.chosen(group, "all_reduce"), torch_of(tensor, "all_reduce")
    if here is not None:
        here._core.all_reduce(values, _name(op))
    return Done()


def reduce(tensor, dst, op=ReduceOp.SUM, group=None, sync_op=True):
    """The sum (or `op`) of all tensors replaces that of rank `dst`.

    >>> group, x = paddle.distributed.init_parallel_env(), paddle.ones([2])
    >>> paddle.distributed.reduce(x, dst=0)  # doctest: +ELLIPSIS
    <...>
    """
    here, values = groups.chosen(group, "reduce"), torch_of(tensor, "reduce")
    if here is not None:
        here._core.reduce(values, member(here, dst, "reduce"), _name(op))
    return Done()


def broadcast(tensor, src, group=None, sync_op=True):
    """Every tensor becomes that of rank `src`, in place.

    >>> group, x = paddle.distributed.init_parallel_env(), paddle.ones([2])
    >>> paddle.distributed.broadcast(x, src=0)  # doctest: +ELLIPSIS
    <...>
    """
    here, values = groups.chosen(group, "broadcast"), torch_of(tensor, "broadcast")
    if here is not None:
        here._core.broadcast(values, member(here, src, "broadcast"))
    return Done()


def all_gather(tensor_list, tensor, group=None, sync_op=True):
    """Adds to the list the tensors of all, in the order of their ranks.

    >>> group, received = paddle.distributed.init_parallel_env(), []
    >>> paddle.distributed.all_gather(received, paddle.ones([2]))  # doctest: +ELLIPSIS
    <...>
    >>> len(received)
    1
    """
    here, values = groups.chosen(group, "all_gather"), torch_of(tensor, "all_gather")
    if here is not None:
        tensor_list.extend(Tensor(one) for one in here._core.all_gather(values))
    return Done()


def all_gather_object(object_list, obj, group=None):
    """Adds to the list the objects of all: anything that can be pickled.

    >>> group, received = paddle.distributed.init_parallel_env(), []
    >>> paddle.distributed.all_gather_object(received, {"rank": 0})
    >>> received
    [{'rank': 0}]
    """
    here = groups.chosen(group, "all_gather_object")
    if here is not None:
        object_list.extend(map(pickle.loads, here._core.all_gather_bytes(pickle.dumps(obj))))


def broadcast_object_list(object_list, src, group=None):
    """The list's objects become those of rank `src`.

    >>> group, objects = paddle.distributed.init_parallel_env(), [{"step": 3}]
    >>> paddle.distributed.broadcast_object_list(objects, src=0)
    >>> objects
    [{'step': 3}]
    """
    here = groups.chosen(group, "broadcast_object_list")
    if here is not None:
        object_list[:] = pickle.loads(here._core.broadcast_bytes(pickle.dumps(list(object_list)), member(here, src, "broadcast_object_list")))


def parts_of(tensor_list, count, what):
    if tensor_list is None or len(tensor_list) != count:
        raise InvalidArgumentError(f"{what}: found {0 if tensor_list is None else len(tensor_list)} tensors, expected one for each of {count} processes")
    return _all_torch(tensor_list, what)


def scatter(tensor, tensor_list=None, src=0, group=None, sync_op=True):
    """The tensor becomes the one that rank `src` has for this process in its list; only its list counts.

    >>> group, x = paddle.distributed.init_parallel_env(), paddle.zeros([2])
    >>> paddle.distributed.scatter(x, [paddle.ones([2])], src=0)  # doctest: +ELLIPSIS
    <...>
    >>> x.tolist()
    [1.0, 1.0]
    """
    here, values = groups.chosen(group, "scatter"), torch_of(tensor, "scatter")
    if here is None:
        return Done()
    source = member(here, src, "scatter")
    if here.rank != source:
        here._core.recv(values, source)
        return Done()
    parts = parts_of(tensor_list, here.nranks, "scatter")
    for rank, part in enumerate(parts):
        if rank != source:
            here._core.send(part, rank)
    tensor.set_value(Tensor(parts[source].detach()))
    return Done()


def scatter_object_list(out_object_list, in_object_list=None, src=0, group=None):
    """Puts into the first list the object that rank `src` has for this process in the second.

    >>> group, received = paddle.distributed.init_parallel_env(), []
    >>> paddle.distributed.scatter_object_list(received, [{"part": 1}], src=0)
    >>> received
    [{'part': 1}]
    """
    here = groups.chosen(group, "scatter_object_list")
    if here is None:
        return
    source = member(here, src, "scatter_object_list")
    if here.rank == source and len(in_object_list or ()) != here.nranks:
        raise InvalidArgumentError(f"scatter_object_list: found {len(in_object_list or ())} objects, expected one for each of {here.nranks} processes")
    everything = pickle.loads(here._core.broadcast_bytes(pickle.dumps(in_object_list if here.rank == source else None), source))
    out_object_list[:] = [everything[here.rank]]


def reduce_scatter(tensor, tensor_or_tensor_list, op=ReduceOp.SUM, group=None, sync_op=True):
    """The tensor becomes the sum (or `op`) of what all have for this process: in a list, or one after the other along the first axis.

    >>> group, x = paddle.distributed.init_parallel_env(), paddle.zeros([2])
    >>> paddle.distributed.reduce_scatter(x, [paddle.ones([2])])  # doctest: +ELLIPSIS
    <...>
    >>> x.tolist()
    [1.0, 1.0]
    """
    here = groups.chosen(group, "reduce_scatter")
    torch_of(tensor, "reduce_scatter")
    if here is None:
        return Done()
    whole = tensor_or_tensor_list
    if isinstance(whole, Tensor):
        if whole.ndim == 0 or whole.shape[0] % here.nranks:
            raise InvalidArgumentError(f"reduce_scatter: shape {whole.shape} cannot be cut into {here.nranks} equal parts")
        whole = [Tensor(part) for part in whole._torch.chunk(here.nranks)]
    tensor.set_value(Tensor(here._core.reduce_scatter(parts_of(whole, here.nranks, "reduce_scatter"), _name(op))))
    return Done()


def _refuse_later(what, sync_op):
    if not sync_op:
        raise InvalidArgumentError(f"{what}(sync_op=False): messages are sent and taken in order; leave sync_op at True")


def send(tensor, dst=0, group=None, sync_op=True):
    """Gives the tensor to rank `dst`, which calls recv().

    >>> if paddle.distributed.get_world_size() > 1 and paddle.distributed.get_rank() == 0:
    ...     paddle.distributed.send(paddle.ones([2]), dst=1)
    """
    _refuse_later("send", sync_op)
    here, values = groups.chosen(group, "send"), torch_of(tensor, "send")
    if here is not None:
        here._core.send(values, member(here, dst, "send"))
    return Done()


def recv(tensor, src=0, group=None, sync_op=True):
    """Takes a tensor of this one's shape and type from rank `src`, which calls send(), in place.

    >>> if paddle.distributed.get_world_size() > 1 and paddle.distributed.get_rank() == 1:
    ...     paddle.distributed.recv(paddle.zeros([2]), src=0)
    """
    _refuse_later("recv", sync_op)
    here, values = groups.chosen(group, "recv"), torch_of(tensor, "recv")
    if here is not None:
        here._core.recv(values, member(here, src, "recv"))
    return Done()


def barrier(group=None):
    """Waits until all members of the group are here.

    >>> group = paddle.distributed.init_parallel_env()
    >>> paddle.distributed.barrier()
    """
    here = groups.chosen(group, "barrier")
    if here is not None:
        here._core.barrier()


def wait(tensor, group=None, use_calc_stream=True):
    """Nothing: calls have been done when they return.

    >>> paddle.distributed.wait(paddle.ones([2]))
    """
    torch_of(tensor, "wait")
