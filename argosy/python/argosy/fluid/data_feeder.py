"""DataFeeder: samples as Python writes them become what Executor.run takes."""

import numpy as np

from argosy import _core

__all__ = ["DataFeeder", "convert_dtype"]


def convert_dtype(dtype):
    """The NumPy name of an element type: "float32".

    >>> fluid.data_feeder.convert_dtype(fluid.core.VarDesc.VarType.INT64)
    'int64'
    """
    return _core.dtype_name(dtype)


class _Column:
    """The values of one variable over a batch: flat, with the lengths of their sequences where the variable has any."""

    def __init__(self, name, dtype, shape, levels):
        self.name, self.dtype, self.shape, self.levels = name, dtype, list(shape), levels
        self.values = []
        self.lengths = [[] for _ in range(levels)]

    def add(self, value, level=0):
        if level == self.levels:
            self.values.append(value)
            return
        if not hasattr(value, "__len__"):
            raise ValueError("variable '%s' has lod_level %d; found %r where a sequence should be" % (self.name, self.levels, value))
        self.lengths[level].append(len(value))
        for part in value:
            self.add(part, level + 1)

    def _array(self):
        """One row for each value. A value may come flat, or without sizes of 1; its rows are never mixed with another's."""
        inner = self.shape[1:]
        try:
            array = np.array(self.values, self.dtype)
        except (TypeError, ValueError) as error:
            raise ValueError("variable '%s': the samples are not one array of %s: %s" % (self.name, self.dtype, error)) from None
        found = list(array.shape[1:])
        if not self.values:
            return array.reshape([0] + [max(size, 0) for size in inner])
        if len(found) == len(inner) and all(size in (-1, given) for size, given in zip(inner, found)):
            return array
        try:
            return array.reshape([len(array)] + inner)
        except ValueError:
            raise ValueError("variable '%s': a sample has shape %s, expected %s (declared shape %s)" % (self.name, found, inner, self.shape)) from None

    def tensor(self):
        tensor = _core.LoDTensor()
        tensor.set(self._array())
        if self.levels:
            tensor.set_recursive_sequence_lengths(self.lengths)
        return tensor


def in_groups(items, size, drop_last=True):
    """Lists of `size` items: what each of so many places is fed. The last, shorter one is dropped, or given all the same.

    >>> list(fluid.data_feeder.in_groups([1, 2, 3], 2, drop_last=False))
    [[1, 2], [3]]
    """
    group = []
    for item in items:
        group.append(item)
        if len(group) == size:
            yield group
            group = []
    if group and not drop_last:
        yield group


class DataFeeder:
    """Puts a list of samples, each a value for every variable of feed_list, into a feed dictionary. Thread-safe.

    >>> feeder = fluid.DataFeeder([fluid.data("x", [None, 2])], fluid.CPUPlace())
    >>> sorted(feeder.feed([([1.0, 2.0],), ([3.0, 4.0],)]))
    ['x']
    """

    def __init__(self, feed_list, place=None, program=None):
        from argosy.fluid.framework import Variable, default_main_program

        block = (program if program is not None else default_main_program()).global_block()
        variables = [block.var(item) if isinstance(item, str) else item for item in feed_list]
        for variable in variables:
            if not isinstance(variable, Variable):
                raise TypeError("feed_list holds variables or their names; found %s" % type(variable).__name__)
        self.feed_names = [variable.name for variable in variables]
        self.feed_dtypes = [convert_dtype(variable.dtype) for variable in variables]
        self.feed_shapes = [variable.shape for variable in variables]
        self.feed_lod_level = [variable.lod_level for variable in variables]
        self.place = place

    def feed(self, iterable):
        """A LoDTensor for every variable, by name."""
        columns = [_Column(*what) for what in zip(self.feed_names, self.feed_dtypes, self.feed_shapes, self.feed_lod_level)]
        for number, sample in enumerate(iterable):
            self._check_sample(number, sample)
            for column, value in zip(columns, sample):
                column.add(value)
        return {column.name: column.tensor() for column in columns}

    def _check_sample(self, number, sample):
        expected = "expected %d (%s)" % (len(self.feed_names), ", ".join(self.feed_names))
        if not hasattr(sample, "__len__"):
            raise ValueError("sample %d is %r and not a list of values; %s" % (number, sample, expected))
        if len(sample) != len(self.feed_names):
            raise ValueError("sample %d has %d values, %s" % (number, len(sample), expected))

    def feed_parallel(self, iterable, num_places=1):
        """One feed dictionary for each of num_places batches."""
        batches = list(iterable)
        if len(batches) != num_places:
            raise ValueError("feed_parallel: %d batches for %d places; there must be one for each" % (len(batches), num_places))
        for batch in batches:
            yield self.feed(batch)

    def decorate_reader(self, reader, multi_devices=False, num_places=1, drop_last=True):
        """A reader of feed dictionaries from a reader of batches; with multi_devices of lists of num_places of them."""

        def feeds():
            for batch in reader():
                yield self.feed(batch)

        def groups():
            for group in in_groups(feeds(), num_places, drop_last=False):
                if len(group) == num_places:
                    yield group
                elif not drop_last:
                    raise ValueError("decorate_reader: %d batches are left for %d places; drop_last=True leaves them out" % (len(group), num_places))

        return groups if multi_devices else feeds
