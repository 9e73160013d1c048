"""2.6's name for what is left of fluid."""

from argosy import fluid


def __getattr__(name):
    return getattr(fluid, name)
