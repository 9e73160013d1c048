"""Every option and variable that PaddlePaddle's launchers know does with fleetrun what docs/launcher_options.md says of it: none is accepted and ignored."""

import dataclasses
import os
import pathlib
import re
import subprocess

import pytest

from ports import free_range
from ps_job import SECONDS
from test_collective_launch import PLACES

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "launcher_options.md"
SHOW = "echo $TRAINING_ROLE$PADDLE_TRAINER_ID of $PADDLE_TRAINERS_NUM at $PADDLE_CURRENT_ENDPOINT gpu $FLAGS_selected_gpus job $ARGOSY_JOB master $MASTER_ADDR"
ROLE = """
from paddle.fluid.incubate.fleet.base.role_maker import PaddleCloudRoleMaker
role = PaddleCloudRoleMaker()
role.generate_role()
print("server" if role.is_server() else "worker", role.server_index() if role.is_server() else role.worker_index(), "of", role.worker_num(), role.get_pserver_endpoints())
"""


def table(kind):
    """What the page says of each name that begins with `kind`."""
    rows = {}
    for line in PAGE.read_text().splitlines():
        if line.startswith("| `"):
            names, here, _ = (cell.strip() for cell in line.strip("|").split("|", 2))
            rows.update({name: here for name in re.findall("`([^`]+)`", names) if name.startswith("--") == (kind == "--")})
    return rows


@dataclasses.dataclass
class Takes:
    """A launch that shows what `names` do: `expected` is in the launcher's output or in a log of it."""

    names: str
    options: list = dataclasses.field(default_factory=list)
    env: dict = dataclasses.field(default_factory=dict)
    expected: str = ""
    script: str = SHOW
    status: int = 0
    role: bool = False


def launch(folder, options, env, command):
    clean = {name: value for name, value in os.environ.items() if not re.match(PLACES + "|TRAINER_PORTS|DISTRIBUTED", name)}
    env = {**clean, "CUDA_VISIBLE_DEVICES": "", **env}
    done = subprocess.run(["fleetrun", *options, *command], cwd=folder, env=env, capture_output=True, text=True, timeout=SECONDS)
    logs = "".join(f"[{log.relative_to(folder)}] {log.read_text()}" for log in sorted(folder.rglob("*log.*")))
    return done.returncode, done.stdout + done.stderr, logs


PORT = free_range(8)
GPUS = {"ARGOSY_DEVICE": "cpu"}  # a list of GPUs then says how many processes there are
ONE = ["--nproc_per_node=1"]
CLOUD = {"PADDLE_TRAINERS": "127.0.0.1", "POD_IP": "127.0.0.1", "PADDLE_TRAINER_ID": "0", "PADDLE_PORT": str(PORT), "TRAINER_PORTS_NUM": "2"}
FAILS = "[ -e once ] || { touch once; exit 3; }; echo second"
SERVERS, WORKERS = f"127.0.0.1:{PORT}", f"127.0.0.1:{PORT + 1}"
PS = f"TRAINER0 of 1 at {WORKERS}"
PODS = {"TRAINING_ROLE": "PSERVER", "PADDLE_PSERVERS_IP_PORT_LIST": "127.0.0.1:7101,127.0.0.2:7101", "PADDLE_TRAINERS_NUM": "3"}
OLD_PODS = {"PADDLE_TRAINING_ROLE": "PSERVER", "PADDLE_PSERVER_IPS": "127.0.0.1,127.0.0.2", "PADDLE_PSERVER_PORT": "7101", "PADDLE_TRAINERS": "3"}

