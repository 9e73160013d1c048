"""Both Fleets, and the transpiler, as far as one process can go: what they build and what they refuse."""

import inspect

import numpy as np
import pytest

from argosy import _core

SERVERS = ["127.0.0.1:6001", "127.0.0.1:6002"]


def role(kind="worker", index=0, workers=2):
    from paddle.fluid.incubate.fleet.base.role_maker import Role, UserDefinedRoleMaker

    return UserDefinedRoleMaker(current_id=index, role=Role.WORKER if kind == "worker" else Role.SERVER, worker_num=workers, server_endpoints=SERVERS)


@pytest.fixture(params=["fluid", "distributed"])
def fleet(request):
    """A Fleet of each kind, of the test's own."""
    if request.param == "fluid":
        from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import DistributedTranspiler as Fleet
    else:
        from paddle.distributed.fleet import Fleet
    return Fleet(_core.Fleet())


@pytest.fixture
def network(fluid):
    x = fluid.layers.data("x", [4])
    ids = fluid.layers.data("ids", [1], dtype="int64", lod_level=1)
    rows = fluid.layers.embedding(ids, [50, 3], is_sparse=True, param_attr=fluid.ParamAttr(name="table"))
    joined = fluid.layers.concat([x, fluid.layers.sequence_pool(rows, "sum")], axis=1)
    return fluid.layers.mean(fluid.layers.fc(joined, 1))


def op_types(program):
    return [op.type for op in program.global_block().ops]


def test_minimize_leaves_a_worker_the_gradients_and_no_updates(fluid, fleet, network):
    fleet.init(role())
    before = fluid.default_main_program()
    optimizer = fleet.distributed_optimizer(fluid.optimizer.Adam(0.01))
    _, pairs = optimizer.minimize(network)
    assert len(pairs) == 3
    types = op_types(before)
    assert types[-1] == "send" and "adam" not in types
    assert fleet.main_program is before and fleet.startup_program is fluid.default_startup_program()
    startup = fluid.default_startup_program().global_block()
    assert op_types(fluid.default_startup_program())[-1] == "recv"
    assert not any("table" in op.output_arg_names for op in startup.ops if op.type != "recv")
    assert optimizer.get_lr() == pytest.approx(0.01)  # asked of the optimizer inside


def test_minimize_keeps_a_servers_program(fluid, fleet, network):
    fleet.init(role("server"))
    fleet.distributed_optimizer(fluid.optimizer.SGD(0.01)).minimize(network)
    assert "sgd" in op_types(fluid.default_main_program())


def test_minimize_takes_the_startup_program_and_lists_of_one(fluid, fleet, network):
    startup = fluid.default_startup_program()
    fleet.init(role())
    optimizer = fleet.distributed_optimizer(fluid.optimizer.SGD(0.01))
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        optimizer.minimize(network, startup_program=startup, no_grad_set={"fc_0.b_0"}, parameter_list=["fc_0.w_0", "table"])
    send = network.block.program.global_block().ops[-1]
    assert send.type == "send" and send.attr("parameters") == ["table", "fc_0.w_0"]
    assert op_types(startup)[-1] == "recv"


def test_several_losses_are_refused(fluid, fleet, network):
    fleet.init(role())
    with pytest.raises(ValueError, match="has a loss; found 2"):
        fleet.distributed_optimizer(fluid.optimizer.SGD(0.01)).minimize([network, network])


def test_a_job_has_one_program(fluid, fleet, network):
    fleet.init(role())
    optimizer = fleet.distributed_optimizer(fluid.optimizer.SGD(0.01))
    optimizer.minimize(network)
    with pytest.raises(RuntimeError, match="distributed already"):
        optimizer.minimize(network)


