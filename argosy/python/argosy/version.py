"""The version of this distribution."""
import importlib.metadata

__all__ = ["version"]

try:
    version = importlib.metadata.version("argosy")
except importlib.metadata.PackageNotFoundError:  # run from a build folder
    version = "0+build"
