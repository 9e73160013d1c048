"""Settings with names."""

__all__ = ["Settings"]


class Settings:
    """Attributes with defaults, of which a subclass has a table. A name that is not in it is an error, so that a slip of the pen
    does not go unnoticed."""

    _fields = {}

    def __init__(self):
        vars(self).update(self._fields)

    def __setattr__(self, name, value):
        if name not in self._fields:
            raise AttributeError(f"{type(self).__name__} has no setting '{name}'; it has {', '.join(self._fields)}")
        vars(self)[name] = value