HONOURED_OPTIONS = [
    Takes("--master --rank --nnodes", ["--nnodes=2", "--rank=1", f"--master=http://127.0.0.1:{PORT}", "--rdzv_timeout=0.2"], {}, f"127.0.0.1:{PORT}", status=2),
    Takes("--master", ["--nnodes=2", "--master=etcd://127.0.0.1:2379"], {}, "without etcd: give its host:port", status=2),
    Takes("--rank", ["--nnodes=2", "--rank=2", "--master=127.0.0.1:1"], {}, "the job has at most 2 nodes", status=2),
    Takes("--nproc_per_node", ["--nproc_per_node=2"], {}, "1 of 2"),
    *(Takes(name, [f"{name}=0,1"], GPUS, "1 of 2") for name in ("--devices", "--gpus", "--selected_gpus")),
    *(
        Takes(f"{host} {ips} {port}", [f"{ips}=127.0.0.3", f"{host}=127.0.0.3", f"{port}={PORT}"], {}, f"0 of 1 at 127.0.0.3:{PORT}")
        for host, ips, port in (("--host", "--ips", "--start_port"), ("--node_ip", "--cluster_node_ips", "--started_port"))
    ),
    Takes("--log_dir", [*ONE, "--log_dir=elsewhere"], {}, "[elsewhere/workerlog.0]"),
    Takes("--log_level", ["--server_num=1", "--worker_num=1", "--log_level=ERROR"], {}, "! info"),
    Takes("--log_level", [*ONE, "--log_level=loud"], {}, "expected DEBUG, INFO", status=2),
    Takes("--print_config", [*ONE, "--print_config=False"], {}, "! Configuration Arguments"),
    Takes("--run_mode", ["--run_mode=collective"], {}, "0 of 1"),
    Takes("--run_mode", ["--run_mode=ps-heter"], {}, "found 'ps-heter', expected ps or collective", status=2),
    Takes("--job_id", [*ONE, "--job_id=ctr"], {}, "job ctr"),
    Takes("--server_num --worker_num", ["--server_num=1", "--worker_num=3"], {}, "TRAINER2 of 3"),
    Takes("--trainer_num", ["--server_num=1", "--trainer_num=3"], {}, "TRAINER2 of 3"),
    Takes("--servers --workers", [f"--servers={SERVERS}", f"--workers={WORKERS}"], {}, PS),
    Takes("--endpoints --trainers", [f"--endpoints={SERVERS}", f"--trainers={WORKERS}"], {}, PS),
    Takes("--max_restart", [*ONE, "--max_restart=1"], {}, "second", FAILS),
    Takes("--use_paddlecloud", ["--use_paddlecloud"], CLOUD, f"0 of 1 at 127.0.0.1:{PORT}"),
    Takes("--use_paddlecloud", ["--use_paddlecloud"], {}, "PADDLE_TRAINERS is not set", status=2),
]
HONOURED_VARIABLES = [
    Takes(
        "PADDLE_MASTER PADDLE_NNODES PADDLE_RANK",
        ["--rdzv_timeout=0.2"],
        {"PADDLE_NNODES": "2", "PADDLE_RANK": "1", "PADDLE_MASTER": f"127.0.0.1:{PORT}"},
        f"127.0.0.1:{PORT}",
        status=2,
    ),
    Takes("PADDLE_RANK", [], {"PADDLE_NNODES": "2", "PADDLE_RANK": "2", "PADDLE_MASTER": "127.0.0.1:1"}, "the job has at most 2 nodes", status=2),
    Takes("PADDLE_NPROC_PER_NODE", [], {"PADDLE_NPROC_PER_NODE": "2"}, "1 of 2"),
    Takes("PADDLE_NPROC_PER_NODE", ["--nproc_per_node=3"], {"PADDLE_NPROC_PER_NODE": "2"}, "2 of 3"),
    Takes("PADDLE_NPROC_PER_NODE", ["--standalone"], {"PADDLE_NPROC_PER_NODE": "2"}, "0 of 1"),
    Takes("PADDLE_DEVICES", [], {**GPUS, "PADDLE_DEVICES": "0,1"}, "1 of 2"),
    Takes(
        "PADDLE_IPS PADDLE_START_PORT POD_IP",
        [],
        {"PADDLE_IPS": "127.0.0.3", "PADDLE_START_PORT": str(PORT), "POD_IP": "127.0.0.3"},
        f"0 of 1 at 127.0.0.3:{PORT}",
    ),
    Takes("FLAGS_START_PORT", ONE, {"FLAGS_START_PORT": str(PORT)}, f"0 of 1 at 127.0.0.1:{PORT}"),
    Takes("PADDLE_RUN_MODE", [], {"PADDLE_RUN_MODE": "collective"}, "0 of 1"),
    Takes("PADDLE_JOB_ID", ONE, {"PADDLE_JOB_ID": "ctr"}, "job ctr"),
    Takes("PADDLE_ELASTIC_JOB_ID", ONE, {"PADDLE_ELASTIC_JOB_ID": "ctr"}, "job ctr"),
    Takes("PADDLE_LOG_DIR", ONE, {"PADDLE_LOG_DIR": "elsewhere"}, "[elsewhere/workerlog.0]"),
    Takes("PADDLE_LOG_LEVEL", ["--server_num=1", "--worker_num=1"], {"PADDLE_LOG_LEVEL": "ERROR"}, "! info"),
    Takes("PADDLE_MAX_RESTART", ONE, {"PADDLE_MAX_RESTART": "1"}, "second", FAILS),
    Takes("PADDLE_SERVER_NUM PADDLE_TRAINER_NUM", [], {"PADDLE_SERVER_NUM": "1", "PADDLE_TRAINER_NUM": "3"}, "TRAINER2 of 3"),
    Takes("PADDLE_SERVER_NUM", [], {"PADDLE_SERVER_NUM": "1", "PADDLE_NNODES": "2"}, "list the processes of all machines with --servers", status=2),
    Takes("PADDLE_SERVERS_ENDPOINTS PADDLE_TRAINERS_ENDPOINTS", [], {"PADDLE_SERVERS_ENDPOINTS": SERVERS, "PADDLE_TRAINERS_ENDPOINTS": WORKERS}, PS),
    Takes("PADDLE_TRAINERS POD_IP PADDLE_TRAINER_ID PADDLE_PORT TRAINER_PORTS_NUM", [], CLOUD, f"0 of 1 at 127.0.0.1:{PORT}"),
    Takes("TRAINER_PORTS_NUM", ["--nproc_per_node=3"], CLOUD, "3 processes need as many ports", status=2),
    Takes(
        "PADDLE_TRAINER_ID PADDLE_TRAINERS_NUM PADDLE_TRAINER_ENDPOINTS PADDLE_CURRENT_ENDPOINT",
        ["--rdzv_timeout=0.2"],
        {
            "PADDLE_TRAINER_ID": "1",
            "PADDLE_TRAINERS_NUM": "2",
            "PADDLE_TRAINER_ENDPOINTS": f"127.0.0.1:{PORT},127.0.0.2:{PORT}",
            "PADDLE_CURRENT_ENDPOINT": f"127.0.0.2:{PORT}",
        },
        f"127.0.0.1:{PORT}",
        status=2,
    ),
    Takes("TRAINING_ROLE PADDLE_PSERVERS_IP_PORT_LIST", [], {**PODS, "POD_IP": "127.0.0.2", "PADDLE_PORT": "7101"}, "server 1 of 3", role=True),
    Takes(
        "PADDLE_TRAINING_ROLE PADDLE_PSERVER_IPS PADDLE_PSERVER_PORT PADDLE_CURRENT_IP",
        [],
        {**OLD_PODS, "PADDLE_CURRENT_IP": "127.0.0.2"},
        "server 1 of 3 ['127.0.0.1:7101', '127.0.0.2:7101']",
        role=True,
    ),
    Takes("PADDLE_PSERVER_ID", [], {**OLD_PODS, "PADDLE_PSERVER_ID": "1"}, "server 1 of 3", role=True),
]


