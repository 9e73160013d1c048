"""Collectives in which every process has something of its own for each of the others, made of messages between two of them."""

import warnings

import torch

from argosy.distributed import groups
from argosy.distributed.collectives import Done, member, parts_of, torch_of
from argosy.dynamic.tensor import Tensor
from argosy.errors import InvalidArgumentError

__all__ = ["alltoall", "alltoall_single", "gather"]


def _taken(here, like, source):
    found = torch.empty_like(like, memory_format=torch.contiguous_format, requires_grad=False)
    here._core.recv(found, source)
    return found


def _exchanged(here, outgoing, like):
    """What the others have for this process, in the order of their ranks. In each turn two processes deal with each other, the lower one sends
    first: so nobody waits in a circle."""
    found = [None] * here.nranks
    found[here.rank] = outgoing[here.rank].detach().clone()
    for turn in range(here.nranks):
        other = (turn - here.rank) % here.nranks
        if other == here.rank:
            continue
        if here.rank < other:
            here._core.send(outgoing[other].detach().contiguous(), other)
        found[other] = _taken(here, like[other], other)
        if here.rank > other:
            here._core.send(outgoing[other].detach().contiguous(), other)
    return found


def _cut(tensor, sizes, count, what, which):
    """The parts of a tensor along its first axis: of `sizes`, or equal ones."""
    values = torch_of(tensor, what)
    if sizes is None and values.dim() and values.shape[0] % count == 0:
        sizes = [values.shape[0] // count] * count
    if sizes is None or not values.dim() or len(sizes) != count or sum(sizes) != values.shape[0]:
        raise InvalidArgumentError(
            f"{what}: {which} {list(values.shape)} is cut along its first axis into a part for each of {count} processes; found sizes {sizes}"
        )
    return list(values.split([int(size) for size in sizes]))


def _put(targets, found):
    for target, values in zip(targets, found):
        target.detach().copy_(values)


def alltoall(in_tensor_list, out_tensor_list, group=None, sync_op=True):
    """Process i gets what each has at place i: in_tensor_list and out_tensor_list are lists, an empty one is filled; or both are tensors, of which
    each has a part along the first axis.

    >>> group, received = paddle.distributed.init_parallel_env(), []
    >>> paddle.distributed.alltoall([paddle.to_tensor([1, 2])], received)  # doctest: +ELLIPSIS
    <...>
    >>> received[0].tolist()
    [1, 2]
    """
    here = groups.chosen(group, "alltoall")
    if here is None:
        return Done()
    if isinstance(in_tensor_list, Tensor) != isinstance(out_tensor_list, Tensor):
        raise InvalidArgumentError(
            f"alltoall: both arguments are tensors, or both are lists of them; found {type(in_tensor_list).__name__} and {type(out_tensor_list).__name__}"
        )
    if isinstance(in_tensor_list, Tensor):
        return alltoall_single(in_tensor_list, out_tensor_list, None, None, group, sync_op)
    outgoing = parts_of(in_tensor_list, here.nranks, "alltoall")
    if out_tensor_list:
        targets = parts_of(out_tensor_list, here.nranks, "alltoall")
        _put(targets, _exchanged(here, outgoing, targets))
    else:
        out_tensor_list.extend(map(Tensor, _exchanged(here, outgoing, outgoing)))
    return Done()


def alltoall_single(in_tensor, out_tensor, in_split_sizes=None, out_split_sizes=None, group=None, sync_op=True):
    """Parts of in_tensor along its first axis go to the processes, and theirs for this one into out_tensor.

    >>> group, received = paddle.distributed.init_parallel_env(), paddle.zeros([2])
    >>> paddle.distributed.alltoall_single(paddle.to_tensor([1.0, 2.0]), received)  # doctest: +ELLIPSIS
    <...>
    >>> received.tolist()
    [1.0, 2.0]
    """
    here = groups.chosen(group, "alltoall_single")
    if here is not None:
        outgoing = _cut(in_tensor, in_split_sizes, here.nranks, "alltoall_single", "in_tensor")
        targets = _cut(out_tensor, out_split_sizes, here.nranks, "alltoall_single", "out_tensor")
        _put(targets, _exchanged(here, outgoing, targets))
    return Done()


def gather(tensor, gather_list=None, dst=0, group=None, sync_op=True):
    """Rank `dst` has the tensors of all in gather_list; an empty list is filled.

    >>> group, received = paddle.distributed.init_parallel_env(), []
    >>> paddle.distributed.gather(paddle.to_tensor([1, 2]), received, dst=0)  # doctest: +ELLIPSIS
    <...>
    >>> [one.tolist() for one in received]
    [[1, 2]]
    """
    here, values = groups.chosen(group, "gather"), torch_of(tensor, "gather")
    if here is None:
        return Done()
    target = member(here, dst, "gather")
    if here.rank != target:
        if gather_list is not None:
            warnings.warn(f"gather: gather_list is for rank {dst}; this is rank {here.ranks[here.rank]}, whose list stays as it is", stacklevel=2)
        here._core.send(values.detach().contiguous(), target)
        return Done()
    if gather_list is None:
        raise InvalidArgumentError("gather: rank dst takes the tensors in gather_list, which may be an empty list; found None")
    found = [values.detach().clone() if rank == target else _taken(here, values, rank) for rank in range(here.nranks)]
    if gather_list:
        _put(parts_of(gather_list, here.nranks, "gather"), found)
    else:
        gather_list.extend(map(Tensor, found))
    return Done()
