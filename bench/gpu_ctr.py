"""CTR-DNN as a program on a GPU: one table of 1,000,001 x 10, layers of 400-400-400-2, Adam; the counterpart of bench/peers/torch_ctr_gpu.py.

gpu_ctr.py BATCH STEPS [captured]   prints {"ms": …}, of a step that is fed from memory; the loss is fetched at the end of each run

captured: the step is one CUDA graph; it is an error where it could not be one.

The batches are numbers that are drawn once, a few of them in turns.
"""

import os
import sys
import time

import numpy as np

import paddle
import paddle.fluid as fluid

ROWS, WIDTH, HIDDEN, RATE, BATCHES, RUNS = 1_000_001, 10, 400, 1e-3, 8, 3


def network():
    dense = fluid.layers.data("dense", [13])
    ids = fluid.layers.data("ids", [26], dtype="int64")
    label = fluid.layers.data("label", [1], dtype="int64")
    table = fluid.ParamAttr("table", initializer=fluid.initializer.Uniform(-0.01, 0.01))
    rows = fluid.embedding(ids, [ROWS, WIDTH], is_sparse=True, param_attr=table)
    h = fluid.layers.concat([fluid.layers.reshape(rows, [-1, 26 * WIDTH]), dense], axis=1)
    for _ in range(3):
        h = fluid.layers.fc(h, HIDDEN, act="relu")
    logits = fluid.layers.fc(h, 2)
    return fluid.layers.mean(fluid.layers.softmax_with_cross_entropy(logits, label))


def batches(size):
    numbers = np.random.default_rng(1)
    for _ in range(BATCHES):
        yield {
            "dense": numbers.random([size, 13], dtype=np.float32),
            "ids": numbers.integers(0, ROWS, [size, 26]),
            "label": numbers.integers(0, 2, [size, 1]),
        }


def main():
    size, steps = int(sys.argv[1]), int(sys.argv[2])
    paddle.enable_static()
    loss = network()
    fluid.optimizer.Adam(RATE, lazy_mode=True).minimize(loss)
    program, strategy = fluid.default_main_program(), fluid.BuildStrategy()
    if "captured" in sys.argv[3:]:
        strategy.allow_cuda_graph_capture = True
        program = fluid.CompiledProgram(program, build_strategy=strategy)
    exe = fluid.Executor(fluid.CUDAPlace(0) if paddle.is_compiled_with_cuda() else fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    fed = list(batches(size))

    def timed(count):
        begun = time.perf_counter()
        for step in range(count):
            exe.run(program, feed=fed[step % BATCHES], fetch_list=[loss] if step == count - 1 else [])
        paddle.device.synchronize("gpu:0" if paddle.is_compiled_with_cuda() else "cpu")
        return time.perf_counter() - begun

    timed(max(steps // 4, BATCHES))
    seconds = [timed(steps) for _ in range(RUNS)]
    replays, why = exe.capture_report(program)
    if strategy.allow_cuda_graph_capture and replays < RUNS * (steps - 1):
        sys.exit(f"gpu_ctr: {replays} of {RUNS * steps} steps were replays: {why or 'no reason is known'}")
    print('{"ms": %.4f}' % (1000 * seconds[-1] / steps), flush=True)
    for _ in sys.stdin if "BENCH_TURNS" in os.environ else ():  # bench/gpu.py's rounds
        print('{"ms": %.4f}' % (1000 * timed(steps) / steps), flush=True)


main()
