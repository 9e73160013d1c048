"""What argosy raises: one class for each kind of failure, each also the built-in exception that fits it best."""


class Error(RuntimeError):
    """Any failure that argosy reports: the base of the classes below, each of which is also the built-in exception that fits it.

    >>> try:
    ...     paddle.ones([2]).reshape([3])
    ... except (paddle.errors.Error, RuntimeError) as error:
    ...     print("refused")
    refused
    """

    code = 2

    def __str__(self):
        return str(self.args[0]) if self.args else ""


class CancelledError(Error):
    """The work was given up before it was done.

    >>> issubclass(paddle.errors.CancelledError, paddle.errors.Error)
    True
    """

    code = 1


class UnknownError(Error):
    """A failure of which nothing more is known.

    >>> issubclass(paddle.errors.UnknownError, paddle.errors.Error)
    True
    """

    code = 2


class InvalidArgumentError(Error, ValueError, TypeError):
    """An argument has a value, or a type, that cannot be used. Also a ValueError and a TypeError: PaddlePaddle raises now one, now the other.

    >>> try:
    ...     F.mse_loss(paddle.ones([1]), paddle.ones([1]), reduction="most")
    ... except ValueError as error:
    ...     print(error)
    reduction is 'mean', 'sum' or 'none'; found 'most'
    """

    code = 3


class DeadlineExceededError(Error, TimeoutError):
    """Something did not happen in the time that it had. Also a TimeoutError.

    >>> issubclass(paddle.errors.DeadlineExceededError, TimeoutError)
    True
    """

    code = 4


class NotFoundError(Error, FileNotFoundError, KeyError):
    """A file, a variable or another thing that was named is not there. Also a FileNotFoundError and a KeyError.

    >>> try:
    ...     paddle.jit.load("nowhere")
    ... except FileNotFoundError as error:
    ...     print(error)
    jit.load: nowhere.pt: no such file, and no nowhere.pdmodel; jit.save writes them
    """

    code = 5


class AlreadyExistsError(Error, FileExistsError):
    """What is to be made is there already. Also a FileExistsError.

    >>> issubclass(paddle.errors.AlreadyExistsError, FileExistsError)
    True
    """

    code = 6


class PermissionDeniedError(Error, PermissionError):
    """It is not allowed. Also a PermissionError.

    >>> issubclass(paddle.errors.PermissionDeniedError, PermissionError)
    True
    """

    code = 7


class ResourceExhaustedError(Error, MemoryError):
    """Memory, space or another limit is used up. Also a MemoryError.

    >>> issubclass(paddle.errors.ResourceExhaustedError, MemoryError)
    True
    """

    code = 8


class FailedPreconditionError(Error):
    """Something must be done first, which the message names.

    >>> paddle.enable_static()
    >>> try:
    ...     paddle.DataParallel(nn.Linear(2, 1))
    ... except paddle.errors.FailedPreconditionError:
    ...     paddle.disable_static()
    """

    code = 9


class AbortedError(Error):
    """Another part of the job has failed, and this one with it.

    >>> issubclass(paddle.errors.AbortedError, paddle.errors.Error)
    True
    """

    code = 10


class OutOfRangeError(Error, IndexError):
    """A position lies outside of what is there. Also an IndexError.

    >>> try:
    ...     paddle.take(paddle.ones([2]), paddle.to_tensor([5]))
    ... except IndexError:
    ...     print("outside")
    outside
    """

    code = 11


class UnimplementedError(Error, NotImplementedError):
    """It cannot be done here. Also a NotImplementedError.

    >>> issubclass(paddle.errors.UnimplementedError, NotImplementedError)
    True
    """

    code = 12


class InternalError(Error):
    """A mistake of argosy itself; please report it.

    >>> issubclass(paddle.errors.InternalError, paddle.errors.Error)
    True
    """

    code = 13


class UnavailableError(Error, ConnectionError):
    """A server or another process does not answer. Also a ConnectionError.

    >>> issubclass(paddle.errors.UnavailableError, ConnectionError)
    True
    """

    code = 14


class DataLossError(Error):
    """A file or a message is damaged.

    >>> issubclass(paddle.errors.DataLossError, paddle.errors.Error)
    True
    """

    code = 15


class UnauthenticatedError(Error, PermissionError):
    """The other side did not show that it belongs to the job. Also a PermissionError.

    >>> issubclass(paddle.errors.UnauthenticatedError, PermissionError)
    True
    """

    code = 16


class EOFException(Error):
    """A reader that is started by hand has no more batches.

    >>> fluid.core.EOFException is paddle.errors.EOFException
    True
    """

    code = OutOfRangeError.code


BY_CODE = {kind.code: kind for kind in Error.__subclasses__() if kind is not EOFException}
