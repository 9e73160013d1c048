"""What the workers of a job do together."""

import json
import sys

import numpy

from argosy.distributed import job
from argosy.errors import InvalidArgumentError, UnimplementedError

__all__ = ["CollectiveCore", "Util"]

_REDUCTIONS = {"sum": numpy.sum, "max": numpy.max, "min": numpy.min}


def _encode(value):
    """Bytes of a number, a text, a list of them, or an array."""
    if isinstance(value, numpy.ndarray):
        head = json.dumps({"dtype": value.dtype.str, "shape": value.shape})
        return head.encode() + b"\n" + numpy.ascontiguousarray(value).tobytes()
    if isinstance(value, numpy.generic):
        value = value.item()
    try:
        return json.dumps({"value": value}).encode() + b"\n"
    except TypeError:
        raise InvalidArgumentError(f"all_gather takes numbers, texts, lists of them and arrays; found {type(value).__name__}") from None


def _decode(data):
    head, _, body = data.partition(b"\n")
    head = json.loads(head)
    return head["value"] if "value" in head else numpy.frombuffer(body, head["dtype"]).reshape(head["shape"]).copy()


def _check_world(comm_world):
    if comm_world != "worker":
        if comm_world not in ("server", "all"):
            raise InvalidArgumentError(f"comm_world is 'worker'; found {comm_world!r}")
        raise UnimplementedError(
            f"comm_world={comm_world!r}: workers meet at the servers, and servers meet nowhere: each answers for its part alone. Leave it at "
            "'worker', and call it on workers: what all servers have is in fleet.server_stats() there, and workers wait for servers in fleet.init_worker()"
        )


class Util:
    """Barriers, reductions and shares of files among workers. Every worker makes the same calls in the same order.

    >>> paddle.distributed.fleet.init(is_collective=True)
    >>> paddle.distributed.fleet.util.get_file_shard(["a.txt", "b.txt"])
    ['a.txt', 'b.txt']
    """

    def __init__(self, core):
        self._core = core

    def barrier(self, comm_world="worker"):
        """Waits until all workers are here."""
        _check_world(comm_world)
        self._core.barrier_worker()

    def all_reduce(self, input, mode="sum", comm_world="worker"):
        """Element by element over all workers, as an array: mode is sum, max or min. Integers stay exact."""
        _check_world(comm_world)
        array = numpy.asarray(input)
        if array.dtype.kind not in "biuf":
            raise InvalidArgumentError(f"all_reduce takes numbers; found an array of {array.dtype}")
        reduce = self._core.all_reduce if array.dtype.kind == "f" else self._core.all_reduce_integers
        result = numpy.array(reduce(array.ravel().tolist(), mode)).reshape(array.shape)
        return result.astype(array.dtype) if array.dtype.kind == "f" else result

    def all_gather(self, input, comm_world="worker"):
        """A list of what each worker gave: numbers, texts, lists of them, or arrays."""
        _check_world(comm_world)
        return [_decode(data) for data in self._core.all_gather(_encode(input))]

    def get_file_shard(self, files):
        """This worker's part of a list of files: consecutive ones, sizes differing by one at most."""
        if not isinstance(files, (list, tuple)):
            raise TypeError(f"get_file_shard takes a list of files; found {type(files).__name__}")
        return self._core.get_file_shard([str(file) for file in files])

    def next_file(self, list_name, files):
        """The next file of a list that all workers have, for a worker that is free; None when all are handed out."""
        return self._core.next_file(list_name, [str(file) for file in files])

    def print_on_rank(self, message, rank_id):
        """Prints on one worker."""
        if self._core.is_worker() and self._core.worker_index() == rank_id:
            print(message)
            sys.stdout.flush()


class CollectiveCore:
    """What Util needs of the core, in a job without servers: the processes meet in their group."""

    def __init__(self, core):
        self._core = core

    def __getattr__(self, name):  # is_worker, worker_index, get_file_shard
        return getattr(self._core, name)

    def barrier_worker(self):
        job.world().barrier()

    def all_gather(self, data):
        return job.world().all_gather_bytes(data)

    def all_reduce(self, values, mode):
        if mode not in _REDUCTIONS:
            raise InvalidArgumentError(f"all_reduce: mode is sum, max or min; found {mode!r}")
        return _REDUCTIONS[mode]([_decode(data) for data in self.all_gather(_encode(numpy.array(values)))], axis=0)

    all_reduce_integers = all_reduce

    def next_file(self, list_name, files):
        raise UnimplementedError("next_file: parameter servers hand out files; a collective job shares them by get_file_shard()")
