from argosy import *  # noqa: F403

from . import version as version

__version__: str
