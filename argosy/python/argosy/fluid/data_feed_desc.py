"""1.x's description of a text feed, which a dataset's set_use_var() has taken the place of."""

from argosy.errors import UnimplementedError

__all__ = ["DataFeedDesc"]


class DataFeedDesc:
    """An error that names its substitute: a dataset has the slots of its variables.

    >>> try:
    ...     fluid.DataFeedDesc("data.proto")
    ... except NotImplementedError as error:
    ...     print(str(error).split(":")[0])
    fluid.DataFeedDesc
    """

    def __init__(self, proto_file):
        raise UnimplementedError(
            f"fluid.DataFeedDesc: {proto_file}: the AsyncExecutor that took such a description is not here; "
            "fluid.DatasetFactory().create_dataset('QueueDataset') with set_use_var(), set_batch_size() and set_pipe_command() says the same, "
            "and Executor.train_from_dataset() trains on it; dataset.desc() shows it in this form"
        )
