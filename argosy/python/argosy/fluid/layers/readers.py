"""Readers of a program: a loader that is not iterable, and the variables that it fills."""

from argosy import _core
from argosy.errors import InvalidArgumentError
from argosy.fluid.reader import PyReader

__all__ = ["create_py_reader_by_data", "double_buffer", "py_reader", "read_file"]


def py_reader(capacity, shapes, dtypes, lod_levels=None, name=None, use_double_buffer=True):
    """A reader that gives a program's runs their data: decorate_paddle_reader (or another of its decorate functions), start(), exe.run without feed until
    fluid.core.EOFException, reset(). read_file gives its variables, of these shapes and types.

    >>> reader = fluid.layers.py_reader(capacity=8, shapes=[(-1, 3), (-1, 1)], dtypes=["float32", "int64"])
    >>> x, label = fluid.layers.read_file(reader)
    >>> x.shape, label.shape
    ((-1, 3), (-1, 1))
    """
    levels = [0] * len(shapes) if lod_levels is None else list(lod_levels)
    if not len(shapes) == len(dtypes) == len(levels):
        raise InvalidArgumentError(
            f"py_reader: shapes, dtypes and lod_levels have one entry per variable; found {len(shapes)}, {len(dtypes)} and {len(levels)}"
        )
    prefix = name or _core.unique_name("create_py_reader")
    declared = [
        _core.layers.data(f"{prefix}.{i}", list(shape), append_batch_size=False, dtype=dtype, lod_level=level)
        for i, (shape, dtype, level) in enumerate(zip(shapes, dtypes, levels, strict=True))
    ]
    return create_py_reader_by_data(capacity, declared, name, use_double_buffer)


def create_py_reader_by_data(capacity, feed_list, name=None, use_double_buffer=True):
    """py_reader for variables that are there already.

    >>> x = fluid.layers.data("x", [3])
    >>> fluid.layers.read_file(fluid.layers.create_py_reader_by_data(capacity=8, feed_list=[x])) is x
    True
    """
    return PyReader(feed_list, capacity, use_double_buffer, iterable=False)


def read_file(reader):
    """The variables that a reader fills: one, or a list.

    >>> x = fluid.layers.read_file(fluid.layers.py_reader(capacity=8, shapes=[(-1, 3)], dtypes=["float32"]))
    """
    if not isinstance(reader, PyReader):
        raise InvalidArgumentError(f"read_file takes what py_reader gives; found {type(reader).__name__}")
    return reader._feed_list[0] if len(reader._feed_list) == 1 else list(reader._feed_list)


def double_buffer(reader, place=None, name=None):
    """The reader itself: it makes batches ahead in memory that a run reads in place.

    >>> reader = fluid.layers.py_reader(capacity=8, shapes=[(-1, 3)], dtypes=["float32"])
    >>> fluid.layers.double_buffer(reader) is reader
    True
    """
    return reader
