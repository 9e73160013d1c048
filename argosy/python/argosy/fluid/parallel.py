"""One step by several threads: what is fed becomes a part for each, and what they fetch becomes one value."""

import itertools

import numpy

from argosy import _core
from argosy.errors import InvalidArgumentError
from argosy.fluid import reader

__all__ = ["feeds", "merged"]


def feeds(program, feed, threads):
    """A dict for each thread: of a list that has them, of as many batches of the program's running loaders, or of the parts of one
    batch."""
    if isinstance(feed, (list, tuple)):
        if not 1 <= len(feed) <= threads:
            raise InvalidArgumentError(f"feed is a list of {len(feed)} parts for {threads} threads (CPU_NUM)")
        return list(feed)
    if not feed:
        return [reader.add_loader_feeds(program, {}) for _ in range(threads)]
    parts = {name: _split(name, value, threads) for name, value in feed.items()}
    return [{name: values[i] for name, values in parts.items()} for i in range(threads)]


def _split(name, value, threads):
    lod = value.lod() if isinstance(value, _core.LoDTensor) else []
    array = numpy.asarray(value)
    count = len(lod[0]) - 1 if lod else (array.shape[0] if array.ndim else 0)
    if count < threads:
        raise InvalidArgumentError(f"variable '{name}': {count} samples were fed to {threads} threads (CPU_NUM); each needs one at least")
    ends = numpy.linspace(0, count, threads + 1).astype(int)
    return [_part(array, lod, begin, end) for begin, end in itertools.pairwise(ends)]


def _part(array, lod, begin, end):
    if not lod:
        return array[begin:end]
    levels = []
    for level in lod:
        offsets = numpy.asarray(level[begin : end + 1])
        levels.append((offsets - offsets[0]).tolist())
        begin, end = int(offsets[0]), int(offsets[-1])
    tensor = _core.LoDTensor()
    tensor.set(array[begin:end])
    tensor.set_lod(levels)
    return tensor


def merged(values):
    """Arrays of all threads one after the other; numbers become a row of them."""
    return numpy.concatenate([numpy.atleast_1d(value) for value in values])
