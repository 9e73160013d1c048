#!/usr/bin/env python3
"""What loopback TCP carries, by iperf3: one stream, SECONDS long. Prints {"mb_per_second": N}.

bench/peers/iperf.py SECONDS
"""

import json
import socket
import subprocess
import sys


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def measure(seconds):
    """Starts a server for one client, waits until it listens, and asks the client how fast it was."""
    port = str(free_port())
    server = subprocess.Popen(["iperf3", "-s", "-1", "-B", "127.0.0.1", "-p", port, "--forceflush"], stdout=subprocess.PIPE, text=True)
    try:
        while "listening" not in (line := server.stdout.readline()):
            if not line:
                sys.exit("iperf3's server ended before it listened")
        client = subprocess.run(["iperf3", "-c", "127.0.0.1", "-p", port, "-t", str(seconds), "-J"], capture_output=True, text=True, timeout=seconds + 30)
        return json.loads(client.stdout)["end"]["sum_received"]["bits_per_second"] / 8e6
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    print(json.dumps({"mb_per_second": measure(int(sys.argv[1]))}))
