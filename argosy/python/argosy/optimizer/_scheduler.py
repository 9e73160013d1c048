"""What a script's own learning rates and those of argosy.optimizer.lr have in common. Light: without torch and NumPy."""

from argosy.errors import InvalidArgumentError


class LRScheduler:
    """The rate after `last_epoch` calls of step(). A subclass gives get_lr().

    >>> class Halves(paddle.optimizer.lr.LRScheduler):
    ...     def get_lr(self):
    ...         return self.base_lr / 2 ** self.last_epoch
    >>> rate = Halves(0.8)
    >>> rate.step()
    >>> rate()
    0.4
    """

    _state = ("last_epoch", "last_lr")

    def __init__(self, learning_rate=0.1, last_epoch=-1, verbose=False):
        if isinstance(learning_rate, bool) or not isinstance(learning_rate, (int, float)) or learning_rate < 0:
            raise InvalidArgumentError(f"{type(self).__name__}: learning_rate is a number, 0 or more; found {learning_rate!r}")
        self.base_lr = self.last_lr = float(learning_rate)
        self.last_epoch = last_epoch
        self.verbose = verbose
        self.step()

    def __call__(self):
        return self.last_lr

    def get_lr(self):
        raise NotImplementedError(f"{type(self).__name__} has no get_lr(); a scheduler computes its rate there from last_epoch")

    def step(self, epoch=None):
        """Moves on by one, or to `epoch`."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self.last_lr = self.get_lr()
        self._report()

    def _report(self):
        if self.verbose:
            print(f"Epoch {self.last_epoch}: {type(self).__name__} set learning rate to {self.last_lr}.")

    def state_dict(self):
        return {key: getattr(self, key) for key in self._state}

    def set_state_dict(self, state_dict):
        missing = [key for key in self._state if key not in state_dict]
        if missing:
            raise InvalidArgumentError(f"{type(self).__name__}: the state lacks {', '.join(missing)}")
        for key in self._state:
            setattr(self, key, state_dict[key])

    set_dict = set_state_dict
