"""Jobs on a Ray cluster of several nodes on this machine, whose processes are killed."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

from ps_job import until

# What every worker does, on Ray and under fleetrun: Adam and values of all sizes, so that bits show every difference in what was applied, and in which
# order. It tells how far it is in steps.N, with its process; at each multiple of PACE it waits until the test has killed somebody.
TRAINING = """
import json, os, sys, time

def train(folder, steps, pace, kills, report=None):
    import numpy as np
    import paddle
    import paddle.fluid as fluid
    from paddle.fluid.incubate.fleet.base import role_maker
    from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet
    from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler.distributed_strategy import StrategyFactory

    paddle.enable_static()
    fleet.init(role_maker.PaddleCloudRoleMaker())
    x = fluid.layers.data('x', [5])
    ids = fluid.layers.data('ids', [1], dtype='int64')
    rows = fluid.layers.embedding(ids, [40, 1], is_sparse=True, param_attr=fluid.ParamAttr(name='table'))
    fc = fluid.layers.fc(fluid.layers.concat([x, rows], axis=1), 1, param_attr=fluid.ParamAttr(name='w'))
    loss = fluid.layers.mean(fluid.layers.square(fc - fluid.layers.reduce_sum(x, dim=1, keep_dim=True)))
    fluid.default_startup_program().random_seed = 5
    fleet.distributed_optimizer(fluid.optimizer.Adam(0.05), StrategyFactory.create_sync_strategy()).minimize(loss)
    if fleet.is_server():
        return fleet.run_server()
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    me = fleet.worker_index()
    told = os.open(f'{folder}/steps.{me}', os.O_CREAT | os.O_WRONLY)
    begun = time.monotonic()
    for step in range(1, steps + 1):
        keys = [key for key in range(10) if step % (key + 1) == 0]
        values = np.random.RandomState(100 * step + me).randn(2 * len(keys), 5).astype('float32')
        exe.run(feed={'ids': np.array([[key] for key in keys] + [[20 + 10 * (me % 2) + key] for key in keys]), 'x': values})
        os.pwrite(told, b'%9d %9d' % (step, os.getpid()), 0)
        while step % pace == 0 and 1 < step // pace <= kills + 1 and not os.path.exists(f'{folder}/killed-{step // pace - 1}'):
            time.sleep(0.005)
    fleet.barrier_worker()
    seconds = time.monotonic() - begun
    if me == 0:
        fleet.save_persistables(exe, f'{folder}/saved')
        with open(f'{folder}/ledger.json', 'w') as file:
            json.dump(fleet.ledger(), file)
    if report is not None:
        report({'steps': step, 'seconds': seconds}, save=lambda to: fleet.save_persistables(exe, to))
    elif me == 0:
        print('seconds', seconds)
    fleet.barrier_worker()
    fleet.stop_worker()
"""

# Under fleetrun, and as it stands under argosy.ray.launch.
SCRIPT = (
    TRAINING
    + """
train(sys.argv[1], *map(int, sys.argv[2:5]))
"""
)

# A driver: the same in Ray Train's workers.
DRIVER = (
    TRAINING
    + """
def train_fn(config):
    import argosy.ray
    train(config['folder'], *config['numbers'], argosy.ray.report)

if __name__ == '__main__':
    import argosy.ray
    from ray.train import FailureConfig, RunConfig, ScalingConfig
    folder, numbers, failures = sys.argv[1], [int(word) for word in sys.argv[2:5]], int(sys.argv[5])
    trainer = argosy.ray.Trainer(
        train_fn,
        num_servers=2,
        train_loop_config={'folder': folder, 'numbers': numbers},
        scaling_config=ScalingConfig(num_workers=2),
        run_config=RunConfig(name='job', storage_path=f'{folder}/ray', failure_config=FailureConfig(max_failures=failures)),
        settings={'job': f'test {os.getpid()}'},
    )
    result = trainer.fit()
    print('metrics', json.dumps(result.metrics), 'checkpoint', result.checkpoint.path if result.checkpoint else None, flush=True)
