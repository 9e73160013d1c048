"""Fleet in a script that no launcher started, and what it is told of a program."""

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
