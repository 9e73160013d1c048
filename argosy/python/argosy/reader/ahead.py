"""Reading ahead, in threads."""

import collections
import threading
import warnings

__all__ = ["Ahead", "read_ahead"]

_PATIENCE = 10  # seconds that close() gives a generator to come to its next item


class Ahead:
    """An iterator over what several makers make, each in a thread of its own, at most `capacity` items early.

    A maker is a function that returns an iterable. The exception of any of them ends all and is raised by every next() from then
    on. close() ends the threads: each at its next item, since nothing can stop a generator in the middle of its own work.
    Thread-safe.
    """

    def __init__(self, makers, capacity, name="reader"):
        self._capacity = max(1, capacity)
        self._items = collections.deque()
        self._changed = threading.Condition()
        self._running, self._closed, self._error = len(makers), False, None
        self._threads = [threading.Thread(target=self._body, args=(make,), name=name, daemon=True) for make in makers]
        for thread in self._threads:
            thread.start()

    def _put(self, item):
        with self._changed:
            self._changed.wait_for(lambda: self._closed or len(self._items) < self._capacity)
            if not self._closed:
                self._items.append(item)
                self._changed.notify_all()
            return not self._closed

    def _body(self, make):
        error = None
        try:
            for item in make():
                if not self._put(item):
                    break
        except BaseException as raised:  # the consumer of the next item gets it
            error = raised
        with self._changed:
            self._running -= 1
            if error is not None and self._error is None:
                self._error, self._closed = error, True
            self._changed.notify_all()

    def __iter__(self):
        return self

    def __next__(self):
        with self._changed:
            self._changed.wait_for(lambda: self._items or self._closed or not self._running)
            if self._items:
                self._changed.notify_all()
                return self._items.popleft()
            if self._error is not None:
                raise self._error
            raise StopIteration

    def waiting(self):
        """How many items were made and not taken yet."""
        with self._changed:
            return len(self._items)

    def close(self, patience=_PATIENCE):
        with self._changed:
            self._closed = True
            self._items.clear()
            self._changed.notify_all()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(patience)
        if patience and any(thread.is_alive() for thread in self._threads):
            warnings.warn(f"a reader did not come to its next item within {patience:g} s; its thread goes on until it does", RuntimeWarning, stacklevel=2)


def read_ahead(makers, capacity):
    """A generator over an Ahead, which it closes when it ends or is dropped."""
    ahead = Ahead(makers, capacity)
    try:
        yield from ahead
    finally:
        ahead.close()
