"""Looking at variables while a run over a dataset goes on."""

from argosy.errors import InvalidArgumentError

__all__ = ["FetchHandler"]


class FetchHandler:
    """Its handler() is called every `period_secs` of a run over a dataset with the values of var_dict, {key: variable}, after a batch.

    Derive from it to do something else than print them.

    >>> class Watch(fluid.executor.FetchHandler):
    ...     def handler(self, res_dict):
    ...         print(res_dict["loss"])
    """

    def __init__(self, var_dict=None, period_secs=60):
        if not isinstance(var_dict, dict) or not var_dict:
            raise InvalidArgumentError(f"FetchHandler: var_dict is a dict from keys to variables; found {var_dict!r}")
        if not period_secs >= 0:
            raise InvalidArgumentError(f"FetchHandler: period_secs={period_secs}: expected a number of seconds")
        self.var_dict = var_dict
        self.period_secs = period_secs

    def handler(self, res_dict):
        """Prints the first element of each value."""
        print(" ".join(f"{key}[0]: {value.ravel()[0]}" for key, value in res_dict.items() if value.size), flush=True)

    @staticmethod
    def help():
        """Prints how to write one."""
        print(FetchHandler.__doc__)
