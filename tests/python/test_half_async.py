"""1.6's way to half-async: BuildStrategy.async_mode = False, set by the script itself, beside sync_mode=False."""

import os
import pathlib
import re
import subprocess

import pytest

PROGRAM = pathlib.Path(__file__).parent / "programs" / "half_async_job.py"


@pytest.mark.parametrize(
    "async_mode, made_by, given_to, sender",
    [
        ("False", "fleet", "with_data_parallel", False),
        ("True", "fleet", "with_data_parallel", True),
        ("unset", "fleet", "CompiledProgram", True),
        ("False", "fleet", "CompiledProgram", False),
        ("False", "transpiler", "with_data_parallel", False),
        ("False", "transpiler", "CompiledProgram", False),
        ("unset", "transpiler", "with_data_parallel", True),
        ("unset", "early-transpiler", "with_data_parallel", True),
    ],
)
def test_threads_meet_where_a_script_sets_async_mode_to_false_and_only_there(build, tmp_path, async_mode, made_by, given_to, sender):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PADDLE_", "TRAINING_ROLE"))}
    command = [str(build / "bin/fleetrun"), "--server_num", "1", "--worker_num", "1", "--log_dir", "logs", str(PROGRAM), async_mode, made_by, given_to]
    job = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=180)
    log = (tmp_path / "logs/workerlog.0").read_text(encoding="utf-8")
    assert job.returncode == 0, job.stderr + log
    threads = re.search(r"threads: (.*)", log)[1].split()
    assert ("ps-send" in threads) == sender  # the thread of the asynchronous queue
    assert ("twice is fine" in log) == (async_mode == "False")
