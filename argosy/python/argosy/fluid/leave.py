"""How a worker that forgets to say goodbye leaves its job when the script ends."""
import atexit
import sys

from argosy import _core

_SECONDS = 60  # to flush what is queued and tell the servers; nobody waits longer for a process that has done its work

_connections = []
_failed = False


def at_exit(connection):
    """When the script ends without an exception, a connection that is still open is closed: what was learned reaches the servers,
    and nobody waits for this worker any more. After an exception nothing is sent: the servers find out by its silence."""
    if not _connections:
        _watch_exceptions()
        atexit.register(_leave)
    _connections.append(connection)


def _watch_exceptions():
    before = sys.excepthook

    def note(kind, error, trace):
        global _failed
        _failed = True
        before(kind, error, trace)

    sys.excepthook = note


def _leave():
    for connection in _connections:
        if _failed or not connection.connected():
            continue
        try:
            connection.close(_SECONDS)
        except Exception as error:
            _core.log_warning(f"leaving the job at the script's end: {error}")
