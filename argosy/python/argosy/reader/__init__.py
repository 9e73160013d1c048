"""paddle.reader: functions on readers. A reader is a function that returns an iterator of samples."""
import itertools
import queue
import random
import threading

__all__ = ["buffered", "cache", "chain", "compose", "ComposeNotAligned", "firstn", "map_readers", "multiprocess_reader", "shuffle",
           "xmap_readers"]

_END = object()


class ComposeNotAligned(ValueError):
    """Readers given to compose() ended at different samples."""


def cache(reader):
    """Reads everything once and keeps it in memory."""
    samples = tuple(reader())

    def cached():
        yield from samples
    return cached


def map_readers(func, *readers):
    """func of one sample of each reader, until the shortest ends."""
    def mapped():
        return map(func, *[reader() for reader in readers])
    return mapped


def shuffle(reader, buf_size):
    """The samples in random order within stretches of buf_size."""
    def shuffled():
        samples = reader()
        while True:
            stretch = list(itertools.islice(samples, buf_size))
            if not stretch:
                return
            random.shuffle(stretch)
            yield from stretch

    return shuffled


def chain(*readers):
    """The samples of the first reader, then those of the second, and so on."""
    def chained():
        return itertools.chain.from_iterable(reader() for reader in readers)
    return chained


def compose(*readers, check_alignment=True):
    """One flat tuple of a sample of each reader. Readers of different length are an error unless check_alignment=False."""
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
    """The first n samples."""
    def limited():
        return itertools.islice(reader(), n)
    return limited


class _Failure:
    def __init__(self, error):
        self.error = error


def _in_background(produce, size):
    """An iterator over what `produce(put)` puts, from a thread; its exception is raised here."""
    channel = queue.Queue(maxsize=size)
    stopped = threading.Event()

    def put(item):
        while not stopped.is_set():
            try:
                channel.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def body():
        try:
            produce(put)
            put(_END)
        except BaseException as error:  # handed to the consumer, who raises it
            put(_Failure(error))

    thread = threading.Thread(target=body, name="reader", daemon=True)
    thread.start()
    try:
        while True:
            item = channel.get()
            if item is _END:
                return
            if isinstance(item, _Failure):
                raise item.error
            yield item
    finally:
        stopped.set()
        thread.join(10)


def buffered(reader, size):
    """Reads up to `size` samples ahead, in a thread."""
    def read_ahead():
        def produce(put):
            for sample in reader():
                if not put(sample):
                    return
        return _in_background(produce, size)
    return read_ahead


def xmap_readers(mapper, reader, process_num, buffer_size, order=False):
    """mapper(sample) computed by `process_num` threads; in the order of the reader where `order` is set."""
    def mapped():
        def produce(put):
            from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
            with ThreadPoolExecutor(process_num, "xmap") as pool:
                pending = []
                for sample in reader():
                    pending.append(pool.submit(mapper, sample))
                    if len(pending) >= process_num + buffer_size:
                        if not order:
                            done, _ = wait(pending, return_when=FIRST_COMPLETED)
                            first = next(future for future in pending if future in done)
                        else:
                            first = pending[0]
                        pending.remove(first)
                        if not put(first.result()):
                            return
                for future in pending:
                    if not put(future.result()):
                        return
        return _in_background(produce, buffer_size)
    return mapped


def multiprocess_reader(readers, use_pipe=True, queue_size=1000):
    """The samples of several readers, each read by a thread of its own, as they come.

    Threads, because a process that trains cannot be forked; readers that must not share an interpreter belong in a
    Dataset's pipe command. `use_pipe` only chose between two transports of processes.
    """
    def together():
        def produce(put):
            from concurrent.futures import ThreadPoolExecutor

            def drain(reader):
                for sample in reader():
                    if not put(sample):
                        return
            with ThreadPoolExecutor(max(1, len(readers)), "multi-reader") as pool:
                for future in [pool.submit(drain, reader) for reader in readers]:
                    future.result()
        return _in_background(produce, queue_size)
    return together
