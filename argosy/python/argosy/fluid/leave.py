"""How a worker that forgets to say goodbye leaves its job when the script ends."""

import atexit
import sys

_connections = []
_failure = None


def at_exit(connection):
    """A connection that is still open when the script ends is closed by the core, which knows the exit status: with 0 what was
    learned reaches the servers, with another one they learn that this worker has failed. An exception that nobody catches is told
    to them here, by its name: Python ends by a signal of its own after Ctrl-C."""
    connection.leave_at_exit()
    if not _connections:
        _watch_exceptions()
        atexit.register(_tell_failure)
    _connections.append(connection)


def connections():
    """Of this process, those that were made until now."""
    return list(_connections)


def _watch_exceptions():
    before = sys.excepthook

    def note(kind, error, trace):
        global _failure
        _failure = kind.__name__
        before(kind, error, trace)

    sys.excepthook = note


def _tell_failure():
    for connection in _connections if _failure else ():
        if connection.connected():
            connection.fail(f"ended by {_failure}")
