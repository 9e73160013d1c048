"""paddle.batch."""

__all__ = ["batch"]


def batch(reader, batch_size, drop_last=False):
    """A reader of lists of `batch_size` samples from a reader of samples; the last list may be shorter, or is dropped.

    >>> list(paddle.batch(lambda: iter([1, 2, 3]), 2)())
    [[1, 2], [3]]
    """
    if int(batch_size) != batch_size or batch_size <= 0:
        raise ValueError("batch_size is %r, expected a whole number above 0" % (batch_size,))

    def batches():
        samples = []
        for sample in reader():
            samples.append(sample)
            if len(samples) == batch_size:
                yield samples
                samples = []
        if samples and not drop_last:
            yield samples

    return batches