def check(folder, case):
    if case.role:
        (folder / "role.py").write_text(ROLE)
    command = ["role.py"] if case.role else ["--no-python", "/bin/sh", "-c", case.script]
    ports = (
        []
        if any("port" in word.lower() for word in [*case.options, *case.env]) or "127" in str([case.options, case.env])
        else [f"--start_port={free_range(4)}"]
    )
    status, output, logs = launch(folder, [*case.options, *ports], case.env, command)
    assert status == case.status, output + logs
    if case.expected.startswith("! "):
        assert case.expected[2:] not in output
    else:
        assert case.expected in output + logs, output + logs
    if status:
        assert not logs  # nothing was started


def by_names(case):
    return case.names.replace(" ", "+")


@pytest.mark.parametrize("case", HONOURED_OPTIONS, ids=by_names)
def test_an_honoured_option_takes_effect(tmp_path, case):
    check(tmp_path, case)


@pytest.mark.parametrize("case", HONOURED_VARIABLES, ids=by_names)
def test_an_honoured_variable_takes_effect(tmp_path, case):
    check(tmp_path, case)


@pytest.mark.parametrize("kind, cases", [("--", HONOURED_OPTIONS), ("variable", HONOURED_VARIABLES)])
def test_every_honoured_name_of_the_table_is_tried(kind, cases):
    honoured = {name for name, here in table(kind).items() if here == "honoured"}
    assert honoured == {name for case in cases for name in case.names.split()}


@pytest.mark.parametrize("option", [name for name, here in table("--").items() if here == "refused"])
def test_a_refused_option_is_named_and_starts_nothing(tmp_path, option):
    status, output, logs = launch(tmp_path, [f"{option}=7", *ONE], {}, ["--no-python", "/bin/true"])
    first = {"--selected_npus": "--npus", "--selected_xpus": "--xpus"}.get(option, option)
    assert status == 2 and f"option {first}: found '7': " in output and len(output.split(": ")[-1]) > 10, output
    assert not logs


@pytest.mark.parametrize("name", [name for name, here in table("variable").items() if here == "refused"])
def test_a_refused_variable_is_named_and_starts_nothing(tmp_path, name):
    status, output, logs = launch(tmp_path, ONE, {name: "7"}, ["--no-python", "/bin/true"])
    assert status == 2 and f"environment variable {name}: found '7': " in output, output
    assert not logs


def test_what_is_handed_on_reaches_the_processes(tmp_path):
    names = [name for name, here in table("variable").items() if here == "handed on"]
    status, output, logs = launch(tmp_path, ONE, {name: f"of-{name}" for name in names}, ["--no-python", "/usr/bin/env"])
    assert status == 0 and len(names) > 5, output
    assert [name for name in names if f"{name}=of-{name}" not in logs] == []


def test_every_option_that_is_refused_is_in_the_table(tmp_path):
    help_text = subprocess.run(["fleetrun", "--help"], capture_output=True, text=True, timeout=SECONDS).stdout
    refused = set(re.findall(r"^\s+(?:(--\w+),)?(--\w+) .*(?:\n\s+)?not supported", help_text, re.MULTILINE))
    named = {name for names in refused for name in names if name}
    assert len(named) > 20 and named <= {name for name, here in table("--").items() if here == "refused"}
