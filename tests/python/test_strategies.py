"""Strategies of jobs: each way to choose a mode, and that nothing is accepted without being honoured."""

import numpy as np
import pytest

import paddle
from argosy import _core
from argosy.distributed.collective_options import options_of
from argosy.fluid.incubate.fleet.base.fleet_base import core_strategy
from paddle.distributed.fleet import DistributedStrategy
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler.distributed_strategy import StrategyFactory, TrainerRuntimeConfig

Mode = _core.Mode


def config(**settings):
    from paddle.fluid import DistributeTranspilerConfig

    made = DistributeTranspilerConfig()
    for name, value in settings.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(
    "settings, mode",
    [
        ({}, Mode.sync),
        ({"sync_mode": False}, Mode.async_),
        ({"sync_mode": False, "runtime_split_send_recv": True}, Mode.async_),
        ({"sync_mode": False, "half_async": True}, Mode.half_async),
        ({"sync_mode": False, "geo_sgd_mode": True, "geo_sgd_need_push_nums": 7}, Mode.geo),
        ({"sync_mode": False, "half_async": True, "completely_not_async": True}, Mode.sync),
    ],
)
def test_a_transpiler_configuration_chooses_the_mode(settings, mode):
    strategy = core_strategy(config(**settings))
    assert strategy.mode == mode and strategy.geo_k_steps == settings.get("geo_sgd_need_push_nums", 100)


def test_transpiles_own_argument_wins_over_the_configuration():
    assert config()._core_strategy(sync_mode=False).mode == Mode.async_
    assert config(sync_mode=False, geo_sgd_mode=True)._core_strategy(sync_mode=True).mode == Mode.sync
    assert config(sync_mode=False, geo_sgd_mode=True)._core_strategy(sync_mode=None).mode == Mode.geo


@pytest.mark.parametrize("name", ["half_async", "geo_sgd_mode"])
def test_modes_that_contradict_each_other_are_refused(name):
    with pytest.raises(ValueError, match=f"{name}=True does not go with sync_mode=True"):
        core_strategy(config(**{name: True}))


@pytest.mark.parametrize(
    "name, value, reason",
    [
        ("enable_dc_asgd", True, "delayed gradients"),
        ("mode", "mpi", "pserver, nccl2 or collective"),
        ("collective_mode", "ring", "grad_allreduce"),
        ("split_method", "HashName", "RoundRobin"),
        ("geo_sgd_need_push_nums", 0, "1 or more"),
    ],
)
def test_what_servers_cannot_do_is_refused_by_name(name, value, reason):
    with pytest.raises(ValueError, match=f"{name}.*{reason}"):
        setattr(config(), name, value)


@pytest.mark.parametrize("mode", ["nccl2", "collective"])
def test_a_collective_configuration_is_refused_where_there_are_servers(mode):
    with pytest.raises(ValueError, match=f"mode = '{mode}' is of jobs without servers.*set mode='pserver'"):
        core_strategy(config(mode=mode))
    strategy = StrategyFactory.create_async_strategy()
    strategy.set_program_config({"mode": mode})
    with pytest.raises(ValueError, match=f"mode = '{mode}' is of jobs without servers"):
        core_strategy(strategy)


@pytest.mark.parametrize("other", ["half_async", "completely_not_async"])
def test_a_geo_configuration_has_no_other_mode(other):
    both = config(sync_mode=False, geo_sgd_mode=True, **{other: True})
    with pytest.raises(ValueError, match=f"geo_sgd_mode=True does not go with {other}=True"):
        core_strategy(both)
    assert both._core_strategy(sync_mode=True).mode == Mode.sync


@pytest.mark.parametrize("name", ["sync_mode", "half_async", "geo_sgd_mode", "completely_not_async", "runtime_split_send_recv", "print_log"])
def test_a_switch_is_true_or_false(name):
    with pytest.raises(ValueError, match=f"DistributeTranspilerConfig.{name} is True or False; found 'False'"):
        config(**{name: "False"})
    with pytest.raises(ValueError, match="transpile: sync_mode is True or False; found 'False'"):
        config()._core_strategy(sync_mode="False")


