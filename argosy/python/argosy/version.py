"""The version of this distribution."""

import importlib.metadata
import pathlib

__all__ = ["__version__", "version"]


def _of_checkout():
    """The version of the checkout whose build folder this is run from, through the links of tools/link_packages.py."""
    file = pathlib.Path(__file__).resolve().parents[3] / "VERSION"
    return file.read_text().strip() if file.is_file() else None


version = __version__ = _of_checkout() or importlib.metadata.version("argosy")
