#!/usr/bin/env python3
"""One process of a CTR-DNN job that measures its own quality; bench/quality.py starts it. One JSON object per pass: the AUC of the pass itself, each
sample scored before it is trained on; then, by the first worker, that of the test files, and the bytes per sample that crossed the wire.

    bench/ctr_quality.py MODE OPTIMIZER SEED PASSES 'TRAIN' 'TEST' [--threads 1]

MODE is local, sync, half_async, async or geo. The model is that of bench/ctr_model.h.
"""

import argparse
import glob
import json
import time

import paddle
import paddle.fluid as fluid
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler.distributed_strategy import StrategyFactory

ROWS, WIDTH, HIDDEN, BATCH = 1_000_001, 10, 400, 1000
GEO_STEPS = 10  # batches between two exchanges
RATES = {"adam": 1e-3, "adagrad": 0.02, "sgd": 0.3}  # at which each learns


def network(test_batches):
    """Inputs, loss, the AUC of all batches, the AUC of the last `test_batches`."""
    dense = fluid.layers.data(name="dense_input", shape=[13])
    label = fluid.layers.data(name="label", shape=[1], dtype="int64")
    table = fluid.ParamAttr(name="SparseFeatFactors", initializer=fluid.initializer.Uniform(-0.01, 0.01))
    slots = [fluid.layers.data(name="C%d" % i, shape=[1], dtype="int64", lod_level=1) for i in range(1, 27)]
    rows = [fluid.layers.embedding(input=slot, size=[ROWS, WIDTH], is_sparse=True, param_attr=table) for slot in slots]
    h = fluid.layers.concat([fluid.layers.sequence_pool(input=row, pool_type="sum") for row in rows] + [dense], axis=1)
    for _ in range(3):
        h = fluid.layers.fc(input=h, size=HIDDEN, act="relu")
    predict = fluid.layers.fc(input=h, size=2, act="softmax")
    loss = fluid.layers.mean(fluid.layers.cross_entropy(input=predict, label=label))
    auc, last_auc, _ = fluid.layers.auc(input=predict, label=label, num_thresholds=4095, slide_steps=test_batches)
    return [dense, *slots, label], loss, auc, last_auc


def optimizer(name):
    if name == "adam":
        return fluid.optimizer.Adam(learning_rate=RATES[name], lazy_mode=True)
    return fluid.optimizer.Adagrad(learning_rate=RATES[name]) if name == "adagrad" else fluid.optimizer.SGD(learning_rate=RATES[name])


def strategy(mode):
    return StrategyFactory.create_geo_strategy(GEO_STEPS) if mode == "geo" else getattr(StrategyFactory, f"create_{mode}_strategy")()


def dataset(inputs, files, threads):
    made = fluid.DatasetFactory().create_dataset("QueueDataset")
    made.set_use_var(inputs)
    made.set_criteo(ROWS, "log1p")
    made.set_batch_size(BATCH)
    made.set_thread(threads)
    made.set_filelist(files)
    return made


def lines_of(files):
    return sum(open(file, "rb").read().count(b"\n") for file in files)


def served():
    """Bytes that all servers have received and sent."""
    stats = fleet.server_stats()
    return sum(one.bytes_in for one in stats), sum(one.bytes_out for one in stats)


def train(args, on_servers, inputs, loss, auc, last_auc, test_program):
    first = not on_servers or fleet.is_first_worker()
    executor = fluid.Executor(fluid.CPUPlace())
    executor.run(fluid.default_startup_program())
    all_files, test_files = sorted(glob.glob(args.train)), sorted(glob.glob(args.test))
    samples = lines_of(all_files)
    training = dataset(inputs, fleet.split_files(all_files) if on_servers else all_files, args.threads)
    for number in range(1, args.passes + 1):
        if on_servers:
            fleet.barrier_worker()
        before = served() if on_servers and first else (0, 0)
        begun = time.monotonic()
        last = executor.train_from_dataset(fluid.default_main_program(), training, fetch_list=[auc], print_period=1 << 30)
        row = {"pass": number, "auc": float(last[0]), "seconds": time.monotonic() - begun}
        if on_servers:
            fleet.barrier_worker()
        if first:
            after = served() if on_servers else (0, 0)
            last = executor.infer_from_dataset(test_program, dataset(inputs, test_files, 1), fetch_list=[last_auc], print_period=1 << 30)
            row |= {"test_auc": float(last[0]), "samples": samples}
            row |= {"bytes_to_servers": (after[0] - before[0]) / samples, "bytes_to_workers": (after[1] - before[1]) / samples}
        print(json.dumps(row), flush=True)
    if on_servers:
        fleet.barrier_worker()
        fleet.stop_worker()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["local", "sync", "half_async", "async", "geo"])
    parser.add_argument("optimizer", choices=sorted(RATES))
    parser.add_argument("seed", type=int)
    parser.add_argument("passes", type=int)
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    paddle.enable_static()
    fluid.default_startup_program().random_seed = args.seed
    inputs, loss, auc, last_auc = network(-(-lines_of(glob.glob(args.test)) // BATCH))
    test_program = fluid.default_main_program().clone(for_test=True)
    on_servers = args.mode != "local"
    if not on_servers:
        optimizer(args.optimizer).minimize(loss)
        return train(args, False, inputs, loss, auc, last_auc, test_program)
    fleet.init(role_maker.PaddleCloudRoleMaker())
    fleet.distributed_optimizer(optimizer(args.optimizer), strategy(args.mode)).minimize(loss)
    if fleet.is_server():
        return fleet.run_server()
    fleet.init_worker()
    return train(args, True, inputs, loss, auc, last_auc, test_program)


if __name__ == "__main__":
    main()