@pytest.mark.parametrize(
    "values, message",
    [
        ({"trainers": 2}, "takes the endpoints of all trainers"),
        ({"trainer_id": 2}, "the number of this one"),
        ({"current_endpoint": "127.0.0.1:7"}, "trainer 0 is 127.0.0.1:5 in trainers, and current_endpoint says 127.0.0.1:7"),
    ],
)
def test_a_collective_transpiler_takes_the_endpoints_of_all(values, message):
    from paddle.fluid import DistributeTranspiler

    given = {"trainer_id": 0, "trainers": "127.0.0.1:5,127.0.0.1:6", "current_endpoint": "127.0.0.1:5", **values}
    with pytest.raises(ValueError, match=message):
        DistributeTranspiler(config(mode="nccl2")).transpile(**given)


def test_what_fluids_collective_strategy_cannot_do_is_refused_by_name():
    from paddle.fluid.incubate.fleet.collective import DistributedStrategy as Fluids

    strategy = Fluids()
    strategy.mode, strategy.fuse_all_reduce_ops, strategy.fuse_grad_size_in_MB = "collective", True, 4
    assert options_of(strategy).bucket_mb == 4
    for name, value in (
        ("use_dist_fc", True),
        ("collective_mode", "ring"),
        ("mode", "pserver"),
        ("gradient_scale_strategy", Fluids.GradientScaleStrategy.One),
        ("exec_strategy", "foo"),
    ):
        with pytest.raises(ValueError, match=name):
            setattr(strategy, name, value)
    with pytest.warns(UserWarning, match="nccl_comm_num = 2 changes nothing"):
        strategy.nccl_comm_num = 2
    strategy.use_local_sgd = strategy.sync_batch_norm = True
    assert options_of(strategy).local_steps == 1 and options_of(strategy).sync_batch_norm


def test_no_strategy_is_synchronous_and_others_are_refused():
    assert core_strategy(None).mode == Mode.sync
    with pytest.raises(TypeError, match="found dict"):
        core_strategy({"mode": "async"})


@pytest.mark.parametrize(
    "make, mode",
    [
        (StrategyFactory.create_sync_strategy, Mode.sync),
        (StrategyFactory.create_half_async_strategy, Mode.half_async),
        (StrategyFactory.create_async_strategy, Mode.async_),
        (lambda: StrategyFactory.create_geo_strategy(update_frequency=400), Mode.geo),
    ],
)
def test_the_factory_makes_each_mode_and_keeps_it(make, mode):
    strategy = make()
    strategy.set_program_config({"geo_sgd_need_push_nums": 400})
    strategy.set_program_config(config())
    strategy.set_program_config({"geo_sgd_need_push_nums": 400})
    assert core_strategy(strategy).mode == mode and core_strategy(strategy).geo_k_steps == 400


def test_a_worker_of_an_asynchronous_job_is_told_how_to_send():
    strategy = StrategyFactory.create_async_strategy()
    strategy.set_trainer_runtime_config({"communicator_max_merge_var_num": "20", "communicator_independent_recv_thread": 0, "rpc_deadline": "5000"})
    core = core_strategy(strategy)
    assert (core.max_merge_var_num, core.independent_recv_thread, core.settings) == (20, False, {"call_seconds": "5.0"})
    assert core.send_queue_size is None  # FLAGS_communicator_send_queue_size, or the default
    runtime = TrainerRuntimeConfig()
    runtime.runtime_configs["communicator_send_queue_size"] = 3
    strategy.set_trainer_runtime_config(runtime)
    assert core_strategy(strategy).send_queue_size == 3 and core_strategy(strategy).max_merge_var_num is None


def test_the_environments_deadline_is_honoured_and_its_retries_are_refused(monkeypatch):
    monkeypatch.setenv("FLAGS_rpc_deadline", "7000")
    strategy = StrategyFactory.create_sync_strategy()
    assert core_strategy(strategy).settings == {"call_seconds": "7.0"} and "7000" in repr(strategy.get_trainer_runtime_config())
    strategy.set_trainer_runtime_config({"rpc_deadline": 5000})
    assert core_strategy(strategy).settings == {"call_seconds": "5.0"}
    for name, value, message in [
        ("rpc_deadline", "soon", "is a number; found 'soon'"),
        ("rpc_deadline", "-1", "1 or more; found '-1'"),
        ("rpc_retry_times", "9", "server_wait_seconds"),
    ]:
        with monkeypatch.context() as patch:
            patch.setenv("FLAGS_" + name, value)
            with pytest.raises(ValueError, match=f"FLAGS_{name}.*{message}"):
                StrategyFactory.create_sync_strategy()


