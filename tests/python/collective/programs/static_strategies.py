"""gradient_merge, localsgd and sync_batch_norm in programs: each against what one process computes for all ranks. torch's Python package is never loaded."""

import os
import sys

import numpy as np

import paddle
import paddle.fluid as fluid
from paddle.distributed import fleet

paddle.enable_static()
BATCH, WORDS, STEPS = 6, 20, 5
rank, size = int(os.environ["PADDLE_TRAINER_ID"]), int(os.environ["PADDLE_TRAINERS_NUM"])
fleet.init(is_collective=True)


def build(finish, sparse=False, norm=False):
    main, startup = fluid.Program(), fluid.Program()
    main.random_seed = startup.random_seed = 7
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        ids, target = fluid.layers.data("ids", [3], dtype="int64"), fluid.layers.data("target", [1])
        rows = fluid.embedding(ids, [WORDS, 6], is_sparse=sparse, param_attr=fluid.ParamAttr(name="table"))
        hidden = fluid.layers.fc(fluid.layers.reduce_sum(rows, dim=1), 16, act="tanh")
        hidden = fluid.layers.batch_norm(hidden, momentum=0.5) if norm else hidden
        loss = fluid.layers.mean(fluid.layers.square_error_cost(fluid.layers.fc(hidden, 1), target))
        finish(loss, startup)
    return main, startup, loss


def plain(loss, startup):
    fluid.optimizer.SGD(0.1).minimize(loss, startup)


def shared(clip=None, **fields):
    strategy = fleet.DistributedStrategy()
    for name, value in fields.items():
        setattr(strategy, name, value)
    fleet.fleet._programs = None  # each setting is another job's
    return lambda loss, startup: fleet.distributed_optimizer(fluid.optimizer.SGD(0.1, grad_clip=clip), strategy).minimize(loss, startup)


def feed(steps, ranks):
    made = []
    for step in steps:
        numbers = np.random.RandomState(1000 + step)
        ids, targets = numbers.randint(0, WORDS, (size, BATCH, 3)), numbers.rand(size, BATCH, 1).astype("float32")
        made.append((ids[ranks].reshape(-1, 3), targets[ranks].reshape(-1, 1)))
    return {"ids": np.concatenate([one[0] for one in made]), "target": np.concatenate([one[1] for one in made])}


class Run:
    """A program in a scope of its own."""

    def __init__(self, main, startup, loss):
        self.main, self.loss, self.scope, self.exe = main, loss, fluid.Scope(), fluid.Executor(fluid.CPUPlace())
        self.names = [v.name for v in main.list_vars() if v.persistable and "@" not in v.name and "step" not in v.name and "learning" not in v.name]
        with fluid.scope_guard(self.scope):
            self.exe.run(startup)

    def step(self, fed, fetched=True):
        with fluid.scope_guard(self.scope):
            self.exe.run(self.main, feed=fed, fetch_list=[self.loss] if fetched else [])

    def values(self):
        return {name: np.array(self.scope.find_var(name).get_tensor()) for name in self.names}

    def put(self, values):
        for name, value in values.items():
            self.scope.find_var(name).get_tensor().set(value)


def compare(what, found, expected, within=1e-5):
    for name, value in expected.items():
        distance = np.linalg.norm(found[name] - value) / np.linalg.norm(value)
        assert distance < within, f"{what}: {name}: {distance}"


for sparse in (False, True):
    for average in (True, False):
        job = Run(*build(shared(gradient_merge=True, gradient_merge_configs={"k_steps": 2, "avg": average}), sparse))
        one = Run(*build(plain, sparse))
        for step in range(STEPS):  # of which the last makes no update
            job.step(feed([step], [rank]), fetched=step % 2 == 0)
        for first in (0, 2):
            before = one.values()
            one.step(feed([first, first + 1], list(range(size))))
            if not average:  # of the sum of two gradients: twice as far
                one.put({name: before[name] + 2 * (value - before[name]) for name, value in one.values().items()})
        compare(f"gradient_merge avg={average} sparse={sparse}", job.values(), one.values())

clip = fluid.clip.GradientClipByGlobalNorm(0.05)
job = Run(*build(shared(clip, gradient_merge=True, gradient_merge_configs={"k_steps": 2, "avg": True})))
one = Run(*build(lambda loss, startup: fluid.optimizer.SGD(0.1, grad_clip=clip).minimize(loss, startup)))
for step in range(4):
    job.step(feed([step], [rank]))
for first in (0, 2):
    one.step(feed([first, first + 1], list(range(size))))
compare("gradient_merge with a clip", job.values(), one.values())

job = Run(*build(shared(localsgd=True, localsgd_configs={"k_steps": 2, "begin_step": 1}), sparse=True))
copies = [Run(*build(plain, sparse=True)) for _ in range(size)]
for step in range(STEPS):
    job.step(feed([step], [rank]))
    for number, copy in enumerate(copies):
        copy.step(feed([step], [number]))
    if step in (0, 2, 4):  # the first, and then every second one
        together = [copy.values() for copy in copies]
        for copy in copies:
            copy.put({name: np.mean([values[name] for values in together], axis=0) for name in together[0]})
    compare(f"localsgd after step {step}", job.values(), copies[rank].values())

job = Run(*build(shared(sync_batch_norm=True), norm=True))
one = Run(*build(plain, norm=True))
assert any(op.type == "sync_batch_norm" for op in job.main.global_block().ops)
for step in range(STEPS):
    job.step(feed([step], [rank]))
    one.step(feed([step], list(range(size))))
compare("sync_batch_norm", job.values(), one.values())
assert any("batch_norm" in name for name in one.values())

assert "torch" not in sys.modules
print("all checked")
