"""What launchers ask of the machine."""

import contextlib
import socket

__all__ = ["find_free_ports", "get_host_name_ip"]


def find_free_ports(num):
    """A set of `num` ports that nothing listens on at the moment.

    >>> from paddle.distributed.utils.launch_utils import find_free_ports
    >>> len(find_free_ports(3))
    3
    """
    with contextlib.ExitStack() as stack:  # all are held until all are found, so that none is found twice
        held = [stack.enter_context(socket.socket()) for _ in range(num)]
        for one in held:
            one.bind(("", 0))
        return {one.getsockname()[1] for one in held}


def get_host_name_ip():
    """(host name, IP address) of this machine; None where its name has no address.

    >>> from paddle.distributed.utils.launch_utils import get_host_name_ip
    >>> name, address = get_host_name_ip()  # doctest: +SKIP
    """
    try:
        name = socket.gethostname()
        return name, socket.gethostbyname(name)
    except OSError:
        return None
