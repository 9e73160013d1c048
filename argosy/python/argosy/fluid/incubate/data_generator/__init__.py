"""Writes MultiSlot text: what a dataset's pipe command puts out.

Imports nothing but the standard library, because a pipe command starts once for every data file.
"""

import sys
from collections.abc import Callable, Iterable

__all__ = ["DataGenerator", "MultiSlotDataGenerator", "MultiSlotStringDataGenerator"]


class DataGenerator:
    """Turns lines of text into samples. A subclass defines generate_sample, and may define generate_batch.

    >>> from paddle.fluid.incubate.data_generator import DataGenerator, MultiSlotDataGenerator
    >>> issubclass(MultiSlotDataGenerator, DataGenerator)
    True
    """

    def __init__(self):
        self._proto_info = None  # [(slot, "float" or "uint64")], from the first sample on
        self.batch_size_ = 32

    def set_batch(self, batch_size):
        """How many samples generate_batch is given at once."""
        self.batch_size_ = batch_size

    def generate_sample(self, line) -> Callable[[], Iterable]:
        """Returns a function that yields samples: lists or tuples of (slot, values)."""
        raise TypeError("%s must define generate_sample(self, line); it returns a generator function of [(slot, [values…]), …]" % type(self).__name__)

    def generate_batch(self, samples):
        """Returns a function that yields samples from a batch of them; here they pass unchanged."""

        def passed():
            yield from samples

        return passed

    def run_from_stdin(self):
        """Every line of standard input through generate_sample, the samples to standard output."""
        self._write((sample for line in sys.stdin for sample in self._samples_of(line)), sys.stdout)

    def run_from_memory(self):
        """The samples of generate_sample(None) to standard output, for trying a generator out."""
        self._write(self._samples_of(None), sys.stdout)

    def _samples_of(self, line):
        return (sample for sample in self.generate_sample(line)() if sample is not None)

    def _write(self, samples, out):
        batch = []
        for sample in samples:
            batch.append(sample)
            if len(batch) == self.batch_size_:
                self._write_batch(batch, out)
                batch = []
        if batch:
            self._write_batch(batch, out)

    def _write_batch(self, batch, out):
        out.writelines(self._gen_str(sample) for sample in self.generate_batch(batch)())

    def _gen_str(self, line):
        raise TypeError("use MultiSlotDataGenerator or MultiSlotStringDataGenerator: %s does not say how a sample is written" % type(self).__name__)


def _checked_sample(sample):
    if isinstance(sample, zip):
        sample = list(sample)
    if not isinstance(sample, (list, tuple)):
        raise ValueError("a sample is %s, expected a list or tuple of (slot, values), such as [('words', [1, 2]), ('label', [1])]" % type(sample).__name__)
    for item in sample:
        if not isinstance(item, (list, tuple)) or len(item) != 2 or not isinstance(item[0], str):
            raise ValueError("%r is not a pair (slot, values) in a sample" % (item,))
        if not isinstance(item[1], (list, tuple)):
            raise ValueError("the values of slot %r are %s, expected a list" % (item[0], type(item[1]).__name__))
        if not item[1]:
            raise ValueError("slot %r has no values; give it at least one (a padding id, for example)" % item[0])
    return sample


class MultiSlotStringDataGenerator(DataGenerator):
    """Samples whose values are strings already: written as they are, with no look at their types.

    >>> class Words(paddle.distributed.fleet.MultiSlotStringDataGenerator):
    ...     def generate_sample(self, line):
    ...         return lambda: iter([[("words", ["10", "12"]), ("label", ["1"])]])
    """

    def _gen_str(self, line):
        return " ".join("%d %s" % (len(values), " ".join(values)) for _, values in _checked_sample(line)) + "\n"


class MultiSlotDataGenerator(DataGenerator):
    """Samples of whole numbers and floats. Slots keep their names and order; one float makes a slot a float slot.

    >>> class Words(paddle.distributed.fleet.MultiSlotDataGenerator):
    ...     def generate_sample(self, line):
    ...         return lambda: iter([[("words", [10, 12]), ("label", [1])]])
    """

    def _gen_str(self, line):
        sample = _checked_sample(line)
        if self._proto_info is None:
            self._proto_info = [(name, "uint64") for name, _ in sample]
        elif len(sample) != len(self._proto_info):
            raise ValueError("a sample has %d slots, the first one had %d" % (len(sample), len(self._proto_info)))
        parts = []
        for at, (name, values) in enumerate(sample):
            known, kind = self._proto_info[at]
            if name != known:
                raise ValueError("slot %d is %r, but it was %r in the first sample; the order of slots must not change" % (at, name, known))
            for value in values:
                if isinstance(value, float):
                    kind = "float"
                elif not hasattr(value, "__index__"):
                    raise ValueError("slot %r holds %r (%s), expected int or float" % (name, value, type(value).__name__))
            self._proto_info[at] = (name, kind)
            parts.append("%d %s" % (len(values), " ".join([str(v) if isinstance(v, float) else "%d" % v for v in values])))
        return " ".join(parts) + "\n"
