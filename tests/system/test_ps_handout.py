"""Files that go to a worker that is free, through the servers, by a setting of the dataset."""

import re
import signal

from ps_job import until

# A line's id says its file. The table counts: SGD with rate 1, and a loss whose gradient is 1 for each sample.
NETWORK = """
import sys
import numpy as np
import paddle
import paddle.fluid as fluid
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet

paddle.enable_static()
counted = fluid.layers.data('counted', [1], dtype='int64', lod_level=1)
rows = fluid.layers.embedding(counted, [12, 1], is_sparse=True, param_attr=fluid.ParamAttr(name='counts', initializer=fluid.initializer.Constant(0.0)))
loss = fluid.layers.reduce_sum(fluid.layers.sequence_pool(rows, 'sum'))
"""

JOB = """
fleet.init(role_maker.PaddleCloudRoleMaker())
config = fluid.DistributeTranspilerConfig()
config.sync_mode = False
fleet.distributed_optimizer(fluid.optimizer.SGD(1.0), config).minimize(loss)
if fleet.is_server():
    fleet.run_server()
    sys.exit(0)
"""

DATA = """
exe = fluid.Executor(fluid.CPUPlace())
exe.run(fluid.default_startup_program())
dataset = fluid.DatasetFactory().create_dataset(KIND)
dataset.set_use_var([counted])
dataset.set_batch_size(5)
dataset.set_thread(2)
dataset.set_filelist(['part-%d' % i for i in range(12)])  # every worker has the whole list
dataset.set_file_handout(True)
"""

END = """
fleet.barrier_worker()
print('counts', np.asarray(fluid.global_scope().find_var('counts').get_tensor()).reshape(-1).astype(int).tolist())
fleet.stop_worker()
"""


def write_parts(job):
    for i in range(12):
        (job.folder / f"part-{i}").write_text(f"1 {i}\n" * (7 + i))


def counts(log):
    return [-int(number) for number in re.search(r"counts \[(.*)\]", log).group(1).split(",")]


def test_every_pass_of_a_queue_dataset_reads_each_file_once(job):
    """With several threads in each worker, and one that comes late and gets what is left."""
    write_parts(job)
    job.write(
        "train.py",
        NETWORK
        + JOB
        + DATA.replace("KIND", "'QueueDataset'")
        + """
if fleet.worker_index() == 1: fleet.util.all_gather('late')
samples = [exe.train_from_dataset(fluid.default_main_program(), dataset).samples for _ in range(3)]
if fleet.worker_index() == 0: fleet.util.all_gather('late')
print('samples', sum(samples))
"""
        + END,
    )
    logs = job.launch("train.py")
    for log in logs:
        assert counts(log) == [3 * (7 + i) for i in range(12)], log
    done = [int(re.search(r"samples (\d+)", log).group(1)) for log in logs]
    assert done == [3 * sum(range(7, 19)), 0], "the worker that waited for the other's end found nothing left"


def test_the_files_of_a_lost_worker_are_read_by_others(job):
    """Worker 1 is killed while its pipe command holds back the files that it was given, before a line of them has come."""
    write_parts(job)
    job.write(
        "feed.sh",
        """
        if [ "$PADDLE_TRAINER_ID" = 1 ]; then touch held; exec sleep 600; fi
        while [ ! -e go ]; do sleep 0.05; done
        exec cat
        """,
    )
    job.write(
        "train.py",
        NETWORK
        + JOB
        + DATA.replace("KIND", "'QueueDataset'")
        + """
dataset.set_pipe_command('sh feed.sh')
exe.train_from_dataset(fluid.default_main_program(), dataset)
"""
        + END,
    )
    launcher = job.fleetrun("--on-worker-loss=shrink", "--lease-seconds=5", "train.py")
    until((job.folder / "held").exists, job.logs)
    job.signal(launcher, "worker 1", signal.SIGKILL)
    job.wait_for_line("server 0", "lost worker 1")
    job.wait_for_line("server 1", "lost worker 1")
    (job.folder / "go").touch()
    job.end(launcher)
    assert counts(job.log("worker 0")) == [7 + i for i in range(12)], job.logs()


def test_a_pass_with_a_failed_pipe_cannot_be_begun_again_in_the_same_process(job):
    """It would have other lines: the job ends with the cause, and a restarted worker goes on."""
    write_parts(job)
    job.write("feed.sh", "if mkdir broke 2> /dev/null; then head -n 3; exit 3; fi\nexec cat\n")
    job.write(
        "train.py",
        NETWORK
        + JOB
        + DATA.replace("KIND", "'QueueDataset'")
        + """
dataset.set_pipe_command('sh feed.sh')
try:
    exe.train_from_dataset(fluid.default_main_program(), dataset)
except Exception as error:
    print('once more', error)
    exe.train_from_dataset(fluid.default_main_program(), dataset)
"""
        + END,
    )
    out = job.end(job.fleetrun("train.py"), status=1)
    assert "the command 'sh feed.sh' exited with status 3" in out, out


def test_an_in_memory_dataset_loads_each_file_in_one_worker(job):
    write_parts(job)
    job.write(
        "train.py",
        NETWORK
        + JOB
        + DATA.replace("KIND", "'InMemoryDataset'")
        + """
dataset.load_into_memory()
print('of all', dataset.get_memory_data_size(fleet))
exe.train_from_dataset(fluid.default_main_program(), dataset)
"""
        + END,
    )
    for log in job.launch("train.py"):
        assert f"of all {sum(range(7, 19))}" in log and counts(log) == [7 + i for i in range(12)], log


def test_without_a_job_a_process_reads_the_whole_list(job):
    write_parts(job)
    job.write(
        "single.py",
        NETWORK
        + "fluid.optimizer.SGD(1.0).minimize(loss)\n"
        + DATA.replace("KIND", "'QueueDataset'")
        + """
print('samples', exe.train_from_dataset(fluid.default_main_program(), dataset).samples)
""",
    )
    assert f"samples {sum(range(7, 19))}" in job.end(job.python("single.py"))