def test_calls_in_the_wrong_order_or_role_say_so(fluid, fleet, network):
    with pytest.raises(RuntimeError, match="before fleet.init"):
        fleet.distributed_optimizer(fluid.optimizer.SGD(0.01)).minimize(network)
    fleet.init(role())
    with pytest.raises(RuntimeError, match="nothing has been distributed yet"):
        fleet.init_worker()
    with pytest.raises(RuntimeError, match="run_server\\(\\) is for servers"):
        fleet.run_server()
    with pytest.raises(RuntimeError, match="init_server\\(\\) is for servers"):
        fleet.init_server()
    fleet.init(role("server"))
    for call in (fleet.init_worker, fleet.stop_worker, fleet.barrier_worker, lambda: fleet.shrink(), fleet.server_stats, lambda: fleet.util.all_reduce(1)):
        with pytest.raises(RuntimeError, match="is for workers; this process is server 0"):
            call()
    exe = fluid.Executor(fluid.CPUPlace())
    for call in (fleet.save_persistables, fleet.save_persistable, fleet.load_persistables):
        with pytest.raises(RuntimeError, match="is for workers"):
            call(exe, "folder")
        with pytest.raises(TypeError, match="takes the Executor.*found NoneType"):
            call(None, "folder")


def test_arguments_that_nothing_honours_are_refused(fluid, fleet, network):
    fleet.init(role())
    with pytest.raises(TypeError, match="takes an optimizer.*found float"):
        fleet.distributed_optimizer(0.1)
    with pytest.raises(TypeError, match="a strategy is"):
        fleet.distributed_optimizer(fluid.optimizer.SGD(0.01), "async")
    fleet.init(role("server"))
    with pytest.raises(TypeError, match="shards"):
        fleet.init_server("folder", shards=2)
    with pytest.raises(ValueError, match="say more of a folder; name it"):
        fleet.init_server(var_names=["w"])
    with pytest.raises(ValueError, match="give one of them"):
        fleet.init_server("folder", dirname="folder")
    with pytest.raises(TypeError, match="takes a list of files"):
        fleet.util.get_file_shard("part-0")
    for world in ("server", "all"):
        for call in (lambda: fleet.util.barrier(world), lambda: fleet.util.all_reduce(1, comm_world=world), lambda: fleet.util.all_gather(1, world)):
            with pytest.raises(NotImplementedError, match=f"comm_world='{world}': workers meet at the servers, .*fleet.server_stats"):
                call()
    with pytest.raises(ValueError, match="comm_world is 'worker'; found 'trainers'"):
        fleet.util.barrier("trainers")


def test_a_setting_that_does_not_exist_is_an_error_that_names_it(fluid, fleet, network):
    config = fluid.DistributeTranspilerConfig()
    config.settings["speed"] = "high"
    fleet.init(role())
    with pytest.raises(ValueError, match="speed"):
        fleet.distributed_optimizer(fluid.optimizer.SGD(0.01), config).minimize(network)


def test_the_functions_of_the_package_are_those_of_one_fleet():
    from paddle.distributed import fleet

    for name in ("init", "is_worker", "minimize", "run_server", "save_persistables"):
        assert getattr(fleet, name).__self__ is fleet.fleet
    assert fleet.util is fleet.fleet.util and isinstance(fleet.util, fleet.UtilBase)
    for name in ("Fleet", "PaddleCloudRoleMaker", "UserDefinedRoleMaker", "role_maker", "DistributedStrategy", "MultiSlotDataGenerator", "metrics"):
        assert hasattr(fleet, name)


@pytest.mark.parametrize(
    "module, name, parameters",
    [
        (
            "paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler",
            "save_inference_model",
            "executor dirname feeded_var_names target_vars main_program export_for_deployment",
        ),
        ("paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler", "init", "role_maker"),
        ("paddle.distributed.fleet", "init", "role_maker is_collective strategy log_level"),
        ("paddle.distributed.fleet", "save_inference_model", "executor dirname feeded_var_names target_vars main_program export_for_deployment mode"),
        ("paddle.distributed.fleet", "minimize", "loss startup_program parameter_list no_grad_set"),
        ("paddle.distributed.fleet", "worker_endpoints", "to_string"),
    ],
)
def test_arguments_have_paddles_names(module, name, parameters):
    import importlib

    found = importlib.import_module(module)
    call = getattr(found if module.endswith("distributed.fleet") else found.fleet, name)
    assert " ".join(inspect.signature(call).parameters) == parameters


@pytest.fixture
def transpiler(fluid, network):
    fluid.optimizer.Momentum(0.1, 0.9).minimize(network)
    config = fluid.DistributeTranspilerConfig()
    made = fluid.DistributeTranspiler(config)
    made.transpile(0, pservers=",".join(SERVERS), trainers=2)
    return made


