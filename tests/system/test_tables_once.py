"""Jobs over Parquet files: row groups are dealt to workers, and every row counts once, also where processes are killed."""

import re
import signal
import time

import numpy as np
import pytest

from ps_job import until

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

ROWS, FILES, GROUP = 12_000, 4, 500

# A row's id is its number, and SGD with rate 1 counts how often it was trained. The text column is there to be passed over.
SCRIPT = """
import os
import sys
import time
import numpy as np
import paddle
import paddle.fluid as fluid
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet

paddle.enable_static()
counted = fluid.layers.data('counted', [1], dtype='int64', lod_level=1)
rows = fluid.layers.embedding(counted, [ROWS, 1], is_sparse=True, param_attr=fluid.ParamAttr(name='counts', initializer=fluid.initializer.Constant(0.0)))
loss = fluid.layers.reduce_sum(fluid.layers.sequence_pool(rows, 'sum'))
fleet.init(role_maker.PaddleCloudRoleMaker())
config = fluid.DistributeTranspilerConfig()
config.sync_mode = MODE == 'sync'
fleet.distributed_optimizer(fluid.optimizer.SGD(1.0), config).minimize(loss)
if fleet.is_server():
    fleet.run_server()
    with open('/proc/self/maps') as maps:
        opened = maps.read()
    print('opened', [word for word in ('libarrow', 'libparquet', 'argosy_parquet', 'argosy_stores') if word in opened], flush=True)
    sys.exit(0)
exe = fluid.Executor(fluid.CPUPlace())
exe.run(fluid.default_startup_program())
dataset = fluid.DatasetFactory().create_dataset('QueueDataset')
dataset.set_use_var([counted])
dataset.set_batch_size(4)
dataset.set_thread(THREADS)
names = ['part-%d.parquet' % i for i in range(FILES)]
dataset.set_filelist(names if HANDOUT else fleet.util.get_file_shard(names))
dataset.set_file_handout(HANDOUT)
while os.path.exists('hold') and fleet.worker_index() == 0:
    time.sleep(0.05)
for turn in range(2):
    print('pass', turn, flush=True)
    print('samples', exe.train_from_dataset(fluid.default_main_program(), dataset).samples, flush=True)
fleet.barrier_worker()
counts = np.asarray(fluid.global_scope().find_var('counts').get_tensor()).reshape(-1) * (fleet.worker_num() if MODE == 'sync' else 1)
print('wrong', {row: int(count) for row, count in enumerate(-counts) if count != 2}, flush=True)
fleet.barrier_worker()
fleet.stop_worker()
"""


def write_parts(folder):
    each = ROWS // FILES
    for part in range(FILES):
        ids = np.arange(part * each, (part + 1) * each)
        table = pa.table({"new_upstream": [str(i) for i in ids], "counted": pa.array([[i] for i in ids], pa.list_(pa.int64()))})
        parquet.write_table(table, folder / f"part-{part}.parquet", row_group_size=GROUP)


def wrong(job, name="worker 0"):
    return re.findall(r"wrong (\{.*\})", job.log(name))[-1:]


def write_script(job, mode, handout, threads):
    text = SCRIPT
    for name, value in {"ROWS": ROWS, "MODE": repr(mode), "THREADS": threads, "HANDOUT": handout, "FILES": FILES}.items():
        text = text.replace(name, str(value))
    job.write("train.py", text)


@pytest.mark.parametrize("mode, handout, threads", [("async", True, 2), ("sync", False, 1)])
def test_every_row_counts_once_whoever_is_killed(job, mode, handout, threads):
    write_parts(job.folder)
    write_script(job, mode, handout, threads)
    launcher = job.fleetrun("--max_restart=6", "--directory=kept", "train.py")
    job.wait_for_line("worker 0", "pass 0")
    for victim in ("worker 1", "server 0", "worker 0", "server 1"):
        time.sleep(0.4)
        if launcher.poll() is not None:
            break
        job.signal(launcher, victim, signal.SIGKILL)
        until(lambda victim=victim: job.pid_of(launcher, victim) or launcher.poll() is not None, f"{victim} is back")
    job.end(launcher)
    assert wrong(job) == ["{}"] and wrong(job, "worker 1") == ["{}"], job.logs()
    assert "opened []" in job.log("server 0"), "a server opens no module of data"


def test_rows_of_a_lost_worker_go_to_others(job):
    write_parts(job.folder)
    write_script(job, "async", True, 2)
    (job.folder / "hold").touch()  # worker 0 comes to the pass when the other is lost in the middle of it
    launcher = job.fleetrun("--on-worker-loss=shrink", "--lease-seconds=3", "--max_restart=0", "train.py")
    job.wait_for_line("worker 1", "pass 0")
    time.sleep(0.4)
    job.signal(launcher, "worker 1", signal.SIGKILL)
    job.wait_for_line("server 0", "lost worker 1")
    job.wait_for_line("server 1", "lost worker 1")
    (job.folder / "hold").unlink()
    job.end(launcher)
    assert wrong(job) == ["{}"], job.logs()
