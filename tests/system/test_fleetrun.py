"""The launcher as a program: what a user and a shell see of it."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

import pytest

from ports import free_range
from ps_job import SECONDS, until


class Launcher:
    """fleetrun in a folder of its own. Scripts are shell text, run by every process of the job."""

    def __init__(self, folder):
        self.folder = folder
        self.started = []

    def start(self, script, *options, env=None):
        command = ["fleetrun", f"--start_port={free_range(4)}", *options, "--no-python", "/bin/sh", "-c", script]
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **(env or {})})
        self.started.append(process)
        return process

    def run(self, script, *options, env=None):
        """The exit status and the output."""
        process = self.start(script, *options, env=env)
        out, _ = process.communicate(timeout=SECONDS)
        return process.returncode, out

    def wait_for(self, name):
        until((self.folder / name).exists, name)

    def log(self, name):
        return (self.folder / "logs" / name).read_text()

    def end(self):
        for process in self.started:
            process.kill()
            process.wait()


@pytest.fixture
def fleetrun(tmp_path):
    launcher = Launcher(tmp_path)
    yield launcher
    launcher.end()


def runs(pid):
    """Whether there is such a process, and not only its exit status that nobody has asked for yet."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("ignored", [True, False])
def test_a_job_under_nohup_goes_on_when_its_terminal_is_gone(fleetrun, ignored):
    """nohup leaves SIGHUP ignored in what it starts; without it the end of a terminal ends the job."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)
    try:
        process = fleetrun.start("touch up.$PADDLE_TRAINER_ID; while [ ! -e end ]; do sleep 0.02; done", "--nproc_per_node=1")
    finally:
        signal.signal(signal.SIGHUP, before)
    fleetrun.wait_for("up.0")
    process.send_signal(signal.SIGHUP)
    if ignored:
        (fleetrun.folder / "end").touch()
    out, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == (0 if ignored else 128 + signal.SIGHUP), out


WAIT = "[ $TRAINING_ROLE = TRAINER ] || exec sleep 60; "


def test_a_job_leaves_its_logs_and_a_line(fleetrun):
    status, out = fleetrun.run(WAIT + "echo trained $PADDLE_TRAINER_ID of $PADDLE_TRAINERS_NUM", "--server_num=2", "--worker_num=2")
    assert status == 0 and "4 processes started; logs: logs/serverlog.0 … logs/workerlog.1" in out
    assert [fleetrun.log(f"workerlog.{i}") for i in range(2)] == ["trained 0 of 2\n", "trained 1 of 2\n"]


def test_settings_reach_every_process_by_flag_and_by_variable(fleetrun):
    script = "echo $ARGOSY_DURABILITY $ARGOSY_MEM_LIMIT $ARGOSY_FS_COMMAND; " + WAIT
    flags = ["--server_num=1", "--worker_num=1", "--directory=kept", "--durability", "wal_sync", "--mem-limit=8G"]
    status, out = fleetrun.run(script, *flags, env={"ARGOSY_FS_COMMAND": "kept", "ARGOSY_MEM_LIMIT": "1G"})
    assert status == 0, out
    assert fleetrun.log("serverlog.0") == fleetrun.log("workerlog.0") == "wal_sync 8G kept\n"


def test_variables_of_an_outer_job_are_not_handed_down(fleetrun):
    script = WAIT + "echo [$PADDLE_TRAINING_ROLE$PADDLE_PSERVER_ID$PADDLE_PSERVER_IPS] $PADDLE_TRAINER_ID"
    outer = {"PADDLE_TRAINING_ROLE": "PSERVER", "PADDLE_PSERVER_ID": "1", "PADDLE_PSERVER_IPS": "a", "PADDLE_TRAINER_ID": "9"}
    assert fleetrun.run(script, "--server_num=1", "--worker_num=1", "--standalone", env=outer)[0] == 0
    assert fleetrun.log("workerlog.0") == "[] 0\n"


def test_a_misspelt_setting_starts_nothing(fleetrun):
    status, out = fleetrun.run("touch started", "--server_num=1", "--worker_num=1", env={"ARGOSY_DURABILTY": "wal"})
    assert status == 2 and "no environment variable ARGOSY_DURABILTY, did you mean ARGOSY_DURABILITY?" in out, out
    assert not (fleetrun.folder / "started").exists()


SLURM_TASK = {
    "SLURM_PROCID": "1",
    "SLURM_STEP_NUM_TASKS": "2",
    "SLURM_STEP_TASKS_PER_NODE": "2",
    "SLURM_NODEID": "0",
    "SLURM_LOCALID": "1",
    "SLURM_STEP_NODELIST": "localhost",
    "SLURM_JOB_ID": "1",
}
POD = {"TRAINING_ROLE": "TRAINER", "PADDLE_PSERVERS_IP_PORT_LIST": "10.0.0.1:6170,10.0.0.2:6170", "PADDLE_TRAINERS_NUM": "4", "PADDLE_TRAINER_ID": "3"}


@pytest.mark.parametrize(
    "env, options, reason",
    [
        (SLURM_TASK, ["--servers=127.0.0.1:7000", "--workers=127.0.0.1"], "of which 2 are on this machine"),
        (POD, ["--server_num=1", "--worker_num=1"], "this is worker 3 of a job with parameter servers already"),
        (POD, ["--nproc_per_node=2"], "the options are those of a collective job"),
    ],
)
def test_a_launcher_in_another_job_does_not_start_its_own(fleetrun, env, options, reason):
    status, out = fleetrun.run("touch started", *options, env=env)
    assert status == 2 and reason in out and "--" in out, out
    assert not (fleetrun.folder / "started").exists()
    if "--nproc_per_node=2" not in options:
        assert fleetrun.run(WAIT + "touch started", *options, "--standalone", env=env)[0] == 0


def test_a_launcher_in_a_pod_runs_the_process_of_the_pod(fleetrun):
    status, out = fleetrun.run("echo $TRAINING_ROLE $PADDLE_TRAINER_ID of $PADDLE_TRAINERS_NUM, servers $PADDLE_PSERVERS_IP_PORT_LIST; exit 4", env=POD)
    assert status == 4 and "joins the job that the environment describes as worker 3" in out, out
    assert "TRAINER 3 of 4, servers 10.0.0.1:6170,10.0.0.2:6170\n" in out, "what a pod writes is shown"
    assert fleetrun.log("workerlog.3").count("TRAINER") == 1


def test_the_first_failure_is_shown_and_is_the_status(fleetrun):
    status, out = fleetrun.run('[ "$PADDLE_TRAINER_ID" = 1 ] || exec sleep 60; echo no such file; exit 5', "--run_mode=ps")
    assert status == 5
    assert re.search(r"---- worker 1: exit status 5; the end of logs/workerlog.1:\nno such file\n----", out), out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_no_process_behind(fleetrun, number):
    # each process has a child in a group of its own, as a dataset has its pipe command
    process = fleetrun.start(
        "mkdir $TRAINING_ROLE; cd $TRAINING_ROLE; sh -mc 'sleep 300 & echo $! > child.new; mv child.new child; wait' & echo $! > own.new; mv own.new own; wait",
        "--server_num=1",
        "--worker_num=1",
    )
    pids = []
    for name in ("TRAINER/child", "TRAINER/own", "PSERVER/child", "PSERVER/own"):
        fleetrun.wait_for(name)
        pids.append(int((fleetrun.folder / name).read_text()))
    assert all(map(runs, pids))
    process.send_signal(number)
    out, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 128 + number and f"stopped by signal {number.value}" in out
    assert not any(map(runs, pids))


def test_a_launcher_killed_with_9_takes_its_processes_along(fleetrun):
    process = fleetrun.start("echo $$ > new.$TRAINING_ROLE; mv new.$TRAINING_ROLE own.$TRAINING_ROLE; exec sleep 300", "--server_num=1", "--worker_num=1")
    pids = []
    for name in ("own.TRAINER", "own.PSERVER"):
        fleetrun.wait_for(name)
        pids.append(int((fleetrun.folder / name).read_text()))
    process.kill()
    process.wait()
    until(lambda: not any(map(runs, pids)), pids)


def test_a_second_signal_ends_the_grace(fleetrun):
    """Which is 10 seconds, and has begun when the processes are told to end: they say so, and go on."""
    process = fleetrun.start("trap 'touch told.$TRAINING_ROLE' TERM; touch up.$TRAINING_ROLE; while true; do sleep 1; done", "--server_num=1", "--worker_num=1")
    fleetrun.wait_for("up.TRAINER")
    fleetrun.wait_for("up.PSERVER")
    process.send_signal(signal.SIGINT)
    fleetrun.wait_for("told.TRAINER")
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    process.communicate(timeout=SECONDS)
    assert process.returncode == 130 and time.monotonic() - began < 8


def test_a_port_in_use_is_found_before_anything_starts(fleetrun):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        status, out = fleetrun.run("touch started", f"--servers=127.0.0.1:{port}", "--worker_num=1")
    assert status == 2 and f"port {port} of 127.0.0.1 is in use" in out
    assert not (fleetrun.folder / "started").exists() and not (fleetrun.folder / "logs").exists()


def test_a_server_killed_with_9_is_started_again(fleetrun):
    script = (
        "if [ $TRAINING_ROLE = PSERVER ]; then echo serving $PADDLE_PSERVER_ID $PADDLE_PORT; [ -e killed ] && touch back; exec sleep 60; fi; "
        "while ! grep -qs serving logs/serverlog.0; do sleep 0.02; done; touch up; while [ ! -e back ]; do sleep 0.02; done"
    )
    process = fleetrun.start("[ $TRAINING_ROLE = PSERVER ] && echo $$ > pid; " + script, "--server_num=1", "--worker_num=1", "--max_restart=1")
    fleetrun.wait_for("up")
    (fleetrun.folder / "killed").touch()
    os.kill(int((fleetrun.folder / "pid").read_text()), signal.SIGKILL)
    out, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 0 and "server 0: killed by signal 9 (Killed); starting it again (1 of 1)" in out
    first, second = fleetrun.log("serverlog.0").splitlines()
    assert first == second and first.startswith("serving 0 ")


@pytest.mark.parametrize("module", ["launch_ps", "launch"])
def test_python_runs_the_script_with_its_own_interpreter(tmp_path, module):
    (tmp_path / "train.py").write_text(
        "import os, sys, time\nif os.environ['TRAINING_ROLE'] == 'PSERVER': time.sleep(60)\nprint(sys.executable, sys.argv[1:])\n"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "paddle.distributed." + module,
            "--worker_num",
            "1",
            "--server_num",
            "1",
            f"--start_port={free_range(2)}",
            "train.py",
            "--lr",
            "1",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "logs" / "workerlog.0").read_text() == f"{sys.executable} ['--lr', '1']\n"


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--worker_num=1", "--gpus=0", "x"], "--gpus is for a collective job"),
        (["--nproc_per_node=2"], "name the training script"),
        (["--run_mode=ps"], "name the training script"),
        (["--run_mode=ps", "absent.py"], "there is no script 'absent.py'"),
        (["--durability=wall", "x"], "option --durability: found 'wall', expected auto, none, snapshot, wal, wal_sync"),
        (["--server_num=1", "--durability=wal", "x"], "durability is wal; that needs a directory"),
        (["--server_num=1", "--replicas=1", "x"], "replicas is 1 with durability=none and no directory"),
        (["--server_num=1", "--directory=/proc/self/stat", "x"], "'/proc/self/stat' is a file; expected a folder"),
        (["--nproc_per_node=2", "--on_rank_loss=survive", "x"], "which is 0: add --max_restart N"),
    ],
)
def test_a_command_line_that_cannot_be_starts_nothing(tmp_path, arguments, message):
    done = subprocess.run(["fleetrun", *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 2 and message in done.stderr and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("program", ["fleetrun", "argosy", "argosy-server", "argosy-predict"])
def test_programs_have_one_way_to_say_their_version_and_what_is_wrong(root, program):
    def run(*arguments):
        return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=SECONDS)

    assert run("--version").stdout == (root / "VERSION").read_text()
    wrong = run("--hepl")
    assert (wrong.returncode, wrong.stderr) == (2, f"{program}: there is no option --hepl, did you mean --help?; see --help\n")
    shown = run("--help")
    assert shown.returncode == 0 and shown.stdout.count(f"\n  {program} ") >= 2  # examples


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--address=nowhere"], "--address: "),
        (["--address=127.0.0.1:99999"], "--address: "),
        (["--server_index=2", "--servers=2"], "server is 2; expected 0 to 1, because the job has 2 servers"),
        (["--durability=wal"], "durability is wal; that needs a directory"),
        (["--directory=/proc/self/stat"], "'/proc/self/stat' is a file; expected a folder"),
    ],
)
def test_a_servers_wrong_command_line_is_a_usage_error_too(tmp_path, arguments, message):
    done = subprocess.run(["argosy-server", *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 2 and message in done.stderr, done


@pytest.mark.parametrize(
    "command, message",
    [
        ("argosy rows nowhere", "argosy: endpoints: endpoint 'nowhere' has no port; expected host:port"),
        ("argosy rows a:1 --wait=soon", "argosy: option --wait: found 'soon', expected a number above 0"),
        ("argosy versions a:99999", "argosy: endpoints: 'a:99999' is no address; expected host:port"),
        ("argosy publish a:1 --redis=b", "argosy: option --redis: 'b' is no address; expected host:port"),
        ("argosy arbiter --servers=a --followers=b:1", "argosy: option --servers: endpoint 'a' has no port"),
        ("argosy arbiter --servers=a:1 --followers=b:1,c:1", "argosy arbiter: 1 server and 2 followers: an arbiter needs one follower per server"),
        ("argosy status https://a:1", "argosy: 'https://a:1' is no page of a job; expected http://host:port"),
        ("argosy word2vec-eval vectors", "argosy word2vec-eval: nothing to evaluate: give --analogies, --similarity or both"),
        ("argosy convert --from table a b --default C1", "argosy convert: --default C1: expected SLOT=NUMBER"),
        ("argosy-server --servers=0", "argosy-server: option --servers: found '0', expected a whole number from 1"),
        ("argosy-server --follow=a:1 --follow_wait=nan", "argosy-server: option --follow_wait: found 'nan', expected a number above 0"),
        ("argosy reshard kept --servers=0", "argosy: option --servers: found '0', expected a whole number from 1"),
        ("argosy serve m --name=a/b", "argosy serve: option --name: found 'a/b', expected a name without spaces and / : ? # %"),
        ("argosy serve m --name=", "argosy serve: option --name: found '', expected a name"),
        ("argosy serve m --port=70000", "argosy serve: option --port: found '70000', expected a whole number from 0 to 65535"),
        ("argosy serve m --rows=a", "argosy serve: option --rows: endpoint 'a' has no port"),
        ("argosy serve m --redis=redis://a/n", "argosy serve: option --redis: 'redis://a/n' is no address of published tables"),
        ("argosy check-online a b --tolerance=nan", "argosy check-online: option --tolerance: found 'nan', expected a number from 0"),
        ("argosy check-online a b --seed=x", "argosy check-online: option --seed: found 'x', expected a whole number from 0"),
    ],
)
def test_a_value_that_cannot_be_is_a_usage_error_of_every_command(tmp_path, command, message):
    done = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS)
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.startswith(message), done


def test_the_launcher_links_no_torch(build):
    linked = subprocess.run(["ldd", build / "bin" / "fleetrun"], capture_output=True, text=True, check=True).stdout
    assert "torch" not in linked and "python" not in linked


def test_another_reader_of_yaml_finds_the_words_of_a_dumped_job(tmp_path):
    """PyYAML reads YAML 1.1, where 007 is seven, yes is true and 2026-01-01 is a date."""
    yaml = pytest.importorskip("yaml")
    words = ["train.py", "007", "yes", "off", "N", "1e3", "1.0e+3", "null", "~", "", "2026-01-01", "0x1f", "0b1", "1_000", "12:30:45", ".5", ".inf", "-0"]
    words += ["1.50", "3", "-3", "0.5", "a: b", "#1", "- x", "=", "<<", "./train", "on", "nan", "+1", "123456789012345678", "é", "a\nb", "'", '"', "0.00001"]
    done = subprocess.run(["fleetrun", "--dump_config", "--server_num=2", "--job=1e9", *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    read = yaml.safe_load(done.stdout)
    assert [str(word) for word in read["program"]] == words, done.stdout
    assert read["job"] == "1e9" and read["server_num"] == 2, done.stdout
    (tmp_path / "job.yaml").write_text(done.stdout)
    again = subprocess.run(["fleetrun", "--dump_config", "job.yaml"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert again.stdout == done.stdout, again.stderr
