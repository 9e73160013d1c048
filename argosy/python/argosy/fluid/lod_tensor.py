"""Tensors of sequences."""

import numpy

from argosy._core import LoDTensor
from argosy.errors import InvalidArgumentError

__all__ = ["LoDTensor", "create_lod_tensor", "create_random_int_lodtensor"]


def _checked(tensor, lengths):
    tensor.set_recursive_sequence_lengths(lengths)
    return tensor


def create_lod_tensor(data, recursive_seq_lens, place=None):
    """A tensor of sequences.

    data: an array whose first size is the sum of the innermost lengths; or a list of sequences, each a list of ids; or a
    LoDTensor, whose data are taken.
    recursive_seq_lens: the lengths of each level, outermost first.

    >>> tensor = fluid.create_lod_tensor(np.ones([3, 1], "int64"), [[1, 2]], fluid.CPUPlace())
    >>> tensor.recursive_sequence_lengths()
    [[1, 2]]
    """
    if isinstance(data, LoDTensor):
        data = numpy.array(data)
    elif isinstance(data, list):
        found = [len(sequence) for sequence in data]
        if found != list(recursive_seq_lens[-1]):
            raise InvalidArgumentError(f"the sequences have lengths {found}, but recursive_seq_lens says {list(recursive_seq_lens[-1])}")
        flat = [value for sequence in data for value in sequence]
        data = numpy.array(flat).reshape(len(flat), -1)
        if data.dtype.kind in "iu":
            data = data.astype("int64")
    tensor = LoDTensor()
    tensor.set(numpy.asarray(data), place)
    return _checked(tensor, recursive_seq_lens)


def create_random_int_lodtensor(recursive_seq_lens, base_shape, place, low, high):
    """Random integers from low to high (both may occur), one of base_shape for each place of the innermost sequences.

    >>> tensor = fluid.create_random_int_lodtensor([[1, 2]], [1], fluid.CPUPlace(), 0, 9)
    >>> tensor.recursive_sequence_lengths()
    [[1, 2]]
    """
    rows = sum(recursive_seq_lens[-1])
    return create_lod_tensor(numpy.random.randint(low, high + 1, [rows, *base_shape]).astype("int64"), recursive_seq_lens, place)


def _describe(self):
    levels = "".join("{%s}" % ", ".join(str(offset) for offset in level) for level in self.lod())
    data = numpy.array(self).ravel()
    shown = " ".join(str(value) for value in data[:10]) + (" ..." if data.size > 10 else "")
    kind = {"int64": "int64_t", "int32": "int", "float32": "float", "float64": "double"}.get(data.dtype.name, data.dtype.name)
    lod = f"  lod: {{{levels}}}\n" if levels else ""
    return f"{lod}  dim: {', '.join(str(size) for size in self.shape())}\n  layout: NCHW\n  dtype: {kind}\n  data: [{shown}]\n"


LoDTensor.__str__ = LoDTensor.__repr__ = _describe
