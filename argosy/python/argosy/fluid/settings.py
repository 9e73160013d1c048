"""Settings with names."""

import warnings
from typing import TYPE_CHECKING, Any

__all__ = ["Settings"]


class Settings:
    """Attributes with defaults, of which a subclass has a table. A name that is not in it is an error, so that a slip of the pen
    does not go unnoticed; so is a value that nothing would honour. A hint, which changes how fast something is and not what comes of it, is kept, and
    one line says that it changes nothing here."""

    _fields: dict[str, Any] = {}
    _fixed: dict[str, str] = {}  # field -> why it keeps its default
    _hints: dict[str, str] = {}  # field -> why it changes nothing

    if TYPE_CHECKING:  # the fields

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self):
        vars(self).update(self._fields)

    def __setattr__(self, name, value):
        if name not in self._fields:
            raise AttributeError(f"{type(self).__name__} has no setting '{name}'; it has {', '.join(self._fields)}")
        if name in self._fixed and value != self._fields[name]:
            raise ValueError(f"{type(self).__name__}.{name} = {value!r}: {self._fixed[name]}; leave it at {self._fields[name]!r}")
        if name in self._hints and value != self._fields[name]:
            warnings.warn(f"{type(self).__name__}.{name} = {value!r} changes nothing: {self._hints[name]}", stacklevel=3)
        vars(self)[name] = value

    def _update(self, values):
        """Sets what a dict names."""
        for name, value in values.items():
            setattr(self, name, value)
