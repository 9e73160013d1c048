"""Programs of collective jobs."""
from argosy.errors import UnimplementedError

__all__ = ["share"]


def share(main, startup, options):
    """Makes `main`, which minimize() has completed, a program of this process's job."""
    raise UnimplementedError("minimize() of a program in a collective job is not part of this version; the dynamic graph has distributed_model()")
