"""paddle.reader: functions on readers. A reader is a function that returns an iterator of samples."""

import itertools
import random

from argosy.reader.ahead import read_ahead

__all__ = ["buffered", "cache", "chain", "compose", "ComposeNotAligned", "firstn", "map_readers", "multiprocess_reader", "shuffle", "xmap_readers"]

_END = object()


class ComposeNotAligned(ValueError):
    """Readers given to compose() ended at different samples.

    >>> try:
    ...     list(paddle.reader.compose(lambda: iter([1]), lambda: iter([1, 2]))())
    ... except paddle.reader.ComposeNotAligned:
    ...     print("not equally long")
    not equally long
    """


def cache(reader):
    """Reads everything once and keeps it in memory.

    >>> list(paddle.reader.cache(lambda: iter([1, 2]))())
    [1, 2]
    """
    samples = tuple(reader())

    def cached():
        yield from samples

    return cached


def map_readers(func, *readers):
    """func of one sample of each reader, until the shortest ends.

    >>> list(paddle.reader.map_readers(lambda x: x * 10, lambda: iter([1, 2]))())
    [10, 20]
    """

    def mapped():
        return map(func, *[reader() for reader in readers])

    return mapped


def shuffle(reader, buf_size):
    """The samples in random order within stretches of buf_size.

    >>> sorted(paddle.reader.shuffle(lambda: iter([1, 2, 3]), 2)())
    [1, 2, 3]
    """
    if buf_size < 1:
        raise ValueError("shuffle: buf_size is %r, expected how many samples to hold, 1 or more" % (buf_size,))

    def shuffled():
        samples = iter(reader())
        while True:
            stretch = list(itertools.islice(samples, buf_size))
            if not stretch:
                return
            random.shuffle(stretch)
            yield from stretch

    return shuffled


def chain(*readers):
    """The samples of the first reader, then those of the second, and so on.

    >>> list(paddle.reader.chain(lambda: iter([1, 2]), lambda: iter([3]))())
    [1, 2, 3]
    """

    def chained():
        return itertools.chain.from_iterable(reader() for reader in readers)

    return chained


def compose(*readers, check_alignment=True):
    """One flat tuple of a sample of each reader. Readers of different length are an error unless check_alignment=False.

    >>> list(paddle.reader.compose(lambda: iter([1, 2]), lambda: iter([3, 4]))())
    [(1, 3), (2, 4)]
    """

    def flat(samples):
        joined = ()
        for sample in samples:
            joined += sample if isinstance(sample, tuple) else (sample,)
        return joined

    def composed():
        iterators = [reader() for reader in readers]
        if not check_alignment:
            yield from map(flat, zip(*iterators))
            return
        for samples in itertools.zip_longest(*iterators, fillvalue=_END):
            if any(sample is _END for sample in samples):
                raise ComposeNotAligned("the readers given to compose() do not end together")
            yield flat(samples)

    return composed


def firstn(reader, n):
    """The first n samples.

    >>> list(paddle.reader.firstn(lambda: iter([1, 2, 3]), 2)())
    [1, 2]
    """

    def limited():
        return itertools.islice(reader(), n)

    return limited


def buffered(reader, size):
    """Reads up to `size` samples ahead, in a thread.

    >>> list(paddle.reader.buffered(lambda: iter([1, 2]), 8)())
    [1, 2]
    """

    def ahead():
        return read_ahead([reader], size)

    return ahead


def _map_in_threads(mapper, samples, threads, buffer_size, order):
    from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

    pending = []

    def take():
        if not order:
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            first = next(future for future in pending if future in done)
        else:
            first = pending[0]
        pending.remove(first)
        return first.result()

    with ThreadPoolExecutor(threads, "xmap") as pool:
        try:
            for sample in samples:
                pending.append(pool.submit(mapper, sample))
                if len(pending) >= threads + buffer_size:
                    yield take()
            while pending:
                yield take()
        finally:
            for future in pending:
                future.cancel()


def xmap_readers(mapper, reader, process_num, buffer_size, order=False):
    """mapper(sample) computed by `process_num` threads; in the order of the reader where `order` is set.

    >>> list(paddle.reader.xmap_readers(lambda x: x * 10, lambda: iter([1, 2]), 2, 8, order=True)())
    [10, 20]
    """

    def mapped():
        return read_ahead([lambda: _map_in_threads(mapper, reader(), process_num, buffer_size, order)], buffer_size)

    return mapped


def multiprocess_reader(readers, use_pipe=True, queue_size=1000):
    """The samples of several readers, each read by a thread of its own, as they come.

    Threads, because a process that trains cannot be forked; readers that must not share an interpreter belong in a
    Dataset's pipe command. `use_pipe` only chose between two transports of processes.

    >>> sorted(paddle.reader.multiprocess_reader([lambda: iter([1, 2]), lambda: iter([3])])())
    [1, 2, 3]
    """

    def together():
        return read_ahead(list(readers), queue_size)

    return together
