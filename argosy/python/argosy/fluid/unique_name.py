"""Generated names: fc_0, fc_1, …"""

import contextlib

from argosy import _core
from argosy.errors import InvalidArgumentError

__all__ = ["generate", "switch", "guard"]


def generate(key):
    """`key` with the number of calls for it so far.

    >>> fluid.unique_name.generate("fc"), fluid.unique_name.generate("fc")
    ('fc_0', 'fc_1')
    """
    return _core.unique_name(key)


def switch(new_generator=None):
    """Makes the next names come from `new_generator` (a fresh one where None); returns the one before.

    >>> before = fluid.unique_name.switch()
    >>> fluid.unique_name.generate("fc")
    'fc_0'
    >>> fresh = fluid.unique_name.switch(before)
    """
    return _core.switch_unique_names(_core.UniqueNames() if new_generator is None else new_generator)


@contextlib.contextmanager
def guard(new_generator=None):
    """Names start anew inside. A text is put before all of them.

    >>> with fluid.unique_name.guard("model/"):
    ...     fluid.unique_name.generate("fc")
    'model/fc_0'
    """
    if isinstance(new_generator, bytes):
        new_generator = new_generator.decode()
    if isinstance(new_generator, str):
        new_generator = _core.UniqueNames(new_generator)
    if new_generator is not None and not isinstance(new_generator, _core.UniqueNames):
        raise InvalidArgumentError(f"unique_name.guard takes a prefix or what switch() returned; found {type(new_generator).__name__}")
    before = switch(new_generator)
    try:
        yield
    finally:
        switch(before)
