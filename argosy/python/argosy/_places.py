"""Files and folders by path or by URI (s3://bucket/key): what the functions that save and load ask of both."""

import contextlib
import mmap
import os
import tempfile

from argosy import _core
from argosy.errors import NotFoundError

__all__ = ["is_stored", "local", "split", "exists", "is_folder", "make_parent", "scratch_folder", "read", "written"]


def is_stored(path):
    """Whether it is an object of a store, and not of this machine."""
    return _core.is_store_uri(os.fspath(path))


def local(path):
    """A file: URI as a path; everything else as it is."""
    return _core.local_path(os.fspath(path))


def split(path):
    """(folder, last name), the folder of a path on this machine in full."""
    path = local(path)
    _core.check_place(path)
    return _core.split_uri(path) if is_stored(path) else os.path.split(os.path.abspath(path))


def join(folder, name):
    return _core.uri_child(folder, name) if is_stored(folder) else os.path.join(folder, name)


def exists(path):
    return _core.object_kind(path) != "none" if is_stored(path) else os.path.exists(local(path))


def is_folder(path):
    return _core.object_kind(path) == "folder" if is_stored(path) else os.path.isdir(local(path))


def make_parent(path):
    """The folder of a file that is to be written; stores have none to make."""
    if not is_stored(path):
        os.makedirs(split(path)[0], exist_ok=True)


def scratch_folder(path):
    """Where a temporary file lies that becomes the one at `path`."""
    return tempfile.gettempdir() if is_stored(path) else split(path)[0]


def read(path):
    """The bytes of a file."""
    if is_stored(path):
        return _core.read_file(path)
    try:
        with open(local(path), "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise NotFoundError(f"{path}: no such file") from None


@contextlib.contextmanager
def written(path):
    """A path of this machine for who can write to no other; what is there at the end is the file at `path`, an object of a store too."""
    path = os.fspath(path)
    split(path)  # refuses what is no place, before anything is written
    if not is_stored(path):
        yield local(path)
        return
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, split(path)[1])
        yield file
        with open(file, "rb") as made, mmap.mmap(made.fileno(), 0, access=mmap.ACCESS_READ) as whole:
            _core.write_file(path, whole)