def test_runtime_settings_that_nothing_honours_are_refused():
    strategy = StrategyFactory.create_sync_strategy()
    for given, message in [
        ({"communicator_speed": 1}, "no setting 'communicator_speed'"),
        ({"rpc_retry_times": 9}, "server_wait_seconds"),
        ({"communicator_send_queue_size": "many"}, "is a number; found 'many'"),
        ({"communicator_max_merge_var_num": -1}, "max_merge_var_num is a number, 1 or more; found -1"),
    ]:
        with pytest.raises(ValueError, match=message):
            strategy.set_trainer_runtime_config(given)
    strategy.set_trainer_runtime_config({"communicator_send_queue_size": 9})
    with pytest.raises(ValueError, match="communicator_send_queue_size = 9: only asynchronous jobs.*sync strategy"):
        core_strategy(strategy)
    with pytest.raises(ValueError, match="one thread per core"):
        strategy.set_server_runtime_config({"_rpc_send_thread_num": 3})
    with pytest.raises(ValueError, match="dump no variables"):
        strategy.set_debug_opt({"dump_slot": True})
    for call in (
        strategy.set_program_config,
        strategy.set_trainer_runtime_config,
        strategy.set_server_runtime_config,
        strategy.set_execute_strategy,
        strategy.set_build_strategy,
    ):
        with pytest.raises(TypeError, match="takes a dict or a .*; found int"):
            call(3)


def test_execution_settings_are_kept():
    strategy = StrategyFactory.create_async_strategy()
    strategy.set_execute_strategy({"num_threads": 3})
    strategy.set_build_strategy({"async_mode": True})
    assert strategy.get_execute_strategy().num_threads == 3 and strategy.get_build_strategy().async_mode
    with pytest.raises(ValueError, match="no setting 'threads'"):
        strategy.set_execute_strategy({"threads": 3})
    with pytest.raises(ValueError, match="gradient_scale_strategy = 1: .*CoeffNumDevice"):
        strategy.set_build_strategy({"gradient_scale_strategy": 1})
    with pytest.raises(ValueError, match="num_iteration_per_run = 2: .*leave it at 1"):
        strategy.set_execute_strategy({"num_iteration_per_run": 2})


def test_strategies_inside_a_strategy_have_their_kind():
    from paddle.static import BuildStrategy

    strategy = DistributedStrategy()
    for name, kind in (("build_strategy", "BuildStrategy"), ("execution_strategy", "ExecutionStrategy")):
        with pytest.raises(ValueError, match=f"DistributedStrategy.{name} takes a {kind}; found 'hello'"):
            setattr(strategy, name, "hello")
    strategy.build_strategy = build = BuildStrategy()
    build.sync_batch_norm = True
    with pytest.raises(ValueError, match="set DistributedStrategy.sync_batch_norm itself"):
        options_of(strategy)


@pytest.mark.parametrize("order", [("a_sync", "a_sync_configs"), ("a_sync_configs", "a_sync")])
@pytest.mark.parametrize("k_steps, mode", [(0, Mode.async_), (5, Mode.geo)])
def test_a_sync_and_its_configs_may_come_in_either_order(order, k_steps, mode):
    strategy, values = DistributedStrategy(), {"a_sync": True, "a_sync_configs": {"k_steps": k_steps}}
    for name in order:
        setattr(strategy, name, values[name])
    assert core_strategy(strategy).mode == mode and strategy.a_sync_configs["k_steps"] == k_steps


def test_a_strategy_without_a_sync_is_synchronous():
    strategy = DistributedStrategy()
    assert not strategy.a_sync and core_strategy(strategy).mode == Mode.sync
    strategy.a_sync_configs = {"k_steps": 3}
    with pytest.raises(ValueError, match="k_steps=3, but a_sync is False"):
        core_strategy(strategy)


