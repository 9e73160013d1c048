"""program._fleet_opt: what scripts say of a program that a job trains."""

from argosy.errors import InvalidArgumentError

__all__ = ["ProgramOptions"]

_DUMPS = ("dump_fields_path", "dump_fields", "dump_param")


class ProgramOptions(dict):
    """A dict. stat_var_names, the states of metrics, are for the script: a run adds them up in each worker, and fleet.metrics over all of them."""

    def __setitem__(self, name, value):
        if name in _DUMPS and value:
            raise InvalidArgumentError(f"_fleet_opt['{name}'] = {value!r}: workers write no fields and parameters of batches to files; fetch them instead")
        if name not in (*_DUMPS, "stat_var_names"):
            raise InvalidArgumentError(f"_fleet_opt has {', '.join((*_DUMPS, 'stat_var_names'))}; found {name!r}")
        super().__setitem__(name, value)


def get(self):
    """What a script has said of the program; nothing at first."""
    return vars(self).setdefault("_options", ProgramOptions())


def put(self, given):
    """Another dict of options."""
    made = vars(self)["_options"] = ProgramOptions()
    for name, value in given.items():
        made[name] = value
