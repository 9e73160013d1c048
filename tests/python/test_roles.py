"""Role makers and what fleet tells of a job."""

import os

import pytest

from paddle.fluid.incubate.fleet.base import role_maker

SERVERS = ["127.0.0.1:6001", "127.0.0.1:6002"]
WORKER = {"TRAINING_ROLE": "TRAINER", "PADDLE_PSERVERS_IP_PORT_LIST": ",".join(SERVERS), "PADDLE_TRAINERS_NUM": "3", "PADDLE_TRAINER_ID": "1"}
SERVER = {**WORKER, "TRAINING_ROLE": "PSERVER", "POD_IP": "127.0.0.1", "PADDLE_PORT": "6002"}


@pytest.fixture
def environment(monkeypatch):
    """Sets exactly these of the variables that roles read."""

    def only(variables):
        for name in list(os.environ):
            if name.startswith("PADDLE_") or name in ("TRAINING_ROLE", "POD_IP"):
                monkeypatch.delenv(name)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return only


@pytest.fixture
def fleet():
    """A fleet of the test's own: the process's one stays as it is."""
    from argosy import _core
    from paddle.fluid.incubate.fleet.parameter_server import distribute_transpiler

    return distribute_transpiler.DistributedTranspiler(_core.Fleet())


def test_a_worker_of_the_cloud_knows_its_place(environment, fleet):
    environment(WORKER)
    fleet.init(role_maker.PaddleCloudRoleMaker())
    assert fleet.is_worker() and not fleet.is_server() and not fleet.is_first_worker()
    assert (fleet.worker_index(), fleet.worker_num(), fleet.server_num()) == (1, 3, 2)
    assert fleet.server_endpoints() == SERVERS and fleet.server_endpoints(to_string=True) == ",".join(SERVERS)
    with pytest.raises(RuntimeError, match="server_index\\(\\) is for servers; this process is worker 1"):
        fleet.server_index()


def test_a_server_of_the_cloud_finds_itself_in_the_list(environment):
    environment(SERVER)
    maker = role_maker.PaddleCloudRoleMaker()
    maker.generate_role()
    assert maker.is_server() and maker.server_index() == 1 and maker.get_pserver_endpoints() == SERVERS and maker.worker_num() == 3


@pytest.mark.parametrize(
    "variables, error, message",
    [
        ({}, KeyError, "TRAINING_ROLE is not set"),
        ({**WORKER, "TRAINING_ROLE": "COOK"}, ValueError, "TRAINING_ROLE='COOK': expected TRAINER or PSERVER"),
        ({**WORKER, "PADDLE_TRAINER_ID": "3"}, ValueError, "3"),
        ({**WORKER, "PADDLE_TRAINERS_NUM": "many"}, ValueError, "PADDLE_TRAINERS_NUM='many'"),
        ({**WORKER, "PADDLE_PSERVERS_IP_PORT_LIST": "here"}, ValueError, "'here' is not host:port"),
    ],
)
def test_an_environment_that_cannot_be_is_an_error_that_names_the_variable(environment, variables, error, message):
    environment(variables)
    with pytest.raises(error, match=message):
        role_maker.PaddleCloudRoleMaker().generate_role()


@pytest.mark.parametrize("worker", [role_maker.Role.WORKER, 1])
def test_a_role_that_the_script_gives(fleet, worker):
    maker = role_maker.UserDefinedRoleMaker(current_id=0, role=worker, worker_num=3, server_endpoints=SERVERS)
    fleet.init(maker)
    assert (fleet.is_first_worker(), fleet.worker_num(), fleet.server_num()) == (True, 3, 2)
    assert maker.is_worker() and maker.worker_index() == 0 and maker.server_num() == 2


def makers():
    from paddle.distributed import fleet

    return role_maker.UserDefinedRoleMaker, fleet.UserDefinedRoleMaker


@pytest.mark.parametrize("maker", makers())
def test_endpoints_say_how_many_workers_there_are_and_may_be_a_text(maker):
    workers = ["127.0.0.1:7001", "127.0.0.1:7002"]
    for servers in (SERVERS, tuple(SERVERS), ", ".join(SERVERS)):
        for given in (workers, ",".join(workers)):
            made = maker(current_id=1, role=role_maker.Role.WORKER, server_endpoints=servers, worker_endpoints=given)
            assert (made.worker_num(), made.get_pserver_endpoints(), made.get_trainer_endpoints()) == (2, SERVERS, workers)
    with pytest.raises(ValueError, match="2 worker endpoints .* for 3 workers"):
        maker(worker_num=3, server_endpoints=SERVERS, worker_endpoints=workers)
    with pytest.raises(ValueError, match="worker_num is 0"):
        maker(server_endpoints=SERVERS)
    for wrong in (6001, [6001], {"a": 1}):
        with pytest.raises(ValueError, match="server_endpoints is a list of texts, host:port, .*found"):
            maker(worker_num=1, server_endpoints=wrong)


def test_the_processes_of_a_collective_job_may_be_a_text():
    from paddle.distributed import fleet

    text = "127.0.0.1:7001,127.0.0.1:7002"
    assert role_maker.UserDefinedCollectiveRoleMaker(1, text).worker_num() == 2
    assert fleet.UserDefinedRoleMaker(is_collective=True, current_id=1, worker_endpoints=text).worker_num() == 2


def test_roles_are_the_numbers_that_scripts_write():
    assert role_maker.Role.WORKER == 1 and role_maker.Role.SERVER == 2


@pytest.mark.parametrize(
    "arguments, message",
    [
        (dict(current_id=0, worker_num=1), "server_endpoints is empty"),
        (dict(current_id=5, worker_num=1, server_endpoints=SERVERS), "5"),
        (dict(current_id=2, role=role_maker.Role.SERVER, worker_num=1, server_endpoints=SERVERS), "2"),
        (dict(current_id=0, worker_num=1, server_endpoints=[SERVERS[0], SERVERS[0]]), "listed twice"),
    ],
)
def test_a_given_role_that_cannot_be_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        role_maker.UserDefinedRoleMaker(**arguments)


def test_fleet_answers_after_init_only(fleet):
    with pytest.raises(RuntimeError, match="fleet.init\\(\\) has not been called"):
        fleet.worker_num()
    with pytest.raises(TypeError, match="takes a role maker.*found str"):
        fleet.init("worker")


def test_files_are_shared_out_without_loss(fleet):
    files = ["part-%d" % i for i in range(8)]
    shares = []
    for index in range(3):
        fleet.init(role_maker.UserDefinedRoleMaker(current_id=index, worker_num=3, server_endpoints=SERVERS))
        shares.append(fleet.split_files(files))
    assert sum(shares, []) == files and sorted(map(len, shares)) == [2, 3, 3]


def test_transpiler_settings_have_fluids_defaults_and_know_their_names(fluid):
    config = fluid.DistributeTranspilerConfig()
    assert (config.sync_mode, config.min_block_size, config.geo_sgd_need_push_nums) == (True, 8192, 100)
    with pytest.raises(ValueError, match="set sync_mode=False first"):
        config.runtime_split_send_recv = True
    config.sync_mode = False
    config.runtime_split_send_recv = True
    with pytest.raises(AttributeError, match="has no setting 'geo_mode'"):
        config.geo_mode = True
