#!/usr/bin/env python3
"""What `make demo` shows: click logs are made, and a job of 2 servers and 2 workers learns CTR-DNN from them (demo_job.py)."""

import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "demo"


def make_data():
    if not (FOLDER / "data" / "test").is_dir():
        subprocess.run([sys.executable, str(ROOT / "tools" / "make_criteo.py"), str(FOLDER / "data"), "--files", "4"], check=True)


def main():
    make_data()
    fleetrun = shutil.which("fleetrun", path=str(pathlib.Path(sys.executable).parent))
    print("a job of 2 parameter servers and 2 workers on this machine; what each says is in demo/logs", flush=True)
    status = subprocess.run(
        [fleetrun, "--server_num=2", "--worker_num=2", "--follow=0", "--status_port=0", "--log_dir", str(FOLDER / "logs"), str(ROOT / "tools" / "demo_job.py")],
        cwd=ROOT,
        check=False,
    ).returncode
    if status:
        sys.exit(status)
    print(
        "try next:  .venv/bin/argosy inspect demo/model           what was saved\n"
        "           .venv/bin/argosy report demo/logs             report.html: how it went, with curves\n"
        "           .venv/bin/fleetrun --server_num=2 --worker_num=2 --follow=0 examples/ctr_fleet.py 'demo/data/train/*' demo/model-py\n"
        "           .venv/bin/fleetrun --server_num=2 --worker_num=2 --follow=0 --no-python "
        "build/release/examples/ctr_fleet 'demo/data/train/*' demo/model-cc\n"
        "           .venv/bin/python examples/ctr_dnn.py 'demo/data/train/*' demo/model-one   the same in one process"
    )


if __name__ == "__main__":
    main()
