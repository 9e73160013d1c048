"""Two losses in one program, a maker's and a critic's, each with its optimizer and its parameters: trains alone, or on servers where it is started so, and
prints the parameters."""

import numpy as np

import paddle
import paddle.distributed.fleet as fleet
import paddle.fluid as fluid


def weights(name, columns):
    return fluid.ParamAttr(name=name, initializer=fluid.initializer.NumpyArrayInitializer(np.linspace(-1, 1, 4 * columns, dtype="float32").reshape(4, -1)))


def main():
    paddle.enable_static()
    fleet.init()
    x = fluid.data("x", [None, 4])
    made = fluid.layers.fc(x, 4, param_attr=weights("maker", 4), bias_attr=False, act="tanh")
    judged, true = (fluid.layers.fc(one, 1, param_attr=weights("critic", 1), bias_attr=False) for one in (made, x))
    critics, makers = fluid.layers.mean(judged) - fluid.layers.mean(true), 0.0 - fluid.layers.mean(judged)
    first = paddle.optimizer.SGD(0.1)
    first.minimize(makers, parameters=["maker"])
    fleet.distributed_optimizer(paddle.optimizer.Adam(0.05)).minimize(critics, parameter_list=["critic"])
    if fleet.is_server():
        fleet.init_server()
        fleet.run_server()
        return
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    fleet.init_worker()
    draw = np.random.RandomState(3)
    for _ in range(6):
        exe.run(feed={"x": draw.rand(8, 4).astype("float32")})
    fleet.barrier_worker()
    values = [np.array(fluid.global_scope().find_var(name).get_tensor()).ravel() for name in ("maker", "critic")]
    first.set_lr(0.01)
    try:
        exe.run(feed={"x": draw.rand(8, 4).astype("float32")})
        print("the rate is another")
    except NotImplementedError as error:
        print("refused:", error)
    fleet.stop_worker()
    print("values", *(f"{one:.6f}" for one in np.concatenate(values)), flush=True)


main()
