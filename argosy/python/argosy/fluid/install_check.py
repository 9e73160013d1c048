"""Whether this installation can train."""

from argosy.utils.install_check import run_check

__all__ = ["run_check"]
