"""What sends gradients to servers in 1.x; fleet.init_worker() has taken its place."""

from argosy.errors import UnimplementedError

__all__ = ["Communicator"]


class Communicator:
    """An error that names its substitute: a worker's sending and receiving begins with fleet.init_worker() and ends with fleet.stop_worker().

    >>> try:
    ...     fluid.communicator.Communicator(fluid.default_main_program())
    ... except NotImplementedError as error:
    ...     print(str(error).split(":")[0])
    fluid.communicator.Communicator
    """

    def __init__(self, program, mode=None, kwargs=None, envs=None):
        raise UnimplementedError(
            "fluid.communicator.Communicator: fleet.init_worker() starts what sends and receives, in the strategy's mode, and fleet.stop_worker() ends it; "
            "queue sizes and merging are FLAGS_communicator_* in the environment"
        )
