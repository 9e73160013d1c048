"""Fleet in a script that no launcher started, and what it is told of a program."""

import os
import subprocess
import sys

import pytest
from comparing import IDS, declared

import paddle
from argosy import _core, errors


@pytest.fixture
def no_job(monkeypatch):
    for name in ("TRAINING_ROLE", "PADDLE_TRAINING_ROLE", "PADDLE_PSERVERS_IP_PORT_LIST", "PADDLE_PSERVER_IPS", "PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM"):
        monkeypatch.delenv(name, raising=False)


def test_a_script_for_servers_trains_alone_without_a_launcher(static, no_job):
    from paddle.distributed import fleet

    made = fleet.Fleet(_core.Fleet())
    with pytest.warns(UserWarning, match="no parameter servers, and this process trains alone; start the script by fleetrun"):
        made.init()
    assert made.is_worker() and made.is_first_worker() and not made.is_server() and (made.worker_num(), made.server_num()) == (1, 0)
    (ids,) = declared([IDS[:, :1]])
    loss = paddle.mean(paddle.static.nn.sparse_embedding(ids, [7, 2]))
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = True
    made.distributed_optimizer(paddle.optimizer.SGD(0.5), strategy).minimize(loss)
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    made.init_worker()
    losses = [float(exe.run(feed={"in0": IDS[:, :1].copy()}, fetch_list=[loss])[0]) for _ in range(3)]
    made.stop_worker()
    assert losses[0] > losses[1] > losses[2]


LAUNCHERS = {
    "collective": {
        "PADDLE_TRAINER_ID": "1",
        "PADDLE_TRAINERS_NUM": "2",
        "PADDLE_TRAINER_ENDPOINTS": "127.0.0.1:6170,127.0.0.1:6171",
        "PADDLE_CURRENT_ENDPOINT": "127.0.0.1:6171",
    },
    "torchrun": {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "6170"},
    "mpirun": {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "1", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"},
    "srun": {
        "SLURM_PROCID": "1",
        "SLURM_STEP_NUM_TASKS": "2",
        "SLURM_LOCALID": "1",
        "SLURM_NODEID": "0",
        "SLURM_STEP_TASKS_PER_NODE": "2",
        "MASTER_ADDR": "127.0.0.1",
    },
}


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_process_of_another_launcher_that_trains_alone_says_so_in_all(launcher, no_job):
    """What it is told, how many workers there are and which files are its: once 'alone' came with a half of the files, and nobody had the rest."""
    script = """
import warnings
from paddle.distributed import fleet
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    fleet.init()
assert any("one of 2 without servers trains alone, as worker 0 of 1" in str(one.message) and "is_collective=True" in str(one.message) for one in said), said
assert (fleet.worker_num(), fleet.worker_index(), fleet.is_first_worker()) == (1, 0, True)
assert fleet.util.get_file_shard(["a", "b", "c"]) == ["a", "b", "c"]
"""
    done = subprocess.run([sys.executable, "-c", script], env={**os.environ, **LAUNCHERS[launcher]}, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_a_variable_that_is_missing_stays_an_error(no_job, monkeypatch):
    from paddle.distributed import fleet

    monkeypatch.setenv("PADDLE_TRAINER_ID", "1")
    monkeypatch.setenv("TRAINING_ROLE", "TRAINER")
    with pytest.raises(errors.NotFoundError, match=r"environment variable PADDLE_PSERVERS_IP_PORT_LIST is not set"):
        fleet.PaddleCloudRoleMaker().generate_role()


def test_where_gloo_would_meet_changes_nothing(no_job):
    from paddle.distributed import fleet

    role = fleet.PaddleCloudRoleMaker(is_collective=True, init_gloo=True, path="./tmp_gloo")
    assert role.worker_num() == 1
    with pytest.raises(TypeError, match="the environment says everything; found worker_num"):
        fleet.PaddleCloudRoleMaker(worker_num=2)


def test_a_process_alone_may_minimize_again(static, no_job):
    """As in 2.6.2: nothing was distributed."""
    from paddle.distributed import fleet

    made = fleet.Fleet(_core.Fleet())
    with pytest.warns(UserWarning, match="this process trains alone"):
        made.init()
    for _ in range(2):
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            (ids,) = declared([IDS[:, :1]])
            loss = paddle.mean(paddle.static.nn.sparse_embedding(ids, [7, 2]))
            made.distributed_optimizer(paddle.optimizer.SGD(0.5), fleet.DistributedStrategy()).minimize(loss)
        exe = paddle.static.Executor()
        exe.run(startup)
        losses = [float(exe.run(main, feed={"in0": IDS[:, :1].copy()}, fetch_list=[loss])[0]) for _ in range(2)]
        assert losses[0] > losses[1]


def test_what_a_script_says_of_its_program(static):
    options = paddle.static.default_main_program()._fleet_opt
    options["stat_var_names"] = ["auc"]
    assert paddle.static.default_main_program()._fleet_opt == {"stat_var_names": ["auc"]}
    with pytest.raises(errors.InvalidArgumentError, match="workers write no fields"):
        options["dump_fields"] = ["x"]
    with pytest.raises(errors.InvalidArgumentError, match="_fleet_opt has dump_fields_path, .* found 'colour'"):
        options["colour"] = "red"


def test_workers_write_nothing_of_batches_to_files():
    from paddle.distributed import fleet

    strategy = fleet.DistributedStrategy()
    strategy.trainer_desc_configs = {"dump_fields_path": "", "dump_fields": [], "stat_var_names": []}
    with pytest.raises(errors.InvalidArgumentError, match="trainer_desc_configs: dump_fields = "):
        strategy.trainer_desc_configs = {"dump_fields": ["x"]}
    with pytest.raises(AttributeError, match="trainer_desc_configs has no setting 'colour'"):
        strategy.trainer_desc_configs = {"colour": 1}
    with pytest.warns(UserWarning, match="adam_d2sum = True: servers move dense parameters of Adam by Adam's own rule"):
        strategy.adam_d2sum = True
