"""PyReader and DataLoader: batches made ahead of the training loop, in a thread."""

import weakref

import numpy as np

from argosy import _core, graph_mode
from argosy.errors import EOFException
from argosy.fluid.data_feeder import DataFeeder, convert_dtype, in_groups
from argosy.reader.ahead import Ahead

__all__ = ["DataLoader", "DatasetLoader", "GeneratorLoader", "PyReader"]


def _tensor(value, variable):
    """A batch's value of a variable as a LoDTensor. Arrays keep their element type, so that a wrong one is noticed by the run."""
    if isinstance(value, _core.LoDTensor):
        return value
    tensor = _core.LoDTensor()
    tensor.set(value if isinstance(value, np.ndarray) else np.array(value, convert_dtype(variable.dtype)))
    return tensor


def _feed_of(variables, batch):
    names = [variable.name for variable in variables]
    if isinstance(batch, dict):
        missing = [name for name in names if name not in batch]
        if missing:
            raise ValueError("a batch has no value for %s; it has %s" % (", ".join(missing), ", ".join(map(str, batch))))
        batch = [batch[name] for name in names]
    elif not isinstance(batch, (list, tuple)):
        batch = [batch]
    if len(batch) != len(names):
        raise ValueError("a batch has %d values, expected %d (%s)" % (len(batch), len(names), ", ".join(names)))
    return {variable.name: _tensor(value, variable) for variable, value in zip(variables, batch)}


def _stacked(samples):
    """A batch of samples: an array per field."""
    return [np.stack([np.asarray(value) for value in field]) for field in zip(*samples, strict=True)]


def _as_tensors(batch):
    from argosy.creation import to_tensor

    return [to_tensor(value) for value in batch]


class _Queue:
    def __init__(self, loader):
        self._loader = loader

    def size(self):
        return self._loader._ahead.waiting() if self._loader._ahead is not None else 0

    def capacity(self):
        return self._loader._capacity


class GeneratorLoader:
    """What DataLoader.from_generator returns.

    iterable: `for feed in loader(): exe.run(feed=feed)`, where feed is a list with a dictionary for each place (or, with
    return_list, a list of values for each place). Not iterable: start(), exe.run without feed until fluid.core.EOFException,
    reset(); runs of the main program that was the default when the loader was made, and of its clones, take batches from it.

    A batch is made ahead in memory that the run reads in place, so that use_double_buffer has nothing to add; generators run in a
    thread, also with use_multiprocess. Confined to one thread.

    >>> loader = fluid.io.DataLoader.from_generator(feed_list=[fluid.data("x", [None, 1])], capacity=4)
    >>> result = loader.set_batch_generator(lambda: iter([[np.ones([2, 1], "float32")]]), places=fluid.CPUPlace())
    >>> [sorted(feed) for feeds in loader() for feed in feeds]
    [['x']]
    """

    def __init__(self, feed_list=None, capacity=None, use_double_buffer=True, iterable=True, return_list=False, use_multiprocess=False, drop_last=True):
        if capacity is None or capacity <= 0:
            raise ValueError("capacity is %r, expected how many batches to make ahead, such as 64" % (capacity,))
        if not feed_list and not graph_mode.in_dynamic_mode():
            raise ValueError("feed_list is empty: name the variables that the generator gives values for")
        self._of_tensors = not feed_list  # the dynamic graph, where a batch is a list of tensors
        if self._of_tensors and not iterable:
            raise ValueError("iterable=False is for programs; in the dynamic graph loop over the loader")
        self._feed_list, self._capacity, self._iterable = list(feed_list or ()), capacity, iterable
        self._names = [variable.name for variable in self._feed_list]
        self._return_list, self._drop_last = return_list, drop_last
        self._make, self._places, self._ahead = None, 1, None
        if not iterable:
            from argosy.fluid.framework import default_main_program

            self._program = default_main_program()  # held here: its attributes last as long as its Python object
            self._program._loaders = (*getattr(self._program, "_loaders", ()), weakref.ref(self))  # pyright: ignore[reportAttributeAccessIssue]

    def __del__(self):
        if getattr(self, "_ahead", None) is not None:
            self._ahead.close(patience=0)  # pyright: ignore[reportOptionalMemberAccess]

    @property
    def iterable(self):
        return self._iterable

    @property
    def queue_capacity(self):
        return self._capacity

    @property
    def queue(self):
        """What was made ahead: queue.size() batches of at most queue.capacity()."""
        return _Queue(self)

    def set_sample_generator(self, reader, batch_size, drop_last=True, places=None):
        """`reader` yields one sample at a time: a value for each variable."""
        from argosy._batch import batch

        return self.set_sample_list_generator(batch(reader, batch_size, drop_last), places)

    def set_sample_list_generator(self, reader, places=None):
        """`reader` yields lists of samples."""
        if self._of_tensors:
            return self._set(lambda: (_stacked(samples) for samples in reader()), places)
        feeder = DataFeeder(self._feed_list)

        def feeds():
            for samples in reader():
                yield feeder.feed(samples)

        return self._set(feeds, places)

    def set_batch_generator(self, reader, places=None):
        """`reader` yields whole batches: an array or LoDTensor for each variable, in order or by name."""
        if self._of_tensors:
            return self._set(lambda: (list(batch) if isinstance(batch, (list, tuple)) else [batch] for batch in reader()), places)
        variables = self._feed_list

        def feeds():
            for batch in reader():
                yield _feed_of(variables, batch)

        return self._set(feeds, places)

    def _set(self, feeds, places):  # `feeds` must not hold the loader: its thread would keep it alive
        self._make, self._places = feeds, len(places) if isinstance(places, (list, tuple)) else 1
        return self

    def _run_ahead(self):
        if self._make is None:
            raise RuntimeError("the loader has no data: call set_sample_generator, set_sample_list_generator or set_batch_generator first")
        return Ahead([self._make], self._capacity, "data-loader")

    def __iter__(self):
        if not self._iterable:
            raise TypeError("this loader was made with iterable=False: call start(), run without feed until EOFException, then reset()")
        return self._pass(self._run_ahead())

    def _pass(self, ahead):
        try:
            if self._of_tensors:
                yield from (_as_tensors(batch) for batch in ahead)
                return
            for group in in_groups(ahead, self._places, self._drop_last):
                yield [[feed[name] for name in self._names] for feed in group] if self._return_list else group
        finally:
            ahead.close()

    def __call__(self):
        return self.__iter__()

    def start(self):
        """Begins a pass from its first batch."""
        if self._iterable:
            raise TypeError("start() is for iterable=False; loop over the loader instead")
        self.reset()
        self._ahead = self._run_ahead()

    def reset(self):
        """Ends the pass. What was made ahead is dropped."""
        if self._iterable:
            raise TypeError("reset() is for iterable=False; every loop over the loader starts anew")
        if self._ahead is not None:
            self._ahead.close()
        self._ahead = None

    def is_running(self):
        return self._ahead is not None

    def next_feed(self):
        """The next batch of a started loader. The end of the data is EOFException."""
        if self._ahead is None:
            raise RuntimeError(
                "the loader of %s is not running: call start() before exe.run, and again after EOFException and reset()" % ", ".join(self._names)
            )
        try:
            return next(self._ahead)
        except StopIteration:
            raise EOFException("the loader of %s has no more data: call reset(), and start() for another pass" % ", ".join(self._names)) from None


