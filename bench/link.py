"""Two machines in one, with a slow network between them: network namespaces, a pair of veth, and a token bucket at each end. Needs root."""

import contextlib
import os
import subprocess

BURST = "128kb"  # of the bucket: a packet of the largest size fits
LATENCY = "50ms"  # that a packet may wait in it, before it is dropped as a switch would


def may_make_links():
    """Whether this process may: bench/run.py leaves the rows out where it may not."""
    name = f"bench-{os.getpid()}-probe"
    if subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode != 0:
        return False
    subprocess.run(["ip", "netns", "del", name], check=True, capture_output=True)
    return True


@contextlib.contextmanager
def link(megabits):
    """Gives (address, command that runs words there) of both machines, which reach each other at so many Mbit/s in each direction."""
    number = os.getpid() % 250
    addresses = [f"10.89.{number}.{i}" for i in (1, 2)]
    names = [f"bench-{os.getpid()}-{i}" for i in (1, 2)]
    cables = [f"bch{os.getpid() % 10**6}-{i}" for i in (1, 2)]

    def system(*words):
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"link: {' '.join(words)} ended with {done.returncode}: {done.stderr.strip()}; network namespaces need root")

    with contextlib.ExitStack() as stack:
        for name in names:
            system("ip", "netns", "add", name)
            stack.callback(system, "ip", "netns", "del", name)
        system("ip", "link", "add", cables[0], "type", "veth", "peer", "name", cables[1])
        for name, cable, address in zip(names, cables, addresses):
            system("ip", "link", "set", cable, "netns", name)
            system("ip", "-n", name, "addr", "add", f"{address}/24", "dev", cable)
            system("ip", "-n", name, "link", "set", cable, "up")
            system("ip", "-n", name, "link", "set", "lo", "up")
            system("tc", "-n", name, "qdisc", "add", "dev", cable, "root", "tbf", "rate", f"{megabits}mbit", "burst", BURST, "latency", LATENCY)
        yield [(address, ["ip", "netns", "exec", name]) for name, address in zip(names, addresses)]
