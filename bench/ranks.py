"""Runs a command as several ranks of one job on this machine, with the variables that torchrun sets; prints what rank 0 prints.

ranks.py COUNT COMMAND…
"""

import os
import random
import subprocess
import sys

SECONDS = 240


def main():
    count, command = int(sys.argv[1]), sys.argv[2:]
    common = dict(os.environ, MASTER_ADDR="127.0.0.1", MASTER_PORT=str(random.randrange(20000, 30000)), WORLD_SIZE=str(count), LOCAL_WORLD_SIZE=str(count))
    ranks = [
        subprocess.Popen(command, env=dict(common, RANK=str(rank), LOCAL_RANK=str(rank)), stdout=None if rank == 0 else subprocess.DEVNULL)
        for rank in range(count)
    ]
    try:
        return max(rank.wait(SECONDS) for rank in ranks)
    finally:
        for rank in ranks:
            rank.kill()


sys.exit(main())
