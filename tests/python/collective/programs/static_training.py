"""N ranks with differently seeded programs and a part of the batch each train as one process with the whole batch: SGD, so that a wrong scale
shows. The way to the job is named by the first argument. torch's Python package is never loaded."""

import os
import sys

import numpy as np

import paddle
import paddle.fluid as fluid

paddle.enable_static()
WAY = sys.argv[1]
BATCH, STEPS, WORDS = 4, 3, 20
rank, size = int(os.environ["PADDLE_TRAINER_ID"]), int(os.environ["PADDLE_TRAINERS_NUM"])


def build(seed, sparse, finish):
    """(program, startup, loss) with what `finish` adds to them."""
    main, startup = fluid.Program(), fluid.Program()
    main.random_seed = startup.random_seed = seed
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        ids = fluid.layers.data("ids", [3], dtype="int64")
        target = fluid.layers.data("target", [1])
        rows = fluid.embedding(ids, [WORDS, 6], is_sparse=sparse, param_attr=fluid.ParamAttr(name="table"))
        hidden = fluid.layers.fc(fluid.layers.reduce_sum(rows, dim=1), 16, act="tanh")
        loss = fluid.layers.mean(fluid.layers.square_error_cost(fluid.layers.fc(hidden, 1), target))
        finish(loss, startup)
    return main, startup, loss


def optimizer(clip):
    return fluid.optimizer.SGD(0.1, grad_clip=fluid.clip.GradientClipByGlobalNorm(0.3) if clip else None)


def fleet_2(clip):
    from paddle.distributed import fleet

    fleet.init(is_collective=True)
    strategy = fleet.DistributedStrategy()
    strategy.fuse_grad_size_in_MB = 0.0001 if clip else 32
    return lambda loss, startup: fleet.distributed_optimizer(optimizer(clip), strategy).minimize(loss, startup)


def fleet_1(clip):
    from paddle.fluid.incubate.fleet.base import role_maker
    from paddle.fluid.incubate.fleet.collective import CollectiveOptimizer, DistributedStrategy, fleet

    fleet.init(role_maker.PaddleCloudRoleMaker(is_collective=True))
    made = fleet.distributed_optimizer(optimizer(clip), DistributedStrategy())
    assert isinstance(made, CollectiveOptimizer)
    return lambda loss, startup: made.minimize(loss, startup)


def config(clip):
    """1.8's configuration of the transpiler as the strategy of a collective Fleet."""
    from paddle.distributed import fleet

    fleet.init(is_collective=True)
    made = fluid.DistributeTranspilerConfig()
    made.mode = "collective"
    return lambda loss, startup: fleet.distributed_optimizer(optimizer(clip), made).minimize(loss, startup)


def transpiler(clip):
    config = fluid.DistributeTranspilerConfig()
    config.mode = WAY

    def finish(loss, startup):
        optimizer(clip).minimize(loss, startup)
        endpoints = os.environ["PADDLE_TRAINER_ENDPOINTS"]
        transpiler = fluid.DistributeTranspiler(config)
        transpiler.transpile(
            rank, program=loss.block.program, trainers=endpoints, startup_program=startup, current_endpoint=os.environ["PADDLE_CURRENT_ENDPOINT"]
        )
        assert transpiler.get_trainer_program() is loss.block.program

    return finish


def feed(step, ranks):
    numbers = np.random.RandomState(1000 + step)
    ids, targets = numbers.randint(0, WORDS, (size, BATCH, 3)), numbers.rand(size, BATCH, 1).astype("float32")
    return {"ids": ids[ranks].reshape(-1, 3), "target": targets[ranks].reshape(-1, 1)}


def train(main, startup, loss, ranks, values=None):
    """The parameters at the start and at the end."""
    names = [parameter.name for parameter in main.all_parameters()]
    with fluid.scope_guard(fluid.Scope()):
        exe = fluid.Executor(fluid.CPUPlace())
        exe.run(startup)
        read = lambda: {name: np.array(fluid.global_scope().find_var(name).get_tensor()) for name in names}
        for name, value in (values or {}).items():
            fluid.global_scope().find_var(name).get_tensor().set(value)
        first = read()
        for step in range(STEPS):
            exe.run(main, feed=feed(step, ranks), fetch_list=[loss])
        return first, read()


for clip, sparse in ((False, False), (True, False), (False, True)) if WAY == "fleet_2" else ((False, True),):  # several programs of one process
    plain = lambda loss, startup: optimizer(clip).minimize(loss, startup)
    way = {"fleet_2": fleet_2, "fleet_1": fleet_1, "config": config}.get(WAY, transpiler)(clip)
    first, last = train(*build(7 + rank, sparse, way), [rank])
    alone, _ = train(*build(7, sparse, plain), [0])
    assert all((alone[name] == first[name]).all() for name in first), "parameters are not those of rank 0"
    _, expected = train(*build(7, sparse, plain), list(range(size)), first)
    for name, value in last.items():
        distance = np.linalg.norm(value - expected[name]) / np.linalg.norm(expected[name])
        assert distance < 1e-5, f"clip={clip} sparse={sparse} {name}: {distance}"
assert "torch" not in sys.modules
print("equal to one process")
