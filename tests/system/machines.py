"""Two machines in one, for tests of jobs on several."""
import contextlib
import os
import subprocess


@contextlib.contextmanager
def two_machines():
    """Two network namespaces, 10.88.x.1 and 10.88.x.2, that see each other and nothing else."""
    number = os.getpid() % 250
    names = [f"argosy-{os.getpid()}-{i}" for i in (1, 2)]
    cables = [f"arg{os.getpid() % 10**6}-{i}" for i in (1, 2)]

    def ip(*words):
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)

    with contextlib.ExitStack() as stack:
        for name in names:
            ip("netns", "add", name)
            stack.callback(ip, "netns", "del", name)
        ip("link", "add", cables[0], "type", "veth", "peer", "name", cables[1])
        for i, (name, cable) in enumerate(zip(names, cables), 1):
            ip("link", "set", cable, "netns", name)
            ip("-n", name, "addr", "add", f"10.88.{number}.{i}/24", "dev", cable)
            ip("-n", name, "link", "set", cable, "up")
            ip("-n", name, "link", "set", "lo", "up")
        yield [(f"10.88.{number}.{i}", ["ip", "netns", "exec", name]) for i, name in enumerate(names, 1)]
