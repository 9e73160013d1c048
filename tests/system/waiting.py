"""Waiting for what other processes do."""
import time


def wait_for(condition, seconds=60):
    """What the condition gives, once that is true."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found