def test_the_queue_is_set_up_by_a_sync_configs():
    strategy = DistributedStrategy()
    strategy.a_sync = True
    strategy.a_sync_configs = {"max_merge_var_num": 8, "send_queue_size": 32, "independent_recv_thread": False}
    core = core_strategy(strategy)
    assert (core.max_merge_var_num, core.send_queue_size, core.independent_recv_thread, core.send_wait_times) == (8, 32, False, None)
    strategy.a_sync_configs = {"k_steps": 3}
    with pytest.raises(ValueError, match="max_merge_var_num=8.*no queue of gradients"):
        core_strategy(strategy)


@pytest.mark.parametrize(
    "kind, rates", [("ExponentialDecay", [0.8, 0.4, 0.2]), ("NaturalExpDecay", [0.8, 0.485225, 0.294304]), ("InverseTimeDecay", [0.8, 0.533333, 0.4])]
)
def test_lr_decay_steps_makes_a_schedule_of_a_scheduler(fluid, kind, rates):
    strategy = DistributedStrategy()
    strategy.a_sync = True
    strategy.a_sync_configs = {"lr_decay_steps": 2}
    optimizer = strategy._applied(fluid.optimizer.SGD(getattr(paddle.optimizer.lr, kind)(0.8, gamma=0.5)))
    loss = fluid.layers.mean(fluid.layers.fc(fluid.data("x", [None, 2]), 1))
    optimizer.minimize(loss)
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    feed = {"x": np.ones([1, 2], "float32")}
    found = [exe.run(feed=feed, fetch_list=[optimizer._learning_rate])[0].item() for _ in range(6)]
    assert found == pytest.approx([rate for rate in rates for _ in range(2)], rel=1e-5)
    for other, said in ((0.1, "no scheduler"), (paddle.optimizer.lr.StepDecay(0.1, 2), "StepDecay")):
        with pytest.raises(ValueError, match=f"ExponentialDecay or NaturalExpDecay or InverseTimeDecay; found {said}: leave it out"):
            strategy._applied(fluid.optimizer.SGD(other))


@pytest.mark.parametrize(
    "name, value, message",
    [
        ("k_steps", "a", "is a number, 0 or more; found 'a'"),
        ("k_steps", -1, "0 or more; found -1"),
        ("k_steps", True, "found True"),
        ("max_merge_var_num", -1, "1 or more; found -1"),
        ("send_queue_size", 0, "1 or more; found 0"),
        ("independent_recv_thread", "no", "is True or False; found 'no'"),
        ("use_ps_gpu", 1, "= 1: tables are in the servers' memory"),
    ],
)
def test_a_sync_configs_are_checked_when_they_are_set(name, value, message):
    with pytest.raises(ValueError, match=f"^a_sync_configs: {name} .*{message}"):
        DistributedStrategy().a_sync_configs = {name: value}


def test_what_no_job_has_names_its_substitute():
    for name in DistributedStrategy._defaults:
        with pytest.raises(ValueError, match=rf"DistributedStrategy.{name} = .*not there, .* \([^)]{{12,}}\); leave it at"):
            setattr(DistributedStrategy(), name, {"a": 1} if name.endswith(("_configs", "_param")) else True)


@pytest.mark.parametrize("name, value", [("pipeline", True), ("sharding", True), ("hybrid_configs", {"mp_degree": 2}), ("dgc", True)])
def test_what_no_job_has_is_refused(name, value):
    strategy = DistributedStrategy()
    setattr(strategy, name, type(value)())  # its default says nothing
    with pytest.raises(ValueError, match=f"DistributedStrategy.{name} = .*not there, neither in parameter-server jobs nor"):
        setattr(strategy, name, value)
    with pytest.raises(AttributeError, match="has no setting 'asynchronous'"):
        strategy.asynchronous = True
    with pytest.raises(AttributeError, match="a_sync_configs has no setting 'steps'"):
        strategy.a_sync_configs = {"steps": 1}
    with pytest.raises(ValueError, match="use_ps_gpu"):
        strategy.a_sync_configs = {"use_ps_gpu": 1}