"""
)


@contextlib.contextmanager
def cluster(nodes=2, cpus=4, dashboard=False):
    """A Ray cluster: its head, which has room for nothing but Ray's own processes, and `nodes` more."""
    os.environ["RAY_worker_niceness"] = "0"  # Ray gives way to everything else of a machine, which a busy one has always more of
    import ray.cluster_utils

    made = ray.cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": dashboard})
    try:
        for _ in range(nodes):
            made.add_node(num_cpus=cpus)
        made.wait_for_nodes()
        yield made
    finally:
        made.shutdown()


def processes():
    """{pid: (parent, words, environment)} of all processes of this machine that can be read."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
            found[int(folder.name)] = parent, words, (folder / "environ").read_bytes()
    return found


def is_of_job(env, job_name):
    """Whether a process with this environment is a server of the job, which has this name, or this as a part of its directory's."""
    return f"ARGOSY_JOB={job_name}".encode() in env or f"ARGOSY_DIRECTORY={job_name}/".encode() in env


def server_pid(job_name, index):
    """The process of a job's server; 0 where there is none at the moment."""
    for pid, (_, words, env) in processes().items():
        if is_of_job(env, job_name) and words[0].endswith("argosy-server") and words[words.index("--server_index") + 1] == str(index):
            return pid
    return 0


def parent_of(pid):
    found = processes().get(pid)
    return found[0] if found else 0


class Watched:
    """What a job of TRAINING in `folder` tells of itself."""

    def __init__(self, folder, job_name):
        self.folder, self.job_name = pathlib.Path(folder), job_name

    def told(self, worker):
        file = self.folder / f"steps.{worker}"
        words = file.read_text().split() if file.exists() else []
        return (int(words[0]), int(words[1])) if len(words) == 2 else (0, 0)

    def furthest(self):
        return max(self.told(worker)[0] for worker in (0, 1))

    def pid(self, victim):
        """ "server 0" is its process, "actor 0" the one that runs it, "node 0" the raylet that has both; "worker 1" trains."""
        kind, index = victim.split()
        if kind == "worker":
            return self.told(int(index))[1]
        server = server_pid(self.job_name, int(index))
        above = {"server": 0, "actor": 1, "node": 2}[kind]
        for _ in range(above):
            server = parent_of(server) if server else 0
        return server

    def kill(self, victim, number, pace, job=None):
        """Kills it where the job waits for that, and returns the seconds until the job trains further than it was. `job`: a process that runs then."""
        until(lambda: self.furthest() >= pace * (number + 1) or (job and job.poll() is not None), f"step {pace * (number + 1)}")
        pid = until(lambda: self.pid(victim), f"no process {victim}")
        server = self.pid(victim.replace("node", "server")) if victim.startswith("node") else 0
        os.kill(pid, signal.SIGKILL)
        begun, at = time.monotonic(), self.furthest()
        until(lambda: not server or server not in processes(), f"the server of {victim} outlives it")
        (self.folder / f"killed-{number}").touch()
        until(lambda: self.furthest() > at and min(self.told(worker)[0] for worker in (0, 1)) > at, f"no step after {at}, where {victim} was killed")
        return time.monotonic() - begun


def saved(folder):
    """Every parameter, as bytes by name; what counts restarts is none."""
    return {file.name: file.read_bytes() for file in sorted((pathlib.Path(folder) / "saved").iterdir()) if file.is_file() and file.name != "__ledger__"}


def left_over(job_name):
    """What still runs of a job: [words of each process]."""
    return [words for _, words, env in processes().values() if is_of_job(env, job_name)]


def left_in(address):
    """The actors that live, besides Ray's own (_Name), and the placement groups that are there; by a driver of its own."""
    script = """
import ray, sys
from ray._private.state import actors
ray.init(address=sys.argv[1], log_to_driver=False)
print('left', [one['ActorClassName'] for one in actors().values() if one['State'] != 'DEAD' and not one['ActorClassName'].startswith('_')],
      [one['name'] or one['placement_group_id'] for one in ray.util.placement_group_table().values() if one['state'] != 'REMOVED'])
"""
    done = subprocess.run([sys.executable, "-c", script, address], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = done.stdout.split("left ")[-1].strip()
    return "" if found == "[] []" else found
