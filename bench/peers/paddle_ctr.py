"""One process of a PaddlePaddle 2.6.2 job: CTR-DNN on its parameter servers in async mode. Started by paddle_job.py.

    paddle_ctr.py FOLDER PASSES 'FILES'

The counterpart of ctr_ps_bench.cc. A server runs until it is ended. A worker streams its share of the MultiSlot FILES PASSES
times by `cat`, on one thread, and leaves one JSON object per pass in FOLDER/worker-RANK.
"""

import glob
import json
import os
import pathlib
import sys
import time

import paddle
from paddle.distributed import fleet

ROWS, WIDTH, HIDDEN, BATCH = 1_000_001, 10, 400, 1000
SERVERS_START = 2  # seconds; a worker that connects before its servers listen fails


def network():
    dense = paddle.static.data("dense_input", [None, 13], "float32")
    slots = [paddle.static.data(f"C{i}", [None, 1], "int64") for i in range(1, 27)]
    label = paddle.static.data("label", [None, 1], "int64")
    table = paddle.ParamAttr("SparseFeatFactors", initializer=paddle.nn.initializer.Uniform(-0.01, 0.01))
    rows = [paddle.static.nn.sparse_embedding(slot, [ROWS, WIDTH], param_attr=table) for slot in slots]
    h = paddle.concat([paddle.reshape(row, [-1, WIDTH]) for row in rows] + [dense], axis=1)
    for _ in range(3):
        h = paddle.static.nn.fc(h, HIDDEN, activation="relu")
    logits = paddle.static.nn.fc(h, 2)
    loss = paddle.nn.functional.cross_entropy(logits, label)
    paddle.static.auc(paddle.nn.functional.softmax(logits), label)
    return [dense, *slots, label], loss


def train_pass(executor, variables, files):
    dataset = paddle.distributed.QueueDataset()
    dataset.init(batch_size=BATCH, thread_num=1, pipe_command="cat", use_var=variables)
    dataset.set_filelist(files)
    begun = time.perf_counter()
    executor.train_from_dataset(paddle.static.default_main_program(), dataset, thread=1)
    return time.perf_counter() - begun


def work(variables, folder, passes, pattern):
    executor = paddle.static.Executor(paddle.CPUPlace())
    executor.run(paddle.static.default_startup_program())
    time.sleep(SERVERS_START)
    fleet.init_worker()
    files = fleet.util.get_file_shard(sorted(glob.glob(pattern)))
    samples = sum(pathlib.Path(file).read_bytes().count(b"\n") for file in files)
    seconds = [train_pass(executor, variables, files) for _ in range(passes)]
    fleet.stop_worker()
    rows = [{"pass": index, "samples": samples, "seconds": each} for index, each in enumerate(seconds)]
    written = folder / f"worker-{fleet.worker_index()}"
    unfinished = written.with_suffix(".unfinished")
    unfinished.write_text("".join(json.dumps(row) + "\n" for row in rows))
    os.replace(unfinished, written)  # paddle_job.py waits for the name


def main():
    folder, passes, pattern = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    (folder / f"process-{os.getpid()}").touch()  # by which paddle_job.py ends it
    paddle.enable_static()
    fleet.init(fleet.PaddleCloudRoleMaker(is_collective=False))
    variables, loss = network()
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = True
    fleet.distributed_optimizer(paddle.optimizer.Adam(1e-3, lazy_mode=True), strategy).minimize(loss)
    if fleet.is_server():
        fleet.init_server()
        fleet.run_server()
    else:
        work(variables, folder, passes, pattern)


if __name__ == "__main__":
    main()
