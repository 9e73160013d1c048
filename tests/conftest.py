"""What every Python test shares."""
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root():
    """The checkout's root."""
    return ROOT
