"""A two-layer perceptron that learns whether the sum of its inputs is above a half of their number.

The twin of mlp.cc: with the same seed both print the same losses.
"""

import numpy as np

import paddle.fluid as fluid


def draws():
    """The same numbers in C++ and Python: a small generator of our own (Park and Miller's)."""
    state = 1
    while True:
        state = state * 48271 % 2147483647
        yield np.float32(state / 2147483647.0)


def next_batch(numbers, size, width):
    x = np.array([next(numbers) for _ in range(size * width)], "float32").reshape(size, width)
    return {"x": x, "y": (x.astype("float64").sum(1, keepdims=True) > width / 2).astype("int64")}


fluid.default_startup_program().random_seed = 1
x = fluid.layers.data(name="x", shape=[32])
y = fluid.layers.data(name="y", shape=[1], dtype="int64")
h = fluid.layers.fc(input=x, size=128, act="tanh")
h = fluid.layers.fc(input=h, size=128, act="tanh")
predict = fluid.layers.fc(input=h, size=2, act="softmax")
loss = fluid.layers.mean(fluid.layers.cross_entropy(input=predict, label=y))
fluid.optimizer.SGD(learning_rate=0.1).minimize(loss)

exe = fluid.Executor(fluid.CPUPlace())
exe.run(fluid.default_startup_program())
numbers = draws()
for step in range(100):
    (value,) = exe.run(feed=next_batch(numbers, 64, 32), fetch_list=[loss])
    if step % 10 == 9:
        print("step %d loss %.6f" % (step, value[0]))
