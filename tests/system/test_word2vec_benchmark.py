"""A script of the shape of PaddleRec's benchmark of word2vec: skip-gram of single operators, negatives in the data, `paddle.initializer`, a schedule by mode."""

import re

import pytest

SCRIPT = """
import sys
import numpy as np
import paddle
import paddle.distributed.fleet as fleet
import paddle.fluid as fluid

L, mode = fluid.layers, sys.argv[1]
WORDS, WIDTH, NEGATIVES, BATCH, STEPS = 40, 8, 5, 64, 60
paddle.enable_static()
word = paddle.static.data("input_word", [None, 1], "int64")
near = paddle.static.data("true_label", [None, 1], "int64")
far = paddle.static.data("neg_label", [None, NEGATIVES], "int64")


def rows(ids, width, name, **first):
    return L.embedding(ids, size=[WORDS, width], is_sparse=True, param_attr=paddle.ParamAttr(name=name, **first))


zero, limit = paddle.initializer.Constant(value=0.0), 0.5 / WIDTH
middle = rows(word, WIDTH, "emb", initializer=paddle.initializer.Uniform(-limit, limit))
of_near, bias_near = rows(near, WIDTH, "emb_w", initializer=zero), rows(near, 1, "emb_b", initializer=zero)
drawn = L.reshape(far, shape=[-1, 1])
drawn.stop_gradient = True
of_far = L.reshape(rows(drawn, WIDTH, "emb_w", learning_rate=1.0), shape=[-1, NEGATIVES, WIDTH])
bias_far = L.reshape(rows(drawn, 1, "emb_b", learning_rate=1.0), shape=[-1, NEGATIVES])
right = L.elementwise_add(L.reduce_sum(L.elementwise_mul(middle, of_near), dim=1, keep_dim=True), bias_near)
products = L.matmul(L.reshape(middle, shape=[-1, 1, WIDTH]), of_far, transpose_y=True)
wrong = L.elementwise_add(L.reshape(products, shape=[-1, NEGATIVES]), bias_far)
ones = L.fill_constant_batch_size_like(right, shape=[-1, 1], value=1.0, dtype="float32")
zeros = L.fill_constant_batch_size_like(right, shape=[-1, NEGATIVES], value=0.0, dtype="float32")
costs = [L.reduce_sum(L.sigmoid_cross_entropy_with_logits(logits, labels), dim=1) for logits, labels in ((right, ones), (wrong, zeros))]
cost = L.reduce_mean(L.elementwise_add(*costs))

fleet.init()
strategy = fleet.DistributedStrategy()
strategy.a_sync = mode != "sync"
if mode == "geo":
    strategy.a_sync_configs = {"k_steps": 5}
    optimizer = fluid.optimizer.SGD(learning_rate=L.exponential_decay(2.0, decay_steps=20, decay_rate=0.9, staircase=True))
else:
    optimizer = fluid.optimizer.SGD(paddle.optimizer.lr.ExponentialDecay(2.0, gamma=0.999))
    strategy.a_sync_configs = {"lr_decay_steps": 20}
fleet.distributed_optimizer(optimizer, strategy).minimize(cost)
if fleet.is_server():
    fleet.init_server()
    fleet.run_server()
    sys.exit()
exe = paddle.static.Executor(paddle.CPUPlace())
exe.run(paddle.static.default_startup_program())
fleet.init_worker()
random, found = np.random.RandomState(fleet.worker_index()), []
for _ in range(STEPS):
    ids = random.randint(0, WORDS, (BATCH, 1))
    others = (ids + random.randint(2, WORDS - 1, (BATCH, NEGATIVES)) // 2 * 2) % WORDS
    found += exe.run(feed={"input_word": ids, "true_label": ids ^ 1, "neg_label": others}, fetch_list=[cost])
print("cost", float(found[0]), float(np.mean(found[-5:])))
fleet.stop_worker()
"""


@pytest.mark.parametrize("mode", ["sync", "async", "geo"])
def test_it_trains_on_servers(job, mode):
    job.write("train.py", SCRIPT)
    for log in job.launch("train.py", mode, servers=1):
        first, last = map(float, re.search(r"cost (\S+) (\S+)", log).groups())
        assert last < 0.8 * min(first, 6 * 0.6931), log  # 6 ln 2: of a model that knows nothing
