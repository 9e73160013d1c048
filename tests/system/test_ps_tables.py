"""Sparse tables of whole jobs: which keys get a row, which lose it, and rows that do not fit into memory."""

import re

import numpy as np
import pytest

from ps_job import SECONDS

TABLE = """
import os, sys
import numpy as np
import paddle
import paddle.fluid as fluid
import paddle.distributed.fleet as fleet

paddle.enable_static()
fleet.init()
ids = paddle.static.data('ids', [None, 1], 'int64')
show, click = paddle.static.data('show', [None, 1], 'float32'), paddle.static.data('click', [None, 1], 'float32')
entry = eval(sys.argv[1])
rows = paddle.static.nn.sparse_embedding(ids, [1000, 2], entry=entry, param_attr=paddle.ParamAttr(name='table'))
loss = paddle.mean(rows) + paddle.mean(show * 0.0) + paddle.mean(click * 0.0)
strategy = fleet.DistributedStrategy()
strategy.a_sync = True
fleet.distributed_optimizer(paddle.optimizer.SGD(1.0), strategy).minimize(loss)
if fleet.is_server():
    fleet.init_server()
    fleet.run_server()
    sys.exit(0)
exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
me = fleet.worker_index()


def train(keys, clicks=0):
    keys = np.asarray(keys).reshape(-1, 1)
    ones = np.ones(keys.shape, 'float32')
    exe.run(feed={'ids': keys, 'show': ones, 'click': ones * clicks})


def rows_now():
    return sum(table.rows for server in fleet.server_stats() for table in server.tables if table.name == 'table')


def trained():
    '''The keys whose row is not what a new one would be.'''
    fleet.barrier_worker()
    values = np.array(fluid.global_scope().find_var('table').get_tensor())
    return sorted(np.flatnonzero((values != first).any(1)).tolist())


first = np.array(fluid.global_scope().find_var('table').get_tensor())
fleet.barrier_worker()
"""

END = """
fleet.barrier_worker()
fleet.stop_worker()
"""


def test_a_count_filter_keeps_rare_keys_out(job):
    """Both workers see keys 0 to 4 in each of their two batches, four times in all; each sees keys of its own in one of them."""
    job.write(
        "train.py",
        TABLE
        + """
for turn in range(2): train([0, 1, 2, 3, 4, 10 * (me + 1) + turn])
print('trained', trained(), 'rows', rows_now())
"""
        + END,
    )
    for log in job.launch("train.py", "paddle.distributed.CountFilterEntry(3)"):
        assert "trained [0, 1, 2, 3, 4] rows 5" in log, log


def test_a_probability_admits_the_same_keys_on_every_worker_and_run(job):
    job.write(
        "train.py",
        TABLE
        + """
for turn in range(3): train(range(400))
print('trained', trained(), 'rows', rows_now())
"""
        + END,
    )
    found = set()
    for _ in range(2):
        for log in job.launch("train.py", "paddle.distributed.ProbabilityEntry(0.25)"):
            keys, rows = re.search(r"trained \[(.*)\] rows (\d+)", log).groups()
            assert int(rows) == len(keys.split(",")) and 60 < int(rows) < 140, log
            found.add(keys)
    assert len(found) == 1


def test_shows_and_clicks_decide_what_shrink_removes(job):
    """Keys 0 to 4 are clicked, keys 5 to 9 only shown; a score counts clicks for more."""
    job.write(
        "train.py",
        TABLE
        + """
for turn in range(4):
    train(range(5), clicks=1)
    train(range(5, 10))
before = trained(), rows_now()
fleet.barrier_worker()
dropped = fleet.shrink(2.0) if me == 0 else 'nothing'
print('before', before, 'dropped', dropped, 'left', trained(), 'rows', rows_now())
"""
        + END,
    )
    logs = job.launch("train.py", "paddle.distributed.ShowClickEntry('show', 'click')")
    for log, dropped in zip(logs, ("5", "nothing")):
        assert f"before ([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 10) dropped {dropped} left [0, 1, 2, 3, 4] rows 5" in log, log


OPTIONS = TABLE.replace("strategy.a_sync = True", "strategy.a_sync = True; strategy.fleet_desc_configs = {'table': eval(sys.argv[2])}")


def test_rows_expire_by_steps_without_a_gradient(job):
    job.write(
        "train.py",
        OPTIONS
        + """
if me == 0:
    train([1, 2, 3])
    for turn in range(6): train([1, 50])
fleet.barrier_worker()
kept = fleet.shrink(unseen_steps=1000) if me == 0 else 0
print('kept', kept, 'dropped', fleet.shrink() if me == 0 else 2, 'left', trained())
"""
        + END,
    )
    for log in job.launch("train.py", "None", "{'sparse_delete_after_unseen_steps': 4}"):
        assert "kept 0 dropped 2 left [1, 50]" in log, log


