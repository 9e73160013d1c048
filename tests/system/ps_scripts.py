"""Texts that scripts of parameter-server jobs are put together from."""

# A regression with a dense layer and a table; every batch is a function of the worker's number and the step.
NETWORK = """
import os, sys
import numpy as np
import paddle
import paddle.fluid as fluid

paddle.enable_static()
x = fluid.layers.data('x', [4])
ids = fluid.layers.data('ids', [1], dtype='int64')
y = fluid.layers.data('y', [1])
rows = fluid.layers.embedding(ids, [20, 3], is_sparse=True, param_attr=fluid.ParamAttr(name='table'))
hidden = fluid.layers.concat([x, fluid.layers.reshape(rows, [-1, 3])], axis=1)
guess = fluid.layers.fc(hidden, 1, param_attr=fluid.ParamAttr(name='w'), bias_attr=fluid.ParamAttr(name='b'))
loss = fluid.layers.mean(fluid.layers.square_error_cost(guess, y))


def batch(seed, n=8):
    random = np.random.RandomState(seed)
    x = random.rand(n, 4).astype('float32')
    return {'x': x, 'ids': random.randint(0, 15, (n, 1)).astype('int64'), 'y': (x.sum(1, keepdims=True) * 2 - 1).astype('float32')}
"""

FLEET = (
    NETWORK
    + """
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet

fleet.init(role_maker.PaddleCloudRoleMaker())
"""
)

JOB = (
    FLEET
    + """
fleet.distributed_optimizer(fluid.optimizer.Adam(0.05)).minimize(loss)
if fleet.is_server():
    fleet.run_server()
    sys.exit(0)
exe = fluid.Executor(fluid.CPUPlace())
exe.run(fluid.default_startup_program())
"""
)

STEPS = """
losses = [float(exe.run(fluid.default_main_program(), feed=batch(100 * i + fleet.worker_index()), fetch_list=[loss])[0]) for i in range(60)]
print('losses', losses[0], losses[-1])
"""

MODES = ["sync", "half_async", "async", "geo"]

# Strategies by mode, as StrategyFactory has them.
STRATEGY = """
import os, sys
import numpy as np
import paddle
import paddle.fluid as fluid
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler.distributed_strategy import StrategyFactory

paddle.enable_static()
mode = sys.argv[1]
strategy = StrategyFactory.create_geo_strategy(4) if mode == 'geo' else getattr(StrategyFactory, 'create_%s_strategy' % mode)()
fleet.init(role_maker.PaddleCloudRoleMaker())
"""

SERVE = """
if fleet.is_server():
    fleet.run_server()
    sys.exit(0)
exe = fluid.Executor(fluid.CPUPlace())
exe.run(fluid.default_startup_program())
me = fleet.worker_index()
"""

# Steps without an end, until there is a file of that name; steps.N says how far worker N is.
ENDLESS = (
    STRATEGY
    + """
x = fluid.layers.data('x', [4])
ids = fluid.layers.data('ids', [1], dtype='int64')
rows = fluid.layers.embedding(ids, [50, 2], is_sparse=True)
loss = fluid.layers.mean(fluid.layers.fc(fluid.layers.concat([x, rows], axis=1), 1))
fleet.distributed_optimizer(fluid.optimizer.SGD(0.001), strategy).minimize(loss)
"""
    + SERVE
    + """
steps = os.open('steps.%d' % me, os.O_CREAT | os.O_WRONLY)
step = 0
while not os.path.exists('end'):
    exe.run(feed={'x': np.ones((2, 4), 'float32'), 'ids': np.array([[step % 50], [7]])})
    step += 1
    os.pwrite(steps, b'%9d' % step, 0)
fleet.stop_worker()
"""
)
