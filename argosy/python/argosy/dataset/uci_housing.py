"""Boston housing: 13 features, each scaled by its range around its mean, and a price."""

from .common import data_file

__all__ = ["feature_names", "train", "test"]

feature_names = ["CRIM", "ZN", "INDUS", "CHAS", "NOX", "RM", "AGE", "DIS", "RAD", "TAX", "PTRATIO", "B", "LSTAT"]
_FEATURES = len(feature_names)
_TRAIN_SHARE = 0.8


def _rows():
    import numpy as np

    path = data_file("uci_housing", "housing.data")
    numbers = np.fromfile(path, sep=" ")
    if numbers.size == 0 or numbers.size % (_FEATURES + 1):
        raise ValueError("%s holds %d numbers, expected rows of %d" % (path, numbers.size, _FEATURES + 1))
    rows = numbers.reshape(-1, _FEATURES + 1)
    features = rows[:, :_FEATURES]
    span = features.max(0) - features.min(0)
    if not span.all():
        raise ValueError("%s: feature %s has the same value in every row" % (path, feature_names[int((span == 0).argmax())]))
    rows[:, :_FEATURES] = (features - features.mean(0)) / span
    return rows


def _reader(part):
    def read():
        rows = _rows()
        cut = int(len(rows) * _TRAIN_SHARE)
        for row in rows[:cut] if part == "train" else rows[cut:]:
            yield row[:_FEATURES], row[_FEATURES:]

    return read


def train():
    """A reader of (13 floats, [price]) of the first four fifths of the houses.

    >>> features, price = next(paddle.dataset.uci_housing.train()())  # doctest: +SKIP
    """
    return _reader("train")


def test():
    """A reader of (13 floats, [price]) of the last fifth of the houses.

    >>> features, price = next(paddle.dataset.uci_housing.test()())  # doctest: +SKIP
    """
    return _reader("test")
