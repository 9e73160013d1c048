"""Jobs that go on from what an earlier one learned: folders of files, snapshots, a part of them, and folders of a remote store."""

import ast
import errno
import os
import pathlib
import re
import shutil
import signal

import pytest

from ps_job import SECONDS, until
from ps_scripts import JOB, NETWORK, STEPS

# Does to files under $STORE what `hadoop fs` does to those of its store.
COMMAND = """#!/bin/sh
echo "$@" >> "$STORE/calls"
[ "$1" = fs ] && shift
while [ "$1" = -D ]; do shift 2; done
order=$1; shift
while [ "${1#-}" != "$1" ]; do shift; done
at() { echo "$STORE/${1#hdfs:}"; }
case $order in
-get) cp -r "$(at "$1")" "$2";;
-put) cp -r "$1" "$(at "$2")";;
-mkdir) mkdir -p "$(at "$1")";;
-rm) rm -rf "$(at "$1")";;
-mv) mv "$(at "$1")" "$(at "$2")";;
*) echo "no such order: $order" >&2; exit 2;;
esac
"""


@pytest.fixture
def store(job):
    """A remote store behind a program that is called hadoop."""
    (job.folder / "bin").mkdir()
    (job.folder / "store").mkdir()
    job.write("bin/hadoop", COMMAND)
    (job.folder / "bin" / "hadoop").chmod(0o755)
    job.env.update(PATH=f"{job.folder}/bin:{job.env['PATH']}", STORE=str(job.folder / "store"))
    return job.folder / "store"


def with_server(call):
    return JOB.replace("fleet.run_server()", f"print('report', {call})\n    fleet.run_server()")


def report_of_server(job):
    return ast.literal_eval(re.search(r"report (\{.*\})", (job.folder / "logs" / "serverlog.0").read_text()).group(1))


def same_files(one, other, names=None):
    for name in names or [file.name for file in one.iterdir() if "learning_rate" not in file.name and file.name != "__ledger__"]:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def test_a_folder_of_a_remote_store_is_saved_loaded_and_served(job, store):
    """By the names that name it to `hadoop fs`, and by hdfs: alone; on servers and on a worker."""
    account = "fs_name='hdfs://there:9000', fs_ugi='me,secret'"
    job.write(
        "first.py",
        JOB
        + STEPS
        + f"""
fleet.save_persistables(exe, '/models/day1', {account})
fluid.io.save_persistables(exe, 'hdfs:/models/day2')
fleet.stop_worker()
""",
    )
    job.launch("first.py", workers=1)
    same_files(store / "models" / "day1", store / "models" / "day2")
    job.write(
        "second.py",
        with_server(f"fleet.init_server('/models/day1', {account})")
        + """
fleet.save_persistables(exe, 'second')
fleet.stop_worker()
""",
    )
    job.launch("second.py", workers=1)
    job.write(
        "third.py",
        JOB
        + f"""
print(fleet.load_persistables(exe, 'hdfs:/models/day1', {account}))
fleet.save_persistables(exe, 'third')
fleet.stop_worker()
""",
    )
    job.launch("third.py", workers=1)
    for name in ("second", "third"):
        same_files(store / "models" / "day1", job.folder / name)
    calls = (store / "calls").read_text().splitlines()
    gets = [call for call in calls if " -get " in call]
    assert len(gets) == 3 and all(get.startswith("fs -D fs.default.name=hdfs://there:9000 -D hadoop.job.ugi=me,secret -get ") for get in gets)


def test_a_store_that_fails_ends_the_server_with_its_words_and_no_password(job, store):
    job.write("train.py", with_server("fleet.init_server('hdfs:/not/there', fs_ugi=os.environ['ACCOUNT'])"))
    job.launch("train.py", workers=1, servers=1, status=1, ACCOUNT="me,secret")
    log = (job.folder / "logs" / "serverlog.0").read_text()
    assert "hadoop fs -get hdfs:/not/there" in log and "cannot stat" in log and "secret" not in log


