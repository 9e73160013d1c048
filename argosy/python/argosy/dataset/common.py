"""Where the files of data sets are."""
import os

__all__ = ["DATA_HOME", "data_home", "data_file"]


def data_home():
    """~/.cache/paddle/dataset, of the home folder that the environment has now."""
    return os.path.join(os.path.expanduser("~"), ".cache", "paddle", "dataset")


DATA_HOME = data_home()


def data_file(dataset, name):
    """The path of a data set's file. One that is not there is an error that says where to put it."""
    path = os.path.join(data_home(), dataset, name)
    if not os.path.isfile(path):
        raise FileNotFoundError("data set '%s' needs the file %s; put it there (nothing is downloaded here)" % (dataset, path))
    return path
