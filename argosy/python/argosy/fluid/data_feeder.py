"""DataFeeder: samples as Python writes them become what Executor.run takes."""
import numpy as np

from argosy import _core
from argosy.fluid import lod_tensor

__all__ = ["DataFeeder", "convert_dtype"]


def convert_dtype(dtype):
    """The NumPy name of an element type: "float32"."""
    return _core.dtype_name(dtype)


class _Column:
    """The values of one variable over a batch: a dense array, or flat values with the lengths of their sequences."""

    def __init__(self, variable):
        self.name, self.dtype = variable.name, convert_dtype(variable.dtype)
        self.shape, self.levels = list(variable.shape), variable.lod_level
        self.values = []
        self.lengths = [[] for _ in range(self.levels)]

    def add(self, value):
        self._add(value, 0)

    def _add(self, value, level):
        if level == self.levels:
            self.values.append(value)
            return
        self.lengths[level].append(len(value))
        for part in value:
            self._add(part, level + 1)

    def _array(self):
        array = np.array(self.values, dtype=self.dtype)
        inner = [size for size in self.shape[1:]]
        if self.levels == 0 and any(size < 0 for size in inner):
            return array
        if self.levels:
            inner = self.shape[1:] if len(self.shape) > 1 else [1]
        wanted = [-1] + [abs(size) for size in inner] if inner else [-1]
        try:
            return array.reshape(wanted)
        except ValueError:
            raise ValueError("variable '%s': samples of shape %s do not fit the declared shape %s"
                             % (self.name, list(array.shape[1:]), self.shape)) from None

    def done(self):
        array = self._array()
        return lod_tensor.create_lod_tensor(array, self.lengths, None) if self.levels else array


class DataFeeder:
    """Puts a list of samples, each a value for every variable of feed_list, into a feed dictionary."""

    def __init__(self, feed_list, place=None, program=None):
        from argosy.fluid.framework import Variable, default_main_program
        program = program if program is not None else default_main_program()
        self.feed_list = [item if isinstance(item, Variable) else program.global_block().var(item) for item in feed_list]
        self.feed_names = [variable.name for variable in self.feed_list]
        self.place = place

    def feed(self, iterable):
        columns = [_Column(variable) for variable in self.feed_list]
        for number, sample in enumerate(iterable):
            if len(sample) != len(columns):
                raise ValueError("sample %d has %d values, expected %d (%s)" % (number, len(sample), len(columns), ", ".join(self.feed_names)))
            for column, value in zip(columns, sample):
                column.add(value)
        return {column.name: column.done() for column in columns}

    def feed_parallel(self, iterable, num_places=None):
        """One feed dictionary for each batch of `iterable`."""
        for batch in iterable:
            yield self.feed(batch)

    def decorate_reader(self, reader, multi_devices=False, num_places=None, drop_last=True):
        """A reader of feed dictionaries from a reader of batches."""
        def decorated():
            for batch in reader():
                yield self.feed(batch)
        return decorated
