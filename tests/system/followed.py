"""A job that trains until it is told to end, and its followers, for tests of those who read from them."""

import re
import signal
import sys

from ports import free_range
from ps_job import SECONDS, until
from ps_scripts import SERVE, STRATEGY

TOKEN = "open sesame"

# Adam and values of all sizes: bits show every difference. Goes on until there is a file `end`, and ends a while after `hold` is gone.
TRAIN = (
    STRATEGY
    + """
import time
x = fluid.layers.data("x", [5])
ids = fluid.layers.data('ids', [1], dtype='int64')
rows = fluid.layers.embedding(ids, [40, 3], is_sparse=True, param_attr=fluid.ParamAttr(name='table'))
fc = fluid.layers.fc(fluid.layers.concat([x, rows], axis=1), 1, param_attr=fluid.ParamAttr(name='w'))
loss = fluid.layers.mean(fluid.layers.square(fc - fluid.layers.reduce_sum(x, dim=1, keep_dim=True)))
fluid.default_startup_program().random_seed = 5
fleet.distributed_optimizer(fluid.optimizer.Adam(0.05), strategy).minimize(loss)
"""
    + SERVE
    + """
steps = os.open('steps.%d' % me, os.O_CREAT | os.O_WRONLY)
step = 0
while not os.path.exists('end') or step % 10:
    random = np.random.RandomState(100 * step + me)
    exe.run(feed={'x': random.randn(4, 5).astype('float32'), 'ids': random.randint(0, 40, (4, 1)).astype('int64')})
    step += 1
    os.pwrite(steps, b'%9d' % step, 0)
    time.sleep(0.002)
open('trained', 'w').close()
while not os.path.exists('over'): time.sleep(0.02)
fleet.stop_worker()
"""
)


class Followed:
    """A job of two servers and one worker that trains, and what is asked of it and of its followers."""

    def __init__(self, job, mode, *flags, script=TRAIN):
        self.job = job
        self.port = free_range(3)
        self.servers = [f"127.0.0.1:{self.port}", f"127.0.0.1:{self.port + 1}"]
        job.write("train.py", script)
        command = ["fleetrun", f"--start_port={self.port}", "--server_num=2", "--worker_num=1", "--max_restart=3", f"--token={TOKEN}"]
        self.launcher = job.start(*command, "--directory=kept", *flags, "train.py", mode, ARGOSY_PYTHON=sys.executable)

    def steps(self):
        file = self.job.folder / "steps.0"
        return int(file.read_text() or 0) if file.exists() else 0

    def train_to(self, more):
        target = self.steps() + more
        until(lambda: self.steps() >= target or self.launcher.poll() is not None, self.job.logs)

    def touch(self, name):
        (self.job.folder / name).touch()

    def follow(self, server, port=None, token=TOKEN, status=None, wait=60, options=()):
        """A follower that listens, or its output where it ends with `status`."""
        port = port or free_range(1)
        process = self.job.start("argosy-server", f"--address=127.0.0.1:{port}", f"--follow={server}", f"--token={token}", f"--follow_wait={wait}", *options)
        process.endpoint = f"127.0.0.1:{port}"
        if status is not None:
            return self.job.end(process, status)
        lines = []
        for line in process.stdout:  # what it says while it waits comes before
            lines.append(line)
            if line.strip() == process.endpoint:
                return process
        raise AssertionError(f"{process.wait()}: {''.join(lines)}")

    def ask(self, endpoints, *words, status=0, token=TOKEN):
        process = self.job.start("argosy", "rows", ",".join(endpoints), f"--token={token}", *words)
        return self.job.end(process, status)

    def versions(self, endpoints):
        return [int(version) for version in re.findall(r"version (\d+)", self.ask(endpoints))]

    def tables(self, endpoints):
        return [self.ask(endpoints, f"--table={name}") for name in ("table", "w")]

    def finish_training(self):
        self.touch("end")
        until(lambda: (self.job.folder / "trained").exists() or self.launcher.poll() is not None, self.job.logs)

    def end(self):
        self.touch("over")
        return self.job.end(self.launcher)


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=SECONDS)
