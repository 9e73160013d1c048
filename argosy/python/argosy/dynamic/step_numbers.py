"""What a loop that trains in the dynamic graph shows of itself: samples, loss, and how far the pass is. A step is a backward() after a loader's batch."""

import time

from argosy import _core

_LOSS_SECONDS = 0.25  # between two looks at the loss, which may have to wait for a device


class _Shown:
    samples = 0  # of the batch that a loader gave last and no step has taken
    ratio = None  # of the pass, with that batch
    since = 0.0  # when it was given
    next_loss = 0.0


_shown = _Shown()


def batch_given(samples, ratio):
    """A loader hands a batch out; ratio, None where it is not known, is how much of the pass it ends."""
    if _core.is_observed():
        _shown.samples, _shown.ratio, _shown.since = samples, ratio, time.monotonic()


def step_done(loss):
    """backward() of this torch tensor has ended. Only the first one after a batch counts the batch's samples."""
    if not _core.is_observed():
        return
    now = time.monotonic()
    if _shown.samples:
        _core.show_step(_shown.samples, now - _shown.since, _shown.ratio)
        _shown.samples = 0
    if now >= _shown.next_loss and loss.numel() == 1:
        _shown.next_loss = now + _LOSS_SECONDS
        _core.show_measure("loss", float(loss.detach()))
