"""A worker is lost for good under on_worker_loss=shrink: the ledger says exactly what the table says.

Row s of the table says how often sample s counted: gradients are -1, with SGD and rate 1. In sync mode a step applies the mean over the
workers and threads that take part in it.
"""

import json
import re
import signal

import numpy as np
import pytest

from ps_job import until
from ps_scripts import SERVE, STRATEGY

LINES = 60  # of a file
BATCH = 5
PAD = " ".join(["11111111"] * 400)  # so that ten lines fill a block: what a worker has read of a file comes to it before the file ends

SCRIPT = (
    STRATEGY
    + """
samples, threads, files = (int(number) for number in sys.argv[2:5])
ids = fluid.layers.data('ids', [1], dtype='int64')
pad = fluid.layers.data('pad', [1], dtype='int64', lod_level=1)
table = fluid.ParamAttr(name='table', initializer=fluid.initializer.Constant(0.0))
rows = fluid.layers.embedding(ids, [samples, 1], is_sparse=True, param_attr=table)
loss = -fluid.layers.reduce_sum(rows)
fleet.distributed_optimizer(fluid.optimizer.SGD(1.0), strategy).minimize(loss)
"""
    + SERVE
    + f"""
dataset = fluid.DatasetFactory().create_dataset('QueueDataset')
dataset.set_use_var([ids, pad])
dataset.set_batch_size({BATCH})
dataset.set_thread(threads)
dataset.set_pipe_command('sh pipe.sh')
"""
    + """
if HANDOUT:
    dataset.set_filelist(['part-%d' % i for i in range(files)])
    dataset.set_file_handout(True)
else:
    dataset.set_filelist(['part-%d' % i for i in range(files) if i % 2 == me])
exe.train_from_dataset(fluid.default_main_program(), dataset, fetch_list=[loss], fetch_info=['loss'], print_period=1)
fleet.barrier_worker()
import json
print('counts', np.asarray(fluid.global_scope().find_var('table').get_tensor()).reshape(-1).tolist())
print('ledger', json.dumps(fleet.ledger()))
fleet.stop_worker()
"""
)

# Each worker reads as many files as it has threads. Then worker 1 gets half of each file and no more, and worker 0 waits for the test.
PIPE = """
n=0
while ! mkdir "begun.$PADDLE_TRAINER_ID.$n" 2> /dev/null; do n=$((n + 1)); done
if [ "$n" -ge "$THREADS" ]; then
    if [ "$PADDLE_TRAINER_ID" = 1 ]; then head -n 30; touch "held.$n"; exec sleep 600; fi
    while [ ! -e go ]; do sleep 0.05; done
fi
exec cat
"""


def lose_worker_1(job, mode, threads, files, handout):
    """The counts of all samples, and the ledger, after a job whose worker 1 was killed in the middle of its files."""
    for i in range(files):
        job.write(f"part-{i}", "".join(f"1 {i * LINES + line} 400 {PAD}\n" for line in range(LINES)))
    job.write("pipe.sh", PIPE)
    job.write("train.py", SCRIPT.replace("HANDOUT", str(handout)))
    launcher = job.fleetrun("--on-worker-loss=shrink", "--lease-seconds=5", "train.py", mode, files * LINES, threads, files, THREADS=threads)
    batches = threads * LINES // BATCH  # of the files that both workers read to their end: in sync mode worker 1 goes no further
    until(lambda: f"batch {batches} " in job.log("worker 1"), job.logs)
    for n in range(threads):
        until((job.folder / f"held.{threads + n}").exists, job.logs)
    job.signal(launcher, "worker 1", signal.SIGKILL)
    for server in range(2):
        job.wait_for_line(f"server {server}", "lost worker 1")
    (job.folder / "go").touch()
    out = job.end(launcher)
    assert "the job has ended well, without worker 1" in out, out
    log = job.log("worker 0")
    counts = np.array(json.loads(re.search(r"^counts (\[.*\])", log, re.M).group(1)))
    return counts, json.loads(re.search(r"^ledger (\{.*\})", log, re.M).group(1)), out


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("mode", ["async", "sync"])
def test_files_of_a_lost_worker_are_read_on_where_it_was(job, mode, threads):
    """Nothing is trained twice, and nothing is given up; but where the worker dies between two servers of an async push, and then the ledger counts its samples."""
    files = 6 * threads
    counts, ledger, _ = lose_worker_1(job, mode, threads, files, handout=True)
    once = [1.0] if mode == "async" else [1 / (workers * sharing) for workers in (1, 2) for sharing in range(1, threads + 1)]
    (lost,) = ledger["open"]
    done, *empty = ledger["passes"]  # in sync mode a barrier ends a round of its own, in which nothing was trained
    in_parts = done["lines_in_parts"]
    assert set(np.unique(counts)) <= {*once, *([0.0] if in_parts else [])}, (np.flatnonzero(~np.isin(counts, once)), ledger, counts, job.logs())
    assert (counts == 0).sum() <= in_parts <= (BATCH if mode == "async" else 0), ledger
    assert all(other["batches"] == 0 for other in empty), ledger
    assert lost["worker"] == 1 and lost["state"] == "lost" and lost["samples"] > 0, ledger
    assert done["samples_read"] + done["lines_of_lost"] == files * LINES, ledger
    assert done["samples_lost"] == 0 and done["lines_of_lost"] == lost["samples"] + in_parts, ledger
    assert lost["files_left"] == 0 and lost["given_up"] == 0, ledger
    all_of_the_first = lost["samples"] > threads * LINES  # in async mode the last batches that it computed may have died with it
    assert lost["files_handed_on"] == 2 * threads or (not all_of_the_first and threads <= lost["files_handed_on"] <= 2 * threads), ledger


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_what_a_lost_worker_had_not_read_is_given_up_and_said(job, mode):
    """Nobody else has its files: the ledger has what was applied of them, and says that the rest is not known."""
    counts, ledger, out = lose_worker_1(job, mode, 1, 6, handout=False)
    mine = np.arange(6 * LINES) // LINES % 2 == 0
    (lost,) = ledger["open"]
    done, *empty = ledger["passes"]  # in sync mode a barrier ends a round of its own, in which nothing was trained
    assert all(other["batches"] == 0 for other in empty), ledger
    assert (counts[mine] > 0).all() and done["samples_read"] == done["samples_applied"] == mine.sum(), (counts, ledger)
    assert lost["worker"] == 1 and lost["samples"] == (counts[~mine] > 0).sum() > 0, (counts, ledger)
    assert lost["given_up"] == "unknown" and "unknown (the rest of worker 1's pass, and its later ones)" in lost["text"], ledger
    assert "unknown (the rest of worker 1's pass" in out, "the terminal says it too"
