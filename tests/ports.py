"""Ports for tests that run beside each other."""

import collections
import contextlib
import random
import socket

# Below those of outgoing connections and those that fleetrun finds by itself: neither takes one between the look and the use.
FIRST, END = 7000, 10000
HELD = 64  # more than one test needs; those before belong to tests that are over

_held = collections.deque()


def free_range(count):
    """The first of `count` consecutive ports that nobody uses, and that no test of this machine will be given for a while."""
    while True:
        first = random.randrange(FIRST, END - count)
        with contextlib.ExitStack() as names, contextlib.ExitStack() as probes, contextlib.suppress(OSError):
            claimed = [names.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(count)]
            for port, name in enumerate(claimed, first):
                name.bind(f"\0argosy-tests-port-{port}")  # one process of the machine has this name, until it closes it or ends
                probes.enter_context(socket.socket()).bind(("127.0.0.1", port))
            names.pop_all()
            _held.extend(claimed)
            while len(_held) > HELD:
                _held.popleft().close()
            return first
