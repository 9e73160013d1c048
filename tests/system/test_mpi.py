"""Roles under a real mpirun, from Python and from C++."""

import os
import re
import subprocess
import sys

import pytest

SECONDS = 120


def mpirun(folder, ranks, *command, where=("--oversubscribe",), **env):
    environment = {k: v for k, v in os.environ.items() if not re.match("OMPI_|PMIX_|PMI_|ARGOSY_", k)} | env
    command = ["mpirun", "--allow-run-as-root", *where, "-np", str(ranks), *map(str, command)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS)


SCRIPT = """
import sys
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet
from paddle.fluid.incubate.fleet.base import role_maker
fleet.init({maker})
who = "worker %d" % fleet.worker_index() if fleet.is_worker() else "server %d" % fleet.server_index()
sys.stdout.write("%s of %d and %d: servers %s workers %s\\n" % (who, fleet.server_num(), fleet.worker_num(), fleet.server_endpoints(to_string=True),
                                                              fleet.worker_endpoints(to_string=True)))
"""


@pytest.mark.parametrize("maker", ["role_maker.MPISymetricRoleMaker()", ""])
def test_four_ranks_are_two_servers_and_two_workers(tmp_path, maker):
    (tmp_path / "a.py").write_text(SCRIPT.format(maker=maker))
    done = mpirun(tmp_path, 4, sys.executable, "a.py")
    assert done.returncode == 0, done.stderr
    told = sorted(re.findall(r"((?:server|worker) \d) of 2 and 2: servers (\S+) workers (\S+)\n", done.stdout))
    assert [who for who, *_ in told] == ["server 0", "server 1", "worker 0", "worker 1"], done.stdout
    (endpoints,) = {tuple(lists) for _, *lists in told}
    every = ",".join(endpoints).split(",")
    assert len(set(every)) == 4 and all(re.fullmatch(r"127\.0\.0\.1:6[1-4]\d\d\d", one) for one in every), every


# Of one machine: mpirun needs no ssh to it.
def test_a_host_file_says_where_ranks_are(tmp_path):
    (tmp_path / "hosts").write_text("localhost slots=4\n")
    (tmp_path / "a.py").write_text(SCRIPT.format(maker=""))
    done = mpirun(tmp_path, 4, sys.executable, "a.py", where=("--hostfile", "hosts"))
    assert done.returncode == 0, done.stderr
    assert sorted(re.findall(r"(\w+ \d) of 2 and 2", done.stdout)) == ["server 0", "server 1", "worker 0", "worker 1"], done.stdout
    refused = mpirun(tmp_path, 5, sys.executable, "a.py", where=("--hostfile", "hosts"))
    assert refused.returncode != 0 and "not enough slots" in refused.stderr, "the file was not read"


TRAIN = """
import sys
import numpy as np
import paddle.fluid as fluid
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet
fleet.init()
ids = fluid.layers.data('ids', [1], dtype='int64')
y = fluid.layers.data('y', [1])
rows = fluid.layers.embedding(ids, [40, 4], is_sparse=True)
loss = fluid.layers.mean(fluid.layers.square_error_cost(fluid.layers.fc(rows, 1), y))
fleet.distributed_optimizer(fluid.optimizer.Adam(0.05)).minimize(loss)
if fleet.is_server():
    fleet.run_server()
    sys.exit(0)
exe = fluid.Executor(fluid.CPUPlace())
exe.run(fluid.default_startup_program())
me = fleet.worker_index()
truth = np.random.RandomState(1).randn(40, 1).astype('float32')


def batch(seed, worker):  # a worker trains on keys of its own
    keys = 2 * np.random.RandomState(seed).randint(0, 20, (32, 1)) + worker
    return {'ids': keys, 'y': truth[keys[:, 0]]}


for step in range(120): exe.run(feed=batch(step, me))
fleet.barrier_worker()
other = exe.run(fluid.default_main_program().clone(for_test=True), feed=batch(999, 1 - me), fetch_list=[loss])[0]
sys.stdout.write("worker %d: loss on the keys of the other %.4f\\n" % (me, float(other)))
fleet.barrier_worker()
fleet.stop_worker()
"""


def test_four_ranks_train(tmp_path):
    """2 servers and 2 workers, from mpirun's start to its end. Without the other's training the loss on its keys is about 1. Nobody
    gave them a token, and none has to: the first rank draws one for all."""
    (tmp_path / "train.py").write_text(TRAIN)
    done = mpirun(tmp_path, 4, sys.executable, "train.py", ARGOSY_SECURITY="required")
    assert done.returncode == 0, done.stdout + done.stderr
    found = dict(re.findall(r"worker (\d): loss on the keys of the other (\S+)", done.stdout))
    assert found.keys() == {"0", "1"} and all(float(loss) < 0.1 for loss in found.values()), done.stdout + done.stderr


def test_the_same_in_a_program_without_python(tmp_path, build):
    done = mpirun(tmp_path, 6, build / "argosy/fleet/fleet_test", "--gtest_filter=MpiRole.*")
    assert done.returncode == 0, done.stdout + done.stderr
    told = re.findall(r"^servers \S+ workers \S+$", done.stdout, re.M)
    assert len(told) == 6 and len(set(told)) == 1, done.stdout


def test_an_odd_number_of_ranks_is_refused(tmp_path):
    (tmp_path / "a.py").write_text(SCRIPT.format(maker=""))
    done = mpirun(tmp_path, 3, sys.executable, "a.py")
    assert done.returncode != 0 and "mpirun started 3 ranks; expected an even number" in done.stderr


def test_without_mpirun_the_error_says_what_to_do(tmp_path):
    (tmp_path / "a.py").write_text(SCRIPT.format(maker=""))
    done = subprocess.run([sys.executable, "a.py"], cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode != 0 and "was not started by mpirun" in done.stderr and "PaddleCloudRoleMaker for fleetrun" in done.stderr
