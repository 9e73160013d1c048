"""The formulas of docs/operations.md are those of the code: its constants, and the memory of a real table."""

import pathlib
import re
import subprocess
import sys

import pytest

from doc_blocks import blocks_of

ROOT = pathlib.Path(__file__).resolve().parents[2]


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def formulas():
    names = {"print": lambda *_: None}
    blocks = [block.text for block in blocks_of(read("docs/operations.md")) if block.language == "python"]
    assert len(blocks) == 2
    exec("".join(blocks), names)
    return names


def test_the_constants_are_those_of_the_sources(formulas):
    assert "static_assert(sizeof(RowHeader) == 16" in read("argosy/table/row_layout.h") and formulas["row_bytes"](0, "sgd") == 16
    assert "static constexpr size_t kHeadBytes = 32;" in read("argosy/table/row_record.h") and formulas["snapshot_row_bytes"](0, "sgd") == 32
    assert re.search(r"uint32_t keep = (\d+);", read("argosy/ps/server/snapshotter.h"))[1] == str(formulas["SNAPSHOTS"])
    assert re.search(r"`log_limit` \|[^|]*\| BYTES \| 4G \|", read("docs/settings.md")) and formulas["LOG_LIMIT"] == 4 << 30
    assert "12" in re.search(r"(\d+)\n// entries share a cache line", read("argosy/table/slot_index.h"))[0] and formulas["index_bytes"](1)[0] > 64 / 12


@pytest.mark.parametrize("rule", ["sgd", "momentum", "adagrad", "adam"])
def test_the_states_are_those_of_the_rules(rule, formulas):
    made = {"sgd": "SGD(0.1)", "momentum": "Momentum(0.1, 0.9)", "adagrad": "Adagrad(0.1)", "adam": "Adam(0.1)"}[rule]
    code = (
        "import paddle.fluid as fluid\nids = fluid.layers.data('ids', [1], dtype='int64')\n"
        f"loss = fluid.layers.mean(fluid.layers.embedding(ids, [7, 3]))\nfluid.optimizer.{made}.minimize(loss)\n"
        "print(sum(list(v.shape) == [7, 3] for v in fluid.default_main_program().list_vars() if v.persistable) - 1)"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=120).stdout
    assert int(out) == formulas["STATES"][rule]


JOB = """
import numpy as np
import paddle.fluid as fluid
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet

ROWS = 400000
ids = fluid.layers.data('ids', [1], dtype='int64')
loss = fluid.layers.mean(fluid.layers.embedding(ids, [ROWS, 10], is_sparse=True, param_attr='table'))
fleet.init(role_maker.PaddleCloudRoleMaker())
fleet.distributed_optimizer(fluid.optimizer.Adam(0.1, lazy_mode=True), fluid.DistributeTranspilerConfig()).minimize(loss)
if fleet.is_server():
    fleet.run_server()
else:
    fleet.init_worker()
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    for part in np.arange(ROWS).reshape(20, -1, 1):
        exe.run(feed={'ids': part}, fetch_list=[loss])
    (table,) = [table for table in fleet.server_stats()[0].tables if table.name == 'table']
    print('rows', table.rows, 'bytes', table.memory_bytes, flush=True)
    fleet.stop_worker()
"""


def test_a_real_table_has_the_memory_of_the_formula(tmp_path, formulas):
    (tmp_path / "job.py").write_text(JOB, encoding="utf-8")
    done = subprocess.run(
        ["fleetrun", "--quiet", "--server_num=1", "--worker_num=1", "job.py"], cwd=tmp_path, capture_output=True, text=True, timeout=180, check=False
    )
    log = (tmp_path / "logs" / "workerlog.0").read_text()
    assert done.returncode == 0, done.stdout + done.stderr + log
    rows, memory = map(int, re.search(r"rows (\d+) bytes (\d+)", log).groups())
    assert rows == 400000
    least, most = (rows * formulas["row_bytes"](10, "adam") + index for index in formulas["index_bytes"](rows))
    assert 0.95 * least < memory < 1.15 * most, (memory / rows, least / rows, most / rows)