def test_init_server_takes_every_form_and_says_what_was_there(job):
    job.write(
        "first.py",
        JOB
        + STEPS
        + """
fleet.save_snapshot(os.path.abspath('base'), 'base')
exe.run(fluid.default_main_program(), feed=batch(7))
fleet.save_snapshot(os.path.abspath('delta'), 'delta')
fleet.save_snapshot(os.path.abspath('full'))
fleet.save_persistables(exe, 'files')
fleet.stop_worker()
""",
    )
    job.launch("first.py", workers=1)
    for form in ("files", "full", "delta"):
        job.write("second.py", with_server(f"fleet.init_server('{form}')") + "fleet.save_persistables(exe, 'again')\nfleet.stop_worker()\n")
        job.launch("second.py", workers=1, servers=1)
        same_files(job.folder / "files", job.folder / "again")
        report = report_of_server(job)
        assert {"table", "w", "b"} <= set(report["loaded"]) and report["missing"] == []


def test_init_server_takes_one_file_of_a_single_machine(job):
    job.write(
        "alone.py",
        NETWORK
        + """
fluid.optimizer.Adam(0.05).minimize(loss)
exe = fluid.Executor(fluid.CPUPlace())
exe.run(fluid.default_startup_program())
for i in range(5): exe.run(feed=batch(i))
fluid.io.save_persistables(exe, 'files')
fluid.io.save_persistables(exe, 'combined', filename='all')
fluid.io.save_params(exe, 'params', filename='all')
""",
    )
    job.end(job.python("alone.py"))
    job.write("second.py", with_server("fleet.init_server('combined')") + "fleet.save_persistables(exe, 'again')\nfleet.stop_worker()\n")
    job.launch("second.py", workers=1)
    same_files(job.folder / "files", job.folder / "again")
    assert {"table", "w", "b", "table_moment1_0"} <= set(report_of_server(job)["loaded"])
    job.write("third.py", with_server("fleet.init_server('params')"))
    launcher = job.fleetrun("third.py")
    assert launcher.wait(SECONDS) != 0
    assert re.search(r"all' has 3 tensors, but a file of all persistable variables of this job's program would have \d+", job.logs())


def test_init_server_of_2_x_loads_the_variables_that_are_named(job):
    job.write("first.py", JOB + STEPS + "fleet.save_persistables(exe, 'files')\nfleet.stop_worker()\n")
    job.launch("first.py", workers=1)
    head = "from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet\n\nfleet.init(role_maker.PaddleCloudRoleMaker())"
    script = with_server("fleet.init_server(dirname='files', var_names=['table'])").replace(head, "import paddle.distributed.fleet as fleet\nfleet.init()")
    job.write("second.py", script + "fleet.save_persistables(exe, 'second')\nfleet.stop_worker()\n")
    job.launch("second.py", workers=1)
    same_files(job.folder / "files", job.folder / "second", ["table"])
    for name in ("w", "table_moment1_0"):
        assert (job.folder / "files" / name).read_bytes() != (job.folder / "second" / name).read_bytes(), name
    assert report_of_server(job)["loaded"] == ["table"]


def test_a_server_that_is_killed_while_it_loads_its_model_begins_again(job):
    """Half of a model is none: the server forgets what it had loaded, loads all of it, and lets no worker in before."""
    job.write("first.py", JOB + STEPS + "fleet.save_persistables(exe, 'files')\nfleet.stop_worker()\n")
    job.launch("first.py", workers=1)
    shutil.copytree(job.folder / "files", job.folder / "other")
    held = job.folder / "other" / "w"  # the last of the parameters, in the order of their names
    held.unlink()
    os.mkfifo(held)
    job.write(
        "second.py", with_server("fleet.init_server(['files', 'other'][fleet.server_index()])") + "fleet.save_persistables(exe, 'again')\nfleet.stop_worker()\n"
    )
    launcher = job.fleetrun("--max_restart=2", "--directory=kept", "--on-worker-loss=wait", "second.py", workers=1)
    writer = until(lambda: opened(held), job.logs)  # the server reads it, and gets nothing
    os.kill(launcher.pid, signal.SIGSTOP)
    pid = job.signal(launcher, "server 1", signal.SIGKILL)
    until(lambda: pathlib.Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z", "its death")
    os.close(writer)
    held.unlink()
    shutil.copy(job.folder / "files" / "w", held)
    assert "has come" not in job.log("server 1"), job.log("server 1")
    os.kill(launcher.pid, signal.SIGCONT)
    job.end(launcher)
    assert "died while its tables got their first values" in job.log("server 1"), job.log("server 1")
    same_files(job.folder / "files", job.folder / "again")


def opened(fifo):
    """The writing end of a pipe with a name that somebody reads; none where nobody does."""
    try:
        return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        assert error.errno == errno.ENXIO
        return None