class PyReader(GeneratorLoader):
    """The older name of a generator loader, with older names of its methods.

    >>> loader = fluid.io.PyReader(feed_list=[fluid.data("x", [None, 1])], capacity=4)
    >>> result = loader.decorate_batch_generator(lambda: iter([[np.ones([2, 1], "float32")]]), places=fluid.CPUPlace())
    >>> len(list(loader()))
    1
    """

    def __init__(self, feed_list=None, capacity=None, use_double_buffer=True, iterable=True, return_list=False):
        super().__init__(feed_list, capacity, use_double_buffer, iterable, return_list)

    decorate_sample_generator = GeneratorLoader.set_sample_generator
    decorate_sample_list_generator = GeneratorLoader.set_sample_list_generator
    decorate_batch_generator = GeneratorLoader.set_batch_generator
    decorate_paddle_reader = GeneratorLoader.set_sample_list_generator
    decorate_tensor_provider = GeneratorLoader.set_batch_generator


class DatasetLoader:
    """What DataLoader.from_dataset returns: a loop over it is a pass over the dataset, a feed after the other.

    >>> for feed in fluid.io.DataLoader.from_dataset(dataset, fluid.cpu_places(1)):  # doctest: +SKIP
    ...     exe.run(feed=feed)
    """

    def __init__(self, dataset, places, drop_last=True):
        from argosy.fluid.dataset import DatasetBase

        if not isinstance(dataset, DatasetBase):
            raise TypeError("from_dataset takes a dataset of fluid.DatasetFactory; found %s" % type(dataset).__name__)
        dataset.set_drop_last(drop_last)
        self._dataset, self._places = dataset, len(places) if isinstance(places, (list, tuple)) else 1

    def _feeds(self):
        source, variables = self._dataset._source(), self._dataset._use_var
        source.start()
        try:
            while (values := source.next_batch(variables[0].block.program)) is not None:
                yield {variable.name: value for variable, value in zip(variables, values, strict=True)}
        finally:
            source.stop()

    def __iter__(self):
        yield from in_groups(self._feeds(), self._places, False) if self._places > 1 else self._feeds()

    def __call__(self):
        return self.__iter__()


class DataLoader:
    """Makes loaders of what generators give, from_generator, or of a dataset, from_dataset.

    >>> loader = fluid.io.DataLoader.from_generator(feed_list=[fluid.data("x", [None, 1])], capacity=4)
    >>> loader.iterable
    True
    """

    @staticmethod
    def from_generator(feed_list=None, capacity=None, use_double_buffer=True, iterable=True, return_list=False, use_multiprocess=False, drop_last=True):
        return GeneratorLoader(feed_list, capacity, use_double_buffer, iterable, return_list, use_multiprocess, drop_last)

    @staticmethod
    def from_dataset(dataset, places, drop_last=True):
        return DatasetLoader(dataset, places, drop_last)


def add_loader_feeds(program, feed):
    """`feed` with what the loaders of `program` give for one run. Loaders whose variables are all fed need not be running; the
    values of one that is running go before those of `feed`."""
    loaders = [loader for loader in (reference() for reference in getattr(program, "_loaders", ())) if loader is not None]
    for loader in loaders:
        if loader.is_running() or not all(name in feed for name in loader._names):
            feed = {**feed, **loader.next_feed()}
    return feed
