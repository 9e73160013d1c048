"""batch_norm on parameter servers: its running statistics, which no optimizer trains, reach the saved model."""

import numpy as np
import pytest

SCRIPT = """
import sys
import numpy as np
import paddle
import paddle.fluid as fluid
import paddle.distributed.fleet as fleet
paddle.enable_static()
fluid.default_startup_program().random_seed = 5
mode, threads = sys.argv[1], int(sys.argv[2])
x = fluid.layers.data('x', [4])
y = fluid.layers.data('y', [1])
hidden = fluid.layers.fc(x, 4, param_attr=fluid.ParamAttr(name='frozen', trainable=False), bias_attr=False)
normed = fluid.layers.batch_norm(hidden, momentum=0.8)
predicted = fluid.layers.fc(normed, 1)
loss = fluid.layers.mean(fluid.layers.square_error_cost(predicted, y))
optimizer = fluid.optimizer.SGD(0.01)
if mode == 'local':
    optimizer.minimize(loss)
else:
    fleet.init()
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = mode != 'sync'
    if mode == 'geo':
        strategy.a_sync_configs = {'k_steps': 3}
    fleet.distributed_optimizer(optimizer, strategy).minimize(loss)
    if fleet.is_server():
        fleet.init_server()
        fleet.run_server()
        sys.exit(0)
main = fluid.default_main_program()
test = main.clone(for_test=True)
exe = fluid.Executor(fluid.CPUPlace())
exe.run(fluid.default_startup_program())
if mode != 'local':
    fleet.init_worker()
random = np.random.RandomState(0)
for step in range(60):
    batch = (random.randn(32, 4) * 3 + 5).astype('float32')
    exe.run(main, feed={'x': batch, 'y': batch[:, :1]}, fetch_list=[loss])
if mode == 'local' or fleet.is_first_worker():
    (fluid.io if mode == 'local' else fleet).save_persistables(exe, 'saved_' + mode)
    batch = np.linspace(0, 10, 32).reshape(8, 4).astype('float32')
    named = {'frozen': 0}
    named.update({'batch_norm_0.w_%d' % i: 0 for i in (1, 2)})
    values = {name: np.array(fluid.global_scope().find_var(name).get_tensor()) for name in named}
    np.savez('values_' + mode, hidden=exe.run(test, feed={'x': batch, 'y': batch[:, :1]}, fetch_list=[normed])[0], **values)
if mode != 'local':
    fleet.stop_worker()
"""


def values(job, mode):
    return dict(np.load(job.folder / f"values_{mode}.npz"))


@pytest.mark.parametrize("mode", ["sync", "async", "geo"])
def test_running_statistics_are_those_of_the_data(job, mode):
    job.write("train.py", SCRIPT)
    job.end(job.python("train.py", "local", "1"))
    job.launch("train.py", mode, "1", workers=1 if mode == "sync" else 2)
    here, there = values(job, "local"), values(job, mode)
    assert (job.folder / f"saved_{mode}" / "batch_norm_0.w_1").exists()
    if mode == "sync":  # one worker is one process
        for name, value in here.items():
            np.testing.assert_allclose(there[name], value, rtol=1e-4, atol=1e-5, err_msg=name)
    # Against the data: x is 5 with deviation 3, and the layer before is linear.
    frozen = there["frozen"]
    np.testing.assert_allclose(there["batch_norm_0.w_1"], frozen.sum(0) * 5, atol=2.5)
    np.testing.assert_allclose(there["batch_norm_0.w_2"], (frozen**2).sum(0) * 9, rtol=0.6)
