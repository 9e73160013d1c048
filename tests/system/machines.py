"""Two machines in one, for tests of jobs on several."""

import contextlib
import os
import pathlib
import shutil
import subprocess


@contextlib.contextmanager
def two_machines(addresses=None, hosts=()):
    """Two network namespaces, with these addresses or 10.88.x.1 and 10.88.x.2, that see each other and nothing else. `hosts` are names by
    which they know each other."""
    number = os.getpid() % 250
    addresses = addresses or [f"10.88.{number}.{i}" for i in (1, 2)]
    names = [f"argosy-{os.getpid()}-{i}" for i in (1, 2)]
    cables = [f"arg{os.getpid() % 10**6}-{i}" for i in (1, 2)]

    def ip(*words):
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)

    with contextlib.ExitStack() as stack:
        for name in names:
            ip("netns", "add", name)
            stack.callback(ip, "netns", "del", name)
            if hosts:  # `ip netns exec` puts it over /etc/hosts
                folder = pathlib.Path("/etc/netns") / name
                folder.mkdir(parents=True)
                stack.callback(shutil.rmtree, folder)
                (folder / "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"{address} {host}\n" for address, host in zip(addresses, hosts)))
        ip("link", "add", cables[0], "type", "veth", "peer", "name", cables[1])
        for name, cable, address in zip(names, cables, addresses):
            ip("link", "set", cable, "netns", name)
            ip("-n", name, "addr", "add", f"{address}/24", "dev", cable)
            ip("-n", name, "link", "set", cable, "up")
            ip("-n", name, "link", "set", "lo", "up")
        yield [(address, ["ip", "netns", "exec", name]) for name, address in zip(names, addresses)]
