"""Where the files of data sets are."""

import glob
import hashlib
import os
import pickle

from argosy.errors import DataLossError

__all__ = ["DATA_HOME", "cluster_files_reader", "data_file", "download", "md5file", "split"]

DATA_HOME = os.path.expanduser("~/.cache/paddle/dataset")  # a script may set another folder


def data_file(dataset, name):
    """The path of a data set's file. One that is not there is an error that says where to put it.

    >>> paddle.dataset.common.data_file("mnist", "train-images-idx3-ubyte.gz")  # doctest: +SKIP
    '~/.cache/paddle/dataset/mnist/train-images-idx3-ubyte.gz'
    """
    path = os.path.join(DATA_HOME, dataset, name)
    if not os.path.isfile(path):
        raise FileNotFoundError("data set '%s' needs the file %s; put it there (nothing is downloaded here)" % (dataset, path))
    return path


def md5file(fname):
    """The MD5 sum of a file, as text.

    >>> with open("empty", "w") as file:
    ...     pass
    >>> paddle.dataset.common.md5file("empty")
    'd41d8cd98f00b204e9800998ecf8427e'
    """
    with open(fname, "rb") as file:
        return hashlib.file_digest(file, "md5").hexdigest()


def download(url, module_name, md5sum, save_name=None):
    """The path of the file of a URL in the cache folder, DATA_HOME/module_name, where it must lie already, with this MD5 sum; nothing is downloaded.

    >>> paddle.dataset.common.download("https://host/a.tgz", "mine", None)  # doctest: +SKIP
    '~/.cache/paddle/dataset/mine/a.tgz'
    """
    name = save_name or url.rsplit("/", 1)[-1].rsplit("%2F", 1)[-1]
    path = os.path.join(DATA_HOME, module_name, name)
    if not os.path.isfile(path):
        raise FileNotFoundError(f"data set '{module_name}' needs the file {path}, which is that of {url}; put it there (nothing is downloaded here)")
    found = None if md5sum is None else md5file(path)
    if found != md5sum:
        raise DataLossError(f"{path} has the MD5 sum {found}, expected {md5sum}; replace it by the file of {url}")
    return path


def split(reader, line_count, suffix="%05d.pickle", dumper=pickle.dump):
    """Writes the samples of a reader to files of line_count samples each, whose names are `suffix` of their numbers.

    >>> paddle.dataset.common.split(lambda: iter(range(5)), 2, "part-%d")
    >>> import glob
    >>> sorted(glob.glob("part-*"))
    ['part-0', 'part-1', 'part-2']
    """
    if "%" not in suffix:
        raise ValueError(f"split: suffix has the place of a number, such as '%05d.pickle'; found {suffix!r}")
    lines, index = [], 0
    for sample in reader():
        lines.append(sample)
        if len(lines) == line_count:
            _write(lines, suffix % index, dumper)
            lines, index = [], index + 1
    if lines:
        _write(lines, suffix % index, dumper)


def _write(lines, path, dumper):
    with open(path, "wb") as file:
        dumper(lines, file)


def cluster_files_reader(files_pattern, trainer_count, trainer_id, loader=pickle.load):
    """A reader of this trainer's share of the files that split() wrote: every trainer_count-th one. Load only files that you trust.

    >>> paddle.dataset.common.split(lambda: iter(range(5)), 2, "part-%d")
    >>> list(paddle.dataset.common.cluster_files_reader("part-*", trainer_count=2, trainer_id=0)())
    [0, 1, 4]
    """

    def reader():
        for index, path in enumerate(sorted(glob.glob(files_pattern))):
            if index % trainer_count == trainer_id:
                with open(path, "rb") as file:
                    yield from loader(file)

    return reader