def test_scores_decay_and_say_who_gets_a_row(job):
    """A click weighs 1, a show without one 0.5; a key has a row from 2 on. Each shrink() halves what was counted."""
    job.write(
        "train.py",
        OPTIONS
        + """
if me == 0:
    for turn in range(4): train([1], clicks=1), train([2])
    train([3], clicks=1)
fleet.barrier_worker()
print('rows', trained())
fleet.barrier_worker()
print('dropped', [fleet.shrink() for _ in range(3)] if me == 0 else [0, 1, 1], 'left', trained())
"""
        + END,
    )
    options = {"sparse_show_click_decay_rate": 0.5, "sparse_nonclk_coeff": 0.5, "sparse_embedx_threshold": 2, "sparse_delete_threshold": 0.9}
    for log in job.launch("train.py", "paddle.distributed.ShowClickEntry('show', 'click')", repr(options)):
        assert "rows [1, 2]" in log and "dropped [0, 1, 1] left []" in log, log


@pytest.mark.parametrize(
    "options, told",
    [
        ("{'sparse_delete_treshold': 1}", "'sparse_delete_treshold' is no option of a sparse table; expected one of sparse_click_coeff"),
        ("{'sparse_click_coeff': -1}", "table 'table': sparse_click_coeff is -1, expected a number from 0"),
        ("{'sparse_click_coeff': 'a'}", "fleet_desc_configs['table']['sparse_click_coeff'] is a number; found 'a'"),
    ],
)
def test_table_options_that_cannot_be_are_named(job, options, told):
    job.write("train.py", OPTIONS)
    launcher = job.fleetrun("train.py", "None", options)
    assert launcher.wait(SECONDS) != 0
    assert told in job.logs()


def test_rows_outside_the_declared_size_are_not_dropped_in_silence(job):
    job.write(
        "train.py",
        TABLE
        + """
train([2, 1 << 40, 1000])
fleet.barrier_worker()
if me == 0:
    for turn in range(2): fleet.save_persistables(exe, 'saved-%d' % turn)
"""
        + END,
    )
    out = job.end(job.fleetrun("train.py", "None"))
    told = "table 'table': 2 rows of ids outside 0 … 999 (the first is 1000) were trained, which its declared size leaves out"
    assert out.count("warning worker 0: " + told) == 1 and job.log("worker 0").count(told) == 2, out + job.logs()


LARGE = """
import sys
import numpy as np
import paddle
import paddle.fluid as fluid
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet

fleet.init(role_maker.PaddleCloudRoleMaker())
ids = fluid.layers.data('ids', [1], dtype='int64')
rows = fluid.layers.embedding(ids, [60000, 8], is_sparse=True, param_attr=fluid.ParamAttr(name='table'))
loss = fluid.layers.mean(fluid.layers.square(rows - 1.0))
fleet.distributed_optimizer(fluid.optimizer.Adam(0.01)).minimize(loss)
if fleet.is_server():
    fleet.run_server()
    sys.exit(0)
exe = fluid.Executor(fluid.CPUPlace())
exe.run(fluid.default_startup_program())
random = np.random.RandomState(3)
for step in range(12):
    exe.run(feed={'ids': np.concatenate([np.arange(5000 * step, 5000 * step + 5000), random.randint(0, 60000, 2000)]).reshape(-1, 1)})
cold = sum(table.cold_rows for server in fleet.server_stats() for table in server.tables)
print('cold', cold, 'of', sum(table.rows for server in fleet.server_stats() for table in server.tables))
fleet.save_persistables(exe, sys.argv[1])
fleet.stop_worker()
"""


def test_rows_beyond_the_memory_limit_train_as_all_others(job):
    job.write("train.py", LARGE)
    found = {}
    for name, flags in (("all", []), ("some", ["--mem-limit=1M", "--directory=kept"])):
        job.end(job.fleetrun(*flags, "train.py", name, servers=2, workers=1))
        found[name] = tuple(map(int, re.search(r"cold (\d+) of (\d+)", job.log("worker 0")).groups()))
    assert found["all"][0] == 0 and found["some"][0] > 20000 and found["some"][1] == found["all"][1] == 60000, found
    for file in (job.folder / "all").iterdir():
        assert file.read_bytes() == (job.folder / "some" / file.name).read_bytes(), file.name
    table = np.frombuffer((job.folder / "some" / "table").read_bytes()[-60000 * 32 :], "float32")
    assert np.isfinite(table).all() and len(np.unique(table)) > 1000
