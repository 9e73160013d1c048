#!/usr/bin/env python3
"""Models of the time of 1.8, written as they were then, in whichever `paddle` this Python has: bench/programs.py runs it with ours and with PaddlePaddle 1.8.5's.

    old_models.py dense_adam [STEPS]      an embedding of 1,000,000 x 128 with dense gradients, Adam, batches of 256
    old_models.py gru|lstm [STEPS]        words, an embedding, fc, dynamic_gru or dynamic_lstm of width 64, the last state, softmax; Adam, batches of 32
    old_models.py word2vec [STEPS]        skip-gram of single operators with sparse gradients, SGD, batches of 100
    old_models.py servers [STEPS]         the same by the transpiler, async, with one server and one worker, which it starts

Prints one JSON object: milliseconds of the first STEPS steps together, which pay for what a process does once, and the median of the same steps once more.
"""

import json
import os
import socket
import statistics
import subprocess
import sys
import time

import numpy as np

import paddle
import paddle.fluid as fluid

L = fluid.layers
WORDS, WIDTH, HIDDEN = 10000, 64, 64


def dense_adam():
    words = 1000000
    ids, label = L.data("ids", [8, 1], dtype="int64"), L.data("label", [1], dtype="int64")
    rows = L.embedding(ids, size=[words, 128], is_sparse=False)
    loss = L.mean(L.softmax_with_cross_entropy(L.fc(L.reduce_mean(rows, dim=1), 2), label))
    fluid.optimizer.Adam(1e-3).minimize(loss)
    return loss, lambda random: {"ids": random.randint(0, words, (256, 8, 1)).astype("int64"), "label": random.randint(0, 2, (256, 1)).astype("int64")}


def recurrent(kind):
    words, label = L.data("words", [1], dtype="int64", lod_level=1), L.data("label", [1], dtype="int64")
    rows = L.embedding(words, size=[WORDS, WIDTH], is_sparse=True)
    if kind == "gru":
        states = L.dynamic_gru(L.fc(rows, 3 * HIDDEN), size=HIDDEN)
    else:
        states, _ = L.dynamic_lstm(L.fc(rows, 4 * HIDDEN), size=4 * HIDDEN, use_peepholes=False)
    loss = L.mean(L.softmax_with_cross_entropy(L.fc(L.sequence_pool(states, "last"), 2), label))
    fluid.optimizer.Adam(1e-3).minimize(loss)

    def feed(random):
        lengths = random.randint(5, 60, 32).tolist()
        ids = random.randint(0, WORDS, (sum(lengths), 1)).astype("int64")
        return {"words": fluid.create_lod_tensor(ids, [lengths], fluid.CPUPlace()), "label": random.randint(0, 2, (32, 1)).astype("int64")}

    return loss, feed


def word2vec(optimize):
    word, near, far = (L.data(name, [width], dtype="int64") for name, width in (("word", 1), ("near", 1), ("far", 5)))

    def table(ids, width, name):
        return L.embedding(ids, size=[WORDS, width], is_sparse=True, param_attr=fluid.ParamAttr(name=name))

    middle, of_near, bias_near = table(word, WIDTH, "emb"), table(near, WIDTH, "emb_w"), table(near, 1, "emb_b")
    drawn = L.reshape(far, [-1, 1])
    of_far, bias_far = L.reshape(table(drawn, WIDTH, "emb_w"), [-1, 5, WIDTH]), L.reshape(table(drawn, 1, "emb_b"), [-1, 5])
    right = L.elementwise_add(L.reduce_sum(L.elementwise_mul(middle, of_near), dim=1, keep_dim=True), bias_near)
    wrong = L.elementwise_add(L.reshape(L.matmul(L.reshape(middle, [-1, 1, WIDTH]), of_far, transpose_y=True), [-1, 5]), bias_far)
    labels = [L.fill_constant_batch_size_like(right, [-1, width], "float32", value) for width, value in ((1, 1.0), (5, 0.0))]
    costs = [L.reduce_sum(L.sigmoid_cross_entropy_with_logits(*pair), dim=1) for pair in zip((right, wrong), labels)]
    loss = L.reduce_mean(L.elementwise_add(*costs))
    optimize(loss)
    widths = {"word": 1, "near": 1, "far": 5}
    return loss, lambda random: {name: random.randint(0, WORDS, (100, width)).astype("int64") for name, width in widths.items()}


def measure(executor, loss, feed, steps):
    random = np.random.RandomState(1)
    batches = 2 * [feed(random) for _ in range(steps)]
    begun, each, losses = time.time(), [], []
    for batch in batches:
        start = time.time()
        losses.append(float(np.ravel(executor.run(fluid.default_main_program(), feed=batch, fetch_list=[loss])[0])[0]))
        each.append(time.time() - start)
        if len(each) == steps:
            first = time.time() - begun
    print(json.dumps({"first_ms": 1e3 * first, "step_ms": 1e3 * statistics.median(each[steps:]), "losses": [losses[0], losses[-1]]}), flush=True)


def by_transpiler(steps):
    """As scripts of 1.x have it: the program is cut in two by the transpiler, and PADDLE_ variables say who is who."""
    role, number = os.environ["TRAINING_ROLE"], int(os.environ.get("PADDLE_TRAINER_ID", "0"))
    servers = os.environ["PADDLE_PSERVERS_IP_PORT_LIST"]
    loss, feed = word2vec(lambda loss: fluid.optimizer.SGD(0.1).minimize(loss))
    config = fluid.DistributeTranspilerConfig()
    config.sync_mode = False
    transpiler = fluid.DistributeTranspiler(config)
    transpiler.transpile(number, pservers=servers, trainers=int(os.environ["PADDLE_TRAINERS_NUM"]), sync_mode=False)
    executor = fluid.Executor(fluid.CPUPlace())
    if role == "PSERVER":
        endpoint = "%s:%s" % (os.environ["POD_IP"], os.environ["PADDLE_PORT"])
        program, startup = transpiler.get_pserver_programs(endpoint)
        executor.run(startup)
        return executor.run(program)
    program = transpiler.get_trainer_program()
    executor.run(fluid.default_startup_program())
    with fluid.program_guard(program):
        measure(executor, loss, feed, steps)
    executor.close()


def with_a_server(steps):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    shared = dict(os.environ, PADDLE_PSERVERS_IP_PORT_LIST="127.0.0.1:" + port, PADDLE_TRAINERS_NUM="1", POD_IP="127.0.0.1", PADDLE_PORT=port)
    words = [sys.executable, os.path.abspath(__file__), "servers", str(steps)]
    server = subprocess.Popen(words, env=dict(shared, TRAINING_ROLE="PSERVER"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        subprocess.check_call(words, env=dict(shared, TRAINING_ROLE="TRAINER", PADDLE_TRAINER_ID="0"))
    finally:
        server.terminate()
        server.wait()


def main():
    kind, steps = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20
    if hasattr(paddle, "enable_static"):
        paddle.enable_static()
    if kind == "servers":
        return by_transpiler(steps) if "TRAINING_ROLE" in os.environ else with_a_server(steps)
    if kind == "dense_adam":
        loss, feed = dense_adam()
    elif kind == "word2vec":
        loss, feed = word2vec(lambda loss: fluid.optimizer.SGD(0.1).minimize(loss))
    else:
        loss, feed = recurrent(kind)
    executor = fluid.Executor(fluid.CPUPlace())
    executor.run(fluid.default_startup_program())
    measure(executor, loss, feed, steps)


main()
