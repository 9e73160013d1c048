"""A worker dies between the two servers of its last push, in a synchronous job with on_worker_loss=shrink: the step counts on both or on none.

The worker that is left finds it out by its heartbeats. The one that is killed reaches server 1 through a proxy which holds back what it is told to.
"""

import json
import re
import selectors
import signal
import socket
import threading

import pytest

from ports import free_range
from ps_job import until

# One dense parameter, a half of it on each server, and small enough to be sent before the server has answered anything. A step adds the mean of the workers' scales to it.
SCRIPT = """
import json, os, sys, time
import numpy as np
import paddle
import paddle.fluid as fluid
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet

paddle.enable_static()
fleet.init(role_maker.PaddleCloudRoleMaker())
scale = fluid.layers.data('scale', [1], append_batch_size=False)
w = fluid.layers.create_parameter([20000], 'float32', name='w', default_initializer=fluid.initializer.Constant(0.0))
loss = -fluid.layers.reduce_sum(fluid.layers.elementwise_mul(w, scale))
fleet.distributed_optimizer(fluid.optimizer.SGD(1.0)).minimize(loss)
if fleet.is_server():
    fleet.run_server()
    sys.exit(0)
exe = fluid.Executor(fluid.CPUPlace())
exe.run(fluid.default_startup_program())


def step(by):
    exe.run(fluid.default_main_program(), feed={'scale': np.array([by], 'float32')})


def wait_for(name):
    while not os.path.exists(name): time.sleep(0.02)


for i in range(3): step(1)
if fleet.worker_index() == 1:
    open('ready', 'w')
    wait_for('go')
    step(5)
    sys.exit('the step must not end')
wait_for('go')
while [server.pushes for server in fleet.server_stats()] != EXPECTED: time.sleep(0.02)
open('pushed', 'w')
wait_for('killed')
step(1)
fleet.barrier_worker()
print('w', np.unique(np.asarray(fluid.global_scope().find_var('w').get_tensor())).tolist())
print('ledger', json.dumps(fleet.ledger()))
fleet.stop_worker()
"""


class Proxy(threading.Thread):
    """Passes bytes on to a port, and from it; what comes in a direction that is held goes nowhere."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.target, self.held, self.ended = port, None, False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.start()

    def run(self):
        with selectors.DefaultSelector() as selector, self.listener:
            selector.register(self.listener, selectors.EVENT_READ)
            while not self.ended:
                for key, _ in selector.select(0.05):
                    if key.data is None:
                        self.accept(selector)
                    else:
                        self.pass_on(selector, key.fileobj, *key.data)
            for key in list(selector.get_map().values()):
                key.fileobj.close()

    def accept(self, selector):
        near = self.listener.accept()[0]
        try:
            far = socket.create_connection(("127.0.0.1", self.target))
        except ConnectionRefusedError:  # the server does not listen yet, and the worker tries again
            near.close()
            return
        selector.register(near, selectors.EVENT_READ, ("requests", far))
        selector.register(far, selectors.EVENT_READ, ("answers", near))

    def pass_on(self, selector, source, direction, to):
        try:
            data = source.recv(1 << 16)
            if data and self.held != direction:
                to.sendall(data)
        except OSError:
            data = b""
        if not data:
            for end in (source, to):
                if end.fileno() >= 0 and end in selector.get_map():
                    selector.unregister(end)
                end.close()


@pytest.fixture
def proxied(job):
    """A job of two servers and two workers, the second of which reaches server 1 through the proxy."""
    first = free_range(2)
    proxy = Proxy(first + 1)

    def start(script):
        job.write("train.py", script)
        env = dict(PADDLE_TRAINERS_NUM=2, ARGOSY_LEASE_SECONDS=4, ARGOSY_ON_WORKER_LOSS="shrink")
        lists = [f"127.0.0.1:{first},127.0.0.1:{port}" for port in (first + 1, proxy.port)]
        servers = [
            job.python("train.py", TRAINING_ROLE="PSERVER", POD_IP="127.0.0.1", PADDLE_PORT=first + i, PADDLE_PSERVERS_IP_PORT_LIST=lists[0], **env)
            for i in range(2)
        ]
        workers = [job.python("train.py", TRAINING_ROLE="TRAINER", PADDLE_TRAINER_ID=i, PADDLE_PSERVERS_IP_PORT_LIST=lists[i], **env) for i in range(2)]
        return proxy, servers, workers

    yield start
    proxy.ended = True
    proxy.join()


@pytest.mark.parametrize(
    "held, pushes, value, batches",
    [
        ("requests", [7, 6], 4.0, 3),  # server 1 never gets it: both drop it
        ("answers", [7, 7], 6.0, 4),  # both have it, and the worker does not know
    ],
)
def test_the_last_step_of_a_lost_worker_counts_on_both_servers_or_on_none(job, proxied, held, pushes, value, batches):
    proxy, servers, workers = proxied(SCRIPT.replace("EXPECTED", str(pushes)))
    until((job.folder / "ready").exists)
    proxy.held = held
    (job.folder / "go").touch()
    until((job.folder / "pushed").exists)
    workers[1].send_signal(signal.SIGKILL)
    workers[1].wait()
    (job.folder / "killed").touch()
    out = job.end(workers[0])
    for server in servers:
        job.end(server)
    assert json.loads(re.search(r"^w (.*)", out, re.M).group(1)) == [value], out
    ledger = json.loads(re.search(r"^ledger (.*)", out, re.M).group(1))
    (lost,) = ledger["open"]
    assert lost["worker"] == 1 and lost["state"] == "lost" and lost["batches"] == batches and lost["batches_dropped"] == 4 - batches, ledger
