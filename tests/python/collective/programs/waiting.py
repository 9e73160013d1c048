"""Rank 0 waits for rank 1 in the call that is named; rank 1 comes when its standard input ends, and then not to that call."""

import sys

import paddle
import paddle.distributed as dist

dist.init_parallel_env()
if dist.get_rank() == 1:
    sys.stdin.read()
    sys.exit(0)
call = {"recv": lambda receive=dist.recv: receive(paddle.zeros([2]), 1), "barrier": dist.barrier}[sys.argv[1]]
try:
    print("waiting", flush=True)
    call()
except KeyboardInterrupt:
    print("interrupted", flush=True)
