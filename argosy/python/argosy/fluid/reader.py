"""PyReader and DataLoader.from_generator: batches made ahead of the training loop, in a thread."""
import queue
import threading
import weakref

from argosy.fluid.data_feeder import DataFeeder

__all__ = ["DataLoader", "GeneratorLoader", "PyReader"]

_END = object()
_readers = weakref.WeakKeyDictionary()  # program -> weak references to the loaders that feed its runs (those with iterable=False)


class _Failure:
    def __init__(self, error):
        self.error = error


class _Ahead:
    """Runs a generator in a thread and hands out what it made, at most `capacity` items early. close() ends the thread."""

    def __init__(self, make, capacity):
        self._channel = queue.Queue(maxsize=max(1, capacity))
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._body, args=(make,), name="data-loader", daemon=True)
        self._thread.start()

    def _put(self, item):
        while not self._stopped.is_set():
            try:
                self._channel.put(item, timeout=0.05)
                return True
            except queue.Full:
                continue
        return False

    def _body(self, make):
        try:
            for item in make():
                if not self._put(item):
                    return
            self._put(_END)
        except BaseException as error:  # raised again where the data is used
            self._put(_Failure(error))

    def next(self):
        """The next item; _END at the end, for ever."""
        if self._stopped.is_set():
            return _END
        item = self._channel.get()
        if item is _END or isinstance(item, _Failure):
            self.close()
        if isinstance(item, _Failure):
            raise item.error
        return item

    def close(self):
        self._stopped.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(30)


class GeneratorLoader:
    """What DataLoader.from_generator returns. iterable: `for feed in loader()`; otherwise start(), exe.run without feed until
    fluid.core.EOFException, reset()."""

    def __init__(self, feed_list=None, capacity=None, use_double_buffer=True, iterable=True, return_list=False, use_multiprocess=False,
                 drop_last=True):
        if capacity is None or capacity <= 0:
            raise ValueError("capacity is %r, expected how many batches to make ahead, such as 64" % (capacity,))
        if not feed_list:
            raise ValueError("feed_list is empty: name the variables that the generator gives values for")
        self._feed_list, self._capacity, self._iterable = list(feed_list), capacity, iterable
        self._return_list, self._drop_last = return_list, drop_last
        self._make, self._ahead = None, None
        if not iterable:
            from argosy.fluid.framework import default_main_program
            self._program = default_main_program()  # alive as long as the loader is
            _readers.setdefault(self._program, []).append(weakref.ref(self))

    @property
    def iterable(self):
        return self._iterable

    @property
    def queue_capacity(self):
        return self._capacity

    def set_sample_generator(self, reader, batch_size, drop_last=True, places=None):
        """`reader` yields one sample at a time: a value for each variable."""
        from argosy.batch import batch

        def tuples():
            for sample in reader():
                yield sample if isinstance(sample, (list, tuple)) else (sample,)
        return self.set_sample_list_generator(batch(tuples, batch_size, drop_last), places)

    def set_sample_list_generator(self, reader, places=None):
        """`reader` yields lists of samples."""
        feeder = DataFeeder(self._feed_list)

        def feeds():
            for samples in reader():
                yield feeder.feed(samples)
        self._make = feeds
        return self

    def set_batch_generator(self, reader, places=None):
        """`reader` yields whole batches: an array or LoDTensor for each variable."""
        names = [variable.name for variable in self._feed_list]

        def feeds():
            for batch in reader():
                values = list(batch.values()) if isinstance(batch, dict) else batch
                if len(values) != len(names):
                    raise ValueError("a batch has %d values, expected %d (%s)" % (len(values), len(names), ", ".join(names)))
                yield dict(batch) if isinstance(batch, dict) else dict(zip(names, values))
        self._make = feeds
        return self

    decorate_sample_generator = set_sample_generator
    decorate_sample_list_generator = set_sample_list_generator
    decorate_batch_generator = set_batch_generator
    decorate_paddle_reader = set_sample_list_generator
    decorate_tensor_provider = set_batch_generator

    def __iter__(self):
        if not self._iterable:
            raise TypeError("this loader was made with iterable=False: call start(), run without feed until EOFException, then reset()")
        return self._pass()

    def _pass(self):
        ahead = _Ahead(self._require_data(), self._capacity)
        names = [variable.name for variable in self._feed_list]
        try:
            while True:
                feed = ahead.next()
                if feed is _END:
                    return
                yield [feed[name] for name in names] if self._return_list else feed
        finally:
            ahead.close()

    def _require_data(self):
        if self._make is None:
            raise RuntimeError("the loader has no data: call set_sample_generator, set_sample_list_generator or set_batch_generator first")
        return self._make

    def __call__(self):
        return self.__iter__()

    def start(self):
        if self._iterable:
            raise TypeError("start() is for iterable=False; loop over the loader instead")
        if self._ahead is not None:
            self._ahead.close()
        self._ahead = _Ahead(self._require_data(), self._capacity)

    def reset(self):
        if self._iterable:
            raise TypeError("reset() is for iterable=False; every loop over the loader starts anew")
        if self._ahead is not None:
            self._ahead.close()
        self._ahead = None

    def next_feed(self):
        """The next batch of a started loader; None at the end."""
        if self._ahead is None:
            raise RuntimeError("the loader is not running: call start() before exe.run, and again after EOFException and reset()")
        feed = self._ahead.next()
        return None if feed is _END else feed


class PyReader(GeneratorLoader):
    """The older name of a generator loader; same use."""

    def __init__(self, feed_list=None, capacity=None, use_double_buffer=True, iterable=True, return_list=False):
        super().__init__(feed_list, capacity, use_double_buffer, iterable, return_list)


class DataLoader:
    """from_generator for generators, from_dataset for Datasets."""

    @staticmethod
    def from_generator(feed_list=None, capacity=None, use_double_buffer=True, iterable=True, return_list=False, use_multiprocess=False,
                       drop_last=True):
        return GeneratorLoader(feed_list, capacity, use_double_buffer, iterable, return_list, use_multiprocess, drop_last)


def feed_of_readers(program):
    """What the started loaders of `program` give for one run: a feed dictionary; None where it has no loader. The end of the
    data is fluid.core.EOFException."""
    loaders = [loader for loader in (reference() for reference in _readers.get(program, [])) if loader is not None]
    if not loaders:
        return None
    feed = {}
    for loader in loaders:
        part = loader.next_feed()
        if part is None:
            from argosy.errors import EOFException
            raise EOFException("the loader has no more data: call reset(), and start() for another pass")
        feed.update(part)
    return feed