def test_a_server_program_prints_and_survives_its_bytes(fluid, transpiler):
    program, startup = transpiler.get_pserver_programs(SERVERS[1])
    again = fluid.Program.parse_from_string(program.desc.serialize_to_string())
    serve = again.global_block().ops[-1]
    assert serve.type == "listen_and_serv" and serve.attr("endpoint") == SERVERS[1] and serve.attr("Fanin") == 2
    assert "momentum" in [op.type for op in again.block(1).ops]
    assert str(again) == str(program) and "listen_and_serv" in str(program)
    assert any("fc_0.w_0" in op.output_arg_names for op in startup.global_block().ops)
    assert {"fc_0.w_0", "fc_0.w_0_velocity_0"} <= {var.name for var in program.list_vars()}


def test_the_trainer_program_is_the_one_that_was_transpiled(fluid, transpiler):
    main = fluid.default_main_program()
    assert transpiler.get_trainer_program(wait_port=False) is main is transpiler.get_trainer_program()
    assert op_types(main)[-1] == "send" and op_types(fluid.default_startup_program())[-1] == "recv"
    again = fluid.Program.parse_from_string(main.desc.serialize_to_string())
    assert str(again) == str(main)


def test_a_program_that_runs_right_after_transpile_is_the_workers(fluid, transpiler):
    """1.8's transpile() had changed it by then, so that scripts run the startup program before they ask for the worker's."""
    from argosy.fluid import early_runs

    early_runs.begin(fluid.Program())
    assert op_types(fluid.default_startup_program())[-1] != "recv"
    early_runs.begin(fluid.default_startup_program())
    assert op_types(fluid.default_startup_program())[-1] == "recv" and op_types(fluid.default_main_program())[-1] == "send"
    assert transpiler.get_trainer_program() is fluid.default_main_program()


def test_the_transpiler_refuses_what_cannot_be(fluid, transpiler, network):
    with pytest.raises(ValueError, match="'here:1' is not one of the servers"):
        transpiler.get_pserver_program("here:1")
    with pytest.raises(ValueError, match="startup_program is not the one"):
        transpiler.get_startup_program(SERVERS[0], None, fluid.Program())
    with pytest.raises(ValueError, match="takes a DistributeTranspilerConfig"):
        fluid.DistributeTranspiler("async")
    with pytest.raises(RuntimeError, match="call transpile\\(\\) first"):
        fluid.DistributeTranspiler().get_trainer_program()
    for arguments in (dict(trainer_id=2, trainers=2), dict(trainer_id=0, trainers="a,b"), dict(trainer_id=0, pservers="nowhere")):
        with pytest.raises(ValueError, match="transpile"):
            fluid.DistributeTranspiler().transpile(**arguments)


def test_a_transpiler_can_say_how_it_shares_the_program(fluid, network, capsys):
    fluid.optimizer.SGD(0.1).minimize(network)
    config = fluid.DistributeTranspilerConfig()
    config.print_log = True
    fluid.DistributeTranspiler(config).transpile(0, sync_mode=False)
    said = capsys.readouterr().out
    assert "3 tables for 1 workers, async" in said and "table: rows of [50, 3], sgd" in said


def test_a_program_without_an_optimizer_is_refused(fluid, network):
    with pytest.raises(RuntimeError, match="no optimizer operators"):
        fluid.DistributeTranspiler().transpile(0)


def test_entries_of_sparse_tables():
    from paddle import distributed

    assert distributed.CountFilterEntry(10)._to_attr() == "count_filter_entry:10"
    assert distributed.ProbabilityEntry(0.25)._to_attr() == "probability_entry:0.25"
    assert distributed.ShowClickEntry("show", "click")._to_attr() == "show_click_entry:show:click"
    for make in (
        lambda: distributed.CountFilterEntry(-1),
        lambda: distributed.CountFilterEntry(1.5),
        lambda: distributed.ProbabilityEntry(1),
        lambda: distributed.ProbabilityEntry(1.5),
        lambda: distributed.ShowClickEntry("show", 3),
    ):
        with pytest.raises(ValueError):
            make()