@pytest.mark.parametrize(
    "name, value, instead",
    [
        ("localsgd", True, "a_sync_configs = {'k_steps': k}"),
        ("adaptive_localsgd_configs", {"init_k_steps": 2, "begin_step": 1}, "a_sync_configs = {'k_steps': k}"),
        ("gradient_merge", True, "max_merge_var_num"),
        ("fp16_allreduce", True, "'wire_format': 'bfloat16'"),
        ("find_unused_parameters", True, "the program says"),
        ("sync_batch_norm", True, "layer_norm"),
        ("fuse_grad_size_in_MB", 8, "one message per server"),
    ],
)
def test_what_only_collective_jobs_have_is_refused_with_servers_and_names_its_substitute(name, value, instead):
    strategy = DistributedStrategy()
    setattr(strategy, name, value)
    options_of(strategy)
    with pytest.raises(ValueError, match=f"DistributedStrategy.{name} = .*not there in parameter-server jobs; use .*{instead}"):
        core_strategy(strategy)


def test_scaled_losses_are_a_hint_that_is_kept_with_one_line():
    strategy = DistributedStrategy()
    with pytest.warns(UserWarning, match="amp_configs: init_loss_scaling, incr_ratio changes nothing: 16 bits are bfloat16") as said:
        strategy.amp_configs = {"init_loss_scaling": 8.0, "incr_ratio": 4.0, "decr_ratio": 0.8}
    assert len(said) == 1 and strategy.amp_configs["init_loss_scaling"] == 8.0


def test_a_collective_strategy_says_how_gradients_travel(tmp_path):
    strategy = DistributedStrategy()
    default = options_of(strategy)
    assert default == options_of(None) and (default.bucket_mb, default.merge_steps, default.local_steps) == (32, 1, 0)
    strategy.gradient_merge_configs = {"k_steps": 4}
    assert options_of(strategy).merge_steps == 1  # gradient_merge is off
    strategy.gradient_merge, strategy.fp16_allreduce, strategy.find_unused_parameters = True, True, True
    strategy.fuse_grad_size_in_MB, strategy.settings = 8, {"collective_seconds": 9}
    strategy.save_to_prototxt(tmp_path / "s")
    again = DistributedStrategy()
    again.load_from_prototxt(tmp_path / "s")
    found = options_of(again)
    assert (found.merge_steps, found.merge_average, found.gradient_type, found.bucket_mb) == (4, True, "float16", 8)
    assert found.find_unused_parameters and found.settings == {"collective_seconds": "9"} and "gradient_merge=True" in repr(again)
    strategy.fuse_all_reduce_ops = False
    assert options_of(strategy).bucket_mb < 1e-5


@pytest.mark.parametrize(
    "values, message",
    [
        ({"a_sync": True}, "of parameter-server jobs"),
        ({"localsgd": True, "gradient_merge": True}, "does not go with localsgd"),
        ({"localsgd": True, "adaptive_localsgd": True}, "set one of them"),
        ({"gradient_merge_configs": {"k_steps": 0}}, "1 or more; found 0"),
        ({"gradient_merge_configs": {"steps": 1}}, "no setting 'steps'"),
        ({"fp16_allreduce": 1}, "True or False; found 1"),
        ({"fuse_grad_size_in_MB": 0}, "above 0"),
        ({"localsgd_configs": 3}, "is a dict; found int"),
    ],
)
def test_a_collective_strategy_that_contradicts_itself_is_refused(values, message):
    strategy = DistributedStrategy()
    with pytest.raises((ValueError, TypeError, AttributeError), match=message):
        for name, value in values.items():
            setattr(strategy, name, value)
        options_of(strategy)


def test_a_strategy_goes_through_a_file(tmp_path):
    strategy = DistributedStrategy()
    strategy.a_sync = True
    strategy.a_sync_configs = {"k_steps": 9, "runtime_split_send_recv": True}
    strategy.settings = {"directory": 'a "b"', "call_seconds": 2}
    strategy.save_to_prototxt(tmp_path / "s.prototxt")
    again = DistributedStrategy()
    again.load_from_prototxt(tmp_path / "s.prototxt")
    assert core_strategy(again).mode == Mode.geo and core_strategy(again).geo_k_steps == 9
    assert again.settings == {"directory": 'a "b"', "call_seconds": "2"} and repr(again).startswith("DistributedStrategy(a_sync=True")


