"""Checkpoints of collective jobs: model, optimizer and the position in the data, in one file that rank 0 writes and that appears whole or not at all.

The file is one of paddle.save: {"model": …, "optimizer": …, "sampler": …}.
"""

import io
import os

from argosy import _core, _places
from argosy.distributed import job
from argosy.errors import DataLossError, Error, InvalidArgumentError, NotFoundError, UnavailableError
from argosy.fluid import state_file
from argosy.framework import io as files

__all__ = ["save", "load"]


def save(model, optimizer, path, sampler=None):
    """Every process calls it; rank 0 writes. A launcher that starts the job again does so from the last one. Returns when the file is there."""
    world, failure = job.world(), b""
    if world.rank == 0:
        try:
            parts = {"model": dict(model.state_dict()), "optimizer": optimizer.state_dict(), "sampler": None if sampler is None else sampler.state_dict()}
            files.save(parts, path)
            _core.note_checkpoint(os.fspath(path) if _places.is_stored(path) else os.path.abspath(_places.local(path)))
        except Exception as error:  # the others must not go on as if it were there
            failure = f"checkpoint '{path}': {error}".encode()
    failure = world.broadcast_bytes(failure, 0)
    if failure:
        raise UnavailableError(failure.decode())


def _told_by_the_first(world, path):
    """The bytes of the file on rank 0's machine; the same error on all ranks where there is none."""
    message = b""
    if world.rank == 0:
        try:
            message = b"+" + _places.read(path)
        except (OSError, Error) as error:
            message = b"-" + str(error).encode()
    message = world.broadcast_bytes(message, 0)
    if message[:1] != b"+":
        raise NotFoundError(f"checkpoint: {message[1:].decode()}")
    return message[1:]


def load(model, optimizer, path="", sampler=None):
    """Every process calls it; rank 0 reads and tells the others. Without a path it is the checkpoint that the launcher goes on from (ARGOSY_RESUME);
    False, and nothing changed, where there is none."""
    path = os.fspath(path) or _core.checkpoint_to_resume()
    if not path or job.world().generation == 0:  # 0: another process's model is copied by train_steps()
        return False
    found = state_file.loads(io.BytesIO(_told_by_the_first(job.world(), path)), f"{path}: not a checkpoint", "latin1")
    parts = files.tensors_of(found)
    if not isinstance(parts, dict) or set(parts) != {"model", "optimizer", "sampler"}:
        raise DataLossError(f"{path}: not a checkpoint, which has a model, an optimizer and a sampler")
    own = {name: list(one.shape) for name, one in model.state_dict().items()}
    found = {name: list(one.shape) for name, one in parts["model"].items()}
    if own != found:
        wrong = sorted(name for name in own.keys() | found.keys() if own.get(name) != found.get(name))[0]
        raise InvalidArgumentError(
            f"checkpoint '{path}' does not fit the model: '{wrong}' has shape {found.get(wrong, '(none)')} there, and here {own.get(wrong, '(none)')}"
        )
    model.set_state_dict(parts["model"])
    optimizer.set_state_dict(parts["optimizer"])
    if sampler is not None and parts["sampler"] is not None:
        sampler.set_state_dict(parts["sampler"])
    return True