@pytest.mark.parametrize("entry, accepted", [("CountFilterEntry", 3), ("CountFilterEntry", 0), ("ProbabilityEntry", 0.5), (None, None)])
def test_a_sparse_embedding_goes_to_the_servers(fluid, fleet, entry, accepted):
    import paddle

    ids = fluid.layers.data("ids", [1], dtype="int64")
    made = getattr(paddle.distributed, entry)(accepted) if entry else None
    rows = paddle.static.nn.sparse_embedding(ids, [10, 4], entry=made, param_attr=fluid.ParamAttr(name="rows"))
    fleet.init(role())
    fleet.distributed_optimizer(fluid.optimizer.Adagrad(0.1)).minimize(fluid.layers.mean(rows))
    assert fluid.default_main_program().global_block().ops[-1].attr("parameters") == ["rows"]


def test_weight_decay_of_tables_on_servers_is_said_once(fluid, fleet, capfd):
    """Rows decay when they are used, there: one line says it of the first table, and none where nothing decays."""
    rows = []
    for name in ("first", "second"):
        ids = fluid.layers.data(name, [1], dtype="int64", lod_level=1)
        table = fluid.ParamAttr(name=f"{name}_table", regularizer=fluid.regularizer.L2Decay(0.1))
        rows.append(fluid.layers.sequence_pool(fluid.layers.embedding(ids, [50, 3], is_sparse=True, param_attr=table), "sum"))
    fleet.init(role())
    fleet.distributed_optimizer(fluid.optimizer.SGD(0.01)).minimize(fluid.layers.mean(fluid.layers.concat(rows, axis=1)))
    said = [line for line in capfd.readouterr().err.splitlines() if "has weight decay" in line]
    assert len(said) == 1 and "table 'first_table'" in said[0] and "on servers a row decays when a batch uses it" in said[0]


def test_tables_without_weight_decay_say_nothing(fluid, fleet, network, capfd):
    fleet.init(role())
    fleet.distributed_optimizer(fluid.optimizer.SGD(0.01)).minimize(network)
    assert "weight decay" not in capfd.readouterr().err


@pytest.mark.parametrize(
    "table_class, message",
    [
        ("SSDSparseTable", "found 'SSDSparseTable'; .*mem_limit"),
        ("MemorySparseGeoTable", "a_sync_configs"),
        ("MemorySparsTable", "did you mean MemorySparseTable"),
        (None, "found None; leave it out"),
    ],
)
def test_a_table_class_that_nothing_reads_is_refused(fluid, table_class, message):
    import paddle

    ids = fluid.layers.data("ids", [1], dtype="int64")
    with pytest.raises(ValueError, match=f"table_class is 'MemorySparseTable'; .*{message}"):
        paddle.static.nn.sparse_embedding(ids, [10, 4], table_class=table_class)


def test_a_fleet_minimizes_with_its_optimizer(fluid, fleet, network):
    fleet.init(role())
    with pytest.raises(RuntimeError, match="fleet.minimize\\(\\) before fleet.distributed_optimizer"):
        fleet.minimize(network)
    fleet.distributed_optimizer(fluid.optimizer.SGD(0.1))
    fleet.minimize(network, fluid.default_startup_program())
    assert op_types(fleet.main_program) == op_types(fluid.default_main_program()) and fleet._programs is not None


def test_metrics_of_one_worker_alone(fluid):
    """The numbers that each worker has are added up: here there is one."""
    from paddle.distributed.fleet import metrics

    class Alone:
        def all_reduce(self, value, mode="sum"):
            return np.asarray(value)

    assert metrics.acc(np.array([3]), np.array([4]), util=Alone()) == 0.75
    assert metrics.mae(6.0, 4, util=Alone()) == 1.5 and metrics.rmse(16.0, 4, util=Alone()) == 2 and metrics.mse(16.0, 4, util=Alone()) == 4
    assert metrics.auc(np.array([0, 1, 1]), np.array([1, 1, 0]), util=Alone()) == pytest.approx(0.875)
    assert metrics.acc(0, 0, util=Alone()) == 0
    fluid.global_scope().var("seen").get_tensor().set(np.array([5.0], "float32"))
    assert metrics.sum("seen", util=Alone()) == [5.0] and metrics.max(np.array([1, 2]), util=Alone()).tolist() == [1, 2]
    with pytest.raises(KeyError, match="'nowhere' has no value"):
        metrics.min("nowhere", util=Alone())