def test_a_file_of_paddlepaddle_is_read(tmp_path):
    (tmp_path / "p").write_text("# of 2.6.2\na_sync: true\na_sync_configs {\n  k_steps: 0\n  launch_barrier: true\n}\namp: false\n")
    strategy = DistributedStrategy()
    strategy.load_from_prototxt(tmp_path / "p")
    assert core_strategy(strategy).mode == Mode.async_


@pytest.mark.parametrize(
    "text, message",
    [
        ("a_sync: maybe", "p:1: field 'a_sync'.*'maybe'"),
        ("a_sync_configs {\n k_steps: 1", "not closed"),
        ("a_sync: true\n}", "p:2: expected a field"),
        ("speed: 3", "no field 'speed'"),
        ("pipeline: true", "pipeline = True"),
        ("a_sync = true", "p:1"),
        ("a_sync_configs { k_steps: {} }", "k_steps|p"),
    ],
)
def test_a_file_that_cannot_be_a_strategy_is_refused(tmp_path, text, message):
    (tmp_path / "p").write_text(text)
    with pytest.raises((ValueError, TypeError), match=message):
        strategy = DistributedStrategy()
        strategy.load_from_prototxt(tmp_path / "p")
        core_strategy(strategy)


@pytest.mark.parametrize(
    "name, value, why", [("min_block_size", 1024, "8192"), ("slice_var_up", False, "every server has its share"), ("nccl_comm_num", 2, "one way")]
)
def test_a_hint_for_the_transpiler_is_kept_with_one_line(name, value, why):
    settings = config()
    with pytest.warns(UserWarning, match=f"{name} = {value} changes nothing: .*{why}") as said:
        setattr(settings, name, value)
    assert len(said) == 1 and getattr(settings, name) == value


@pytest.mark.parametrize(
    "name, value", [("nccl_comm_num", 2), ("cudnn_exhaustive_search", True), ("sync_nccl_allreduce", False), ("fuse_grad_size_in_num", 16)]
)
def test_a_hint_is_kept_with_one_line(name, value):
    strategy = DistributedStrategy()
    with pytest.warns(UserWarning, match=f"DistributedStrategy.{name} = {value} changes nothing"):
        setattr(strategy, name, value)
    assert getattr(strategy, name) == value
    core_strategy(strategy)


def stepped(optimizer_of, strategy):
    """A parameter after two steps of a collective job of one process."""
    fleet = paddle.distributed.fleet
    weight = paddle.create_parameter([3], "float32", name="linear.w", default_initializer=paddle.nn.initializer.Constant(1.0))
    fleet.init(is_collective=True, strategy=strategy)
    optimizer = fleet.distributed_optimizer(optimizer_of([weight]), strategy)
    for _ in range(2):
        (weight * paddle.to_tensor([1.0, 2.0, 3.0])).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
    return weight.numpy()


@pytest.mark.parametrize("left_out, decay", [([], 0.1), (["linear"], 0.0)])
def test_lamb_takes_the_place_of_adam(left_out, decay):
    strategy = DistributedStrategy()
    strategy.lamb = True
    strategy.lamb_configs = {"lamb_weight_decay": 0.1, "exclude_from_weight_decay": left_out}
    found = stepped(lambda given: paddle.optimizer.Adam(0.1, parameters=given, epsilon=1e-6), strategy)
    expected = stepped(
        lambda given: paddle.optimizer.Lamb(0.1, decay, parameters=given, exclude_from_weight_decay_fn=(lambda p: True) if left_out else None), None
    )
    plain = stepped(lambda given: paddle.optimizer.Adam(0.1, parameters=given, epsilon=1e-6), None)
    assert np.allclose(found, expected) and np.allclose(found, plain) == bool(left_out)  # what does not decay is not scaled either


def test_lamb_leaves_other_optimizers_alone_and_says_so():
    strategy = DistributedStrategy()
    strategy.lamb = True
    with pytest.warns(UserWarning, match="lamb = True is for paddle.optimizer.Adam; SGD stays as it is"):
        found = stepped(lambda given: paddle.optimizer.SGD(0.1, parameters=given), strategy)
    assert np.allclose(found, [0.8, 0.6, 0.4])
    with pytest.raises(ValueError, match="lamb_configs is a dict with"):
        strategy.lamb_configs = {"weight": 1}
