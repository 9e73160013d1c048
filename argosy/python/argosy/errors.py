"""What argosy raises: one class for each kind of failure, each also the built-in exception that fits it best."""


class Error(RuntimeError):
    """Any failure that argosy reports."""

    code = 2

    def __str__(self):
        return str(self.args[0]) if self.args else ""


class CancelledError(Error):
    code = 1


class UnknownError(Error):
    code = 2


class InvalidArgumentError(Error, ValueError):
    code = 3


class DeadlineExceededError(Error, TimeoutError):
    code = 4


class NotFoundError(Error, FileNotFoundError, KeyError):
    code = 5


class AlreadyExistsError(Error, FileExistsError):
    code = 6


class PermissionDeniedError(Error, PermissionError):
    code = 7


class ResourceExhaustedError(Error, MemoryError):
    code = 8


class FailedPreconditionError(Error):
    code = 9


class AbortedError(Error):
    code = 10


class OutOfRangeError(Error, IndexError):
    code = 11


class UnimplementedError(Error, NotImplementedError):
    code = 12


class InternalError(Error):
    code = 13


class UnavailableError(Error, ConnectionError):
    code = 14


class DataLossError(Error):
    code = 15


class UnauthenticatedError(Error, PermissionError):
    code = 16


class EOFException(Error):
    """A reader that is started by hand has no more batches."""

    code = OutOfRangeError.code


BY_CODE = {kind.code: kind for kind in Error.__subclasses__() if kind is not EOFException}
