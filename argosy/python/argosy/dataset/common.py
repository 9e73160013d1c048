"""Where the files of data sets are."""
import os

__all__ = ["DATA_HOME", "data_file"]

DATA_HOME = os.path.expanduser("~/.cache/paddle/dataset")  # a script may set another folder


def data_file(dataset, name):
    """The path of a data set's file. One that is not there is an error that says where to put it."""
    path = os.path.join(DATA_HOME, dataset, name)
    if not os.path.isfile(path):
        raise FileNotFoundError("data set '%s' needs the file %s; put it there (nothing is downloaded here)" % (dataset, path))
    return path
