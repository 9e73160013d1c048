"""What can be seen of a job that runs: metrics, the status page, the line on the terminal, stacks of what stalls, traces, event files."""

import contextlib
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import threading
import urllib.error
import urllib.request

import pytest

from ports import free_range
from ps_job import SECONDS, until
from ps_scripts import ENDLESS

LINE = re.compile(r'(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(?P<labels>\{(?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*\})? (?P<value>\S+)')


def get(url, method="GET", host=None):
    request = urllib.request.Request(url, method=method, headers={"Host": host} if host else {})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def metrics_of(url):
    """{name: [(labels, value)]} of a page of metrics; every line is checked."""
    status, text = get(url)
    assert status == 200, text
    found, types = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in types, f"{name} has two types"
            types[name] = kind
        elif not line.startswith("#"):
            match = LINE.fullmatch(line)
            assert match, line
            float(match["value"])
            series = found.setdefault(match["name"], [])
            assert match["labels"] not in [labels for labels, _ in series], f"twice: {line}"
            series.append((match["labels"], float(match["value"])))
    for name, kind in types.items():
        assert name.endswith("_total") == (kind == "counter"), f"{name} is a {kind}"
    return found


def value(found, name, label=""):
    """The sum over the series that have this text in their labels."""
    return sum(number for labels, number in found[name] if label in (labels or ""))


def steps(job, worker):
    file = job.folder / f"steps.{worker}"
    return int(file.read_text() or 0) if file.exists() else 0


def url_in(job, launcher_log, what):
    return until(lambda: re.search(rf"{what}: (http://\S+)", launcher_log()), job.logs)[1]


@pytest.fixture
def running(job):
    """Starts an endless job, and keeps reading what its launcher writes."""
    said = []

    def start(*flags, mode="async", **env):
        job.write("train.py", ENDLESS)
        launcher = job.fleetrun(*flags, "train.py", mode, **env)
        threading.Thread(target=lambda: said.extend(iter(launcher.stdout.readline, "")), daemon=True).start()
        until(lambda: min(steps(job, 0), steps(job, 1)) > 5, lambda: "".join(said) + job.logs())
        return launcher

    start.said = lambda: "".join(said)
    yield start
    (job.folder / "end").touch()


def test_every_process_shows_metrics_and_health(job, running):
    launcher = running("--metrics_port=0", "--directory=kept", "--snapshot_seconds=1")
    targets = {entry["labels"]["process"]: entry["targets"][0] for entry in json.loads((job.folder / "logs" / "metrics.json").read_text())}
    assert sorted(targets) == ["launcher", "server 0", "server 1", "worker 0", "worker 1"]
    assert all(target.startswith("127.0.0.1:") for target in targets.values())
    until(lambda: value(metrics_of(f"http://{targets['server 0']}/metrics"), "argosy_server_snapshots_total") > 0, job.logs)

    server = metrics_of(f"http://{targets['server 0']}/metrics")
    assert value(server, "argosy_server_pushes_total") > 0
    assert value(server, "argosy_server_pulls_total") > 0
    assert value(server, "argosy_server_received_bytes_total") > 0
    assert value(server, "argosy_server_workers", 'state="live"') == 2
    assert value(server, "argosy_server_log_bytes") > 0
    assert value(server, "argosy_server_snapshot_age_seconds") < 60
    assert value(server, "argosy_server_push_seconds_count") > 0
    assert value(server, "argosy_server_limit_most", 'limit="parked_calls"') == 65536

    def rows():
        return sum(value(metrics_of(f"http://{targets[name]}/metrics"), "argosy_server_table_rows", "embedding") for name in ("server 0", "server 1"))

    until(lambda: rows() == 50, job.logs)

    worker = metrics_of(f"http://{targets['worker 1']}/metrics")
    before = steps(job, 1)
    assert 0 <= value(worker, "argosy_worker_samples_total") - 2 * value(worker, "argosy_worker_batches_total") <= 2, "a batch may be half counted"
    until(lambda: value(metrics_of(f"http://{targets['worker 1']}/metrics"), "argosy_worker_batches_total") > before, job.logs)
    assert value(worker, "argosy_worker_push_seconds_count") > 0
    assert value(worker, "process_resident_memory_bytes") > 1e7

    whole = metrics_of(f"http://{targets['launcher']}/metrics")
    assert value(whole, "argosy_launcher_processes", 'state="running"') == 4
    assert value(whole, "argosy_launcher_job_state", 'state="running"') == 1

    for target in targets.values():
        assert get(f"http://{target}/healthz") == (200, "ok\n")
        assert get(f"http://{target}/readyz") == (200, "ok\n")
        assert get(f"http://{target}/metrics", "POST")[0] == 405
        assert get(f"http://{target}/metrics", host="evil.example")[0] == 403
    (job.folder / "end").touch()
    launcher.wait(SECONDS)
    assert launcher.returncode == 0, running.said()
    assert json.loads((job.folder / "logs" / "metrics.json").read_text()) == []  # nobody is down


def test_a_job_that_has_failed_is_left_for_alerts(job, running):
    """Nobody scrapes the launcher between its last word and its end: the label in metrics.json stays."""
    launcher = running("--metrics_port=0")
    job.signal(launcher, "worker 1", signal.SIGKILL)
    assert launcher.wait(SECONDS) != 0
    left = json.loads((job.folder / "logs" / "metrics.json").read_text())
    assert [(entry["labels"]["process"], entry["labels"]["argosy_ended"]) for entry in left] == [("launcher", "failed")], left


def test_the_ports_of_metrics_follow_the_launchers(job, running):
    first = free_range(5)
    running(f"--metrics_port={first}")
    targets = [entry["targets"][0] for entry in json.loads((job.folder / "logs" / "metrics.json").read_text())]
    assert targets == [f"127.0.0.1:{first + i}" for i in range(5)]
    for target in targets:
        metrics_of(f"http://{target}/metrics")


def test_nothing_listens_where_nobody_asked(job, running):
    launcher = running()
    assert not (job.folder / "logs" / "metrics.json").exists()
    opened = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True).stdout
    workers = [job.pid_of(launcher, f"worker {i}") for i in range(2)]
    for pid in (launcher.pid, *workers):
        assert f"pid={pid}," not in opened, opened


def test_status_of_a_running_job_by_page_folder_and_terminal(job, running):
    launcher = running("--status_port=0", "--job=clicks")
    url = url_in(job, running.said, "status")
    assert url.startswith("http://127.0.0.1:")
    status, page = get(url)
    assert status == 200 and "<title>Argosy job</title>" in page

    def status_json():
        return json.loads(get(url + "status.json")[1])

    found = until(
        lambda: (
            (now := status_json())["samples_per_second"] > 0 and len(now["history"]["time"]) > 1 and sum(table["rows"] for table in now["tables"]) == 50 and now
        ),
        job.logs,
    )
    assert found["job"] == "clicks" and found["state"] == "running" and found["alive"] == 4
    assert [process["name"] for process in found["processes"]] == ["server 0", "server 1", "worker 0", "worker 1"]
    assert found["processes"][2]["pid"] == job.pid_of(launcher, "worker 0")
    shown = job.folder / "logs" / "status.txt"  # written every two seconds, after status.json
    until(lambda: shown.exists() and "embedding_0.w_0" in shown.read_text() and "worker 1" in shown.read_text(), job.logs)

    for where in ("logs", url, None):
        words = ["argosy", "status", *([where] if where else [])]
        text = subprocess.run(words, cwd=job.folder, capture_output=True, text=True, check=True).stdout
        assert re.search(r"clicks \(run \w+\): running", text), text
        assert "worker 1" in text and "samples/s" in text and "embedding_0.w_0" in text, text

    # One per machine of a job; who does not answer hides nobody.
    away = f"http://127.0.0.1:{free_range(1)}/"
    several = subprocess.run(["argosy", "status", url, away, "logs"], cwd=job.folder, capture_output=True, text=True, check=False)
    assert several.returncode == 1 and away.rstrip("/") in several.stderr, several
    assert several.stdout.count(": running") >= 2 and f"==== {url}" in several.stdout and "==== logs\n" in several.stdout, several

    report = subprocess.run(["argosy", "report", "logs", "-o", "report.html"], cwd=job.folder, capture_output=True, text=True, check=True)
    assert report.stdout == "report.html\n"
    assert '"job":"clicks"' in (job.folder / "report.html").read_text()

    stopped = subprocess.run(["argosy", "stop", "logs"], cwd=job.folder, capture_output=True, text=True, check=False)
    assert stopped.returncode == 0 and stopped.stdout == "the job has ended\n", stopped
    assert launcher.wait(SECONDS) == 128 + signal.SIGTERM
    again = subprocess.run(["argosy", "stop", "logs"], cwd=job.folder, capture_output=True, text=True, check=False)
    assert again.returncode == 1 and "there is nothing to stop" in again.stderr, again
    last = subprocess.run(["argosy", "status", "logs", "--watch"], cwd=job.folder, capture_output=True, text=True, check=True, timeout=SECONDS).stdout
    assert ": stopped, " in last, last
    final = json.loads((job.folder / "logs" / "status.json").read_text())
    assert final["exit_code"] == 143 and final["alive"] == 0


def test_a_launcher_that_was_killed_is_said_to_be(job, running):
    launcher = running()
    until(lambda: (job.folder / "logs" / "status.txt").exists(), job.logs)
    launcher.kill()
    launcher.wait(SECONDS)
    text = subprocess.run(["argosy", "status", "logs"], cwd=job.folder, capture_output=True, text=True, check=True).stdout
    assert f"the launcher (pid {launcher.pid}) was killed" in text


def test_a_folder_without_a_job_is_an_error(tmp_path):
    for words in (["status"], ["stop", "nowhere"], ["report", "nowhere"]):
        found = subprocess.run(["argosy", *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert found.returncode == 1 and "no job is known in" in found.stderr, found


def test_a_file_gets_dated_lines_and_quiet_none(job, running):
    running("--progress_seconds=1")
    until(lambda: re.search(r"\d{4}-\d\d-\d\d \S+ info \d+:\d\d · [\d,]+ samples/s · [\d,]+ samples · .*4/4 alive", running.said()), running.said)


def test_quiet_says_nothing_of_progress(job, running):
    launcher = running("--progress_seconds=0.2", "--quiet")
    held = steps(job, 0)
    until(lambda: steps(job, 0) > held + 200, job.logs)
    (job.folder / "end").touch()
    launcher.wait(SECONDS)
    assert "samples/s" not in running.said(), running.said()


def test_a_terminal_gets_one_line_that_lives(job):
    job.write("train.py", ENDLESS)
    ours, theirs = pty.openpty()
    launcher = subprocess.Popen(
        ["fleetrun", f"--start_port={free_range(4)}", "--server_num=2", "--worker_num=2", "train.py", "async"],
        cwd=job.folder,
        env={**job.env, "TERM": "xterm", "ARGOSY_PYTHON": sys.executable},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    job._running.append(launcher)
    os.close(theirs)
    seen = []

    def read():
        with contextlib.suppress(OSError):  # the other end has closed
            while True:
                seen.append(os.read(ours, 4096).decode(errors="replace"))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    until(lambda: re.search(r"\r\033\[K\d+:\d\d · [\d,]+ samples/s", "".join(seen)), lambda: "".join(seen) + job.logs())
    (job.folder / "end").touch()
    assert launcher.wait(SECONDS) == 0
    reader.join(SECONDS)
    os.close(ours)
    text = "".join(seen)
    assert "the job has ended well" in text
    # A line of the log never stands behind what is left of the live one.
    for line in re.split(r"\r\033\[K|\n", text):
        assert not re.search(r"samples/s.*(info|warning|error) ", line), line


def test_what_does_not_end_leaves_its_stacks(job):
    job.write(
        "train.py",
        """
import os, signal, time
import paddle.fluid as fluid
signal.signal(signal.SIGTERM, signal.SIG_IGN)

def stuck_in_here():
    open('stuck.' + os.environ['TRAINING_ROLE'], 'w').close()
    while True:
        time.sleep(1)

stuck_in_here()
""",
    )
    launcher = job.start("fleetrun", f"--start_port={free_range(2)}", "--server_num=1", "--worker_num=1", "train.py", ARGOSY_PYTHON=sys.executable)
    until(lambda: len(list(job.folder.glob("stuck.*"))) == 2, job.logs)
    launcher.send_signal(signal.SIGTERM)
    out, _ = launcher.communicate(timeout=SECONDS)
    match = re.search(r"not everything has ended 10 s after SIGTERM; what its threads do is in (\S+stacks-\S+\.txt)", out)
    assert match, out
    stacks = (job.folder / match[1]).read_text()
    assert "==== server 0" in stacks and "==== worker 0" in stacks
    assert stacks.count("in stuck_in_here") >= 2, stacks


def test_a_stall_is_told_with_the_stacks_of_everybody(job, running):
    launcher = running("--stall_seconds=2", "--call-seconds=600", "--lease-seconds=600")
    job.signal(launcher, "server 0", signal.SIGSTOP)
    match = until(lambda: re.search(r"no worker has trained a batch for \d+ s; what its threads do is in (\S+\.txt)", running.said()), running.said)
    job.signal(launcher, "server 0", signal.SIGCONT)
    stacks = (job.folder / match[1]).read_text()
    assert "==== worker 1" in stacks and "train.py" in stacks, stacks
    assert "---- thread " in stacks, "threads answer with their stacks in C++"
    (job.folder / "end").touch()
    launcher.wait(SECONDS)
    assert launcher.returncode == 0, running.said()


def test_a_trace_has_what_batches_do_in_all_processes(job, running):
    launcher = running("--trace=traces")
    (job.folder / "end").touch()
    launcher.wait(SECONDS)
    assert launcher.returncode == 0, running.said()
    events = json.loads((job.folder / "traces" / "trace.json").read_text())
    names = {event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert names == {"server 0", "server 1", "worker 0", "worker 1"}
    spans = [event for event in events if event["ph"] == "X"]
    assert {"pull", "push", "apply"} <= {span["name"] for span in spans}
    assert all(span["dur"] >= 0 for span in spans)
    first, last = min(span["ts"] for span in spans), max(span["ts"] for span in spans)
    assert last - first < 1e6 * SECONDS, "one clock for all processes"
    check_trace_events(events)


def check_trace_events(events):
    """What the Trace Event Format asks of complete events (X) and metadata (M), and Perfetto's importer with it: spans of a thread nest."""
    for event in events:
        assert event["ph"] in ("X", "M") and isinstance(event["name"], str), event
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int), event
        assert event["ph"] == "M" or all(isinstance(event[field], float) for field in ("ts", "dur")), event
    threads = {}
    for event in events:
        if event["ph"] == "X":
            threads.setdefault((event["pid"], event["tid"]), []).append((event["ts"], -event["dur"]))
    for spans in threads.values():
        open_until = []
        for begin, minus_length in sorted(spans):
            while open_until and open_until[-1] <= begin + 1:  # microseconds, of which doubles of this size have quarters
                open_until.pop()
            assert not open_until or begin - minus_length <= open_until[-1] + 1, "a span ends behind the one that it began in"
            open_until.append(begin - minus_length)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def test_event_files_are_whole_records(job, running):
    """tests/observe/check_tensorboard.py reads them with TensorBoard itself."""
    launcher = running("--tensorboard=board")
    until(lambda: list((job.folder / "board").glob("events.out.tfevents.*")) and next(iter((job.folder / "board").iterdir())).stat().st_size > 200, job.logs)
    (job.folder / "end").touch()
    launcher.wait(SECONDS)
    data = next((job.folder / "board").iterdir()).read_bytes()
    records = []
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        assert struct.unpack("<I", data[8:12])[0] == masked(data[:8])
        record = data[12 : 12 + length]
        assert struct.unpack("<I", data[12 + length : 16 + length])[0] == masked(record)
        records.append(record)
        data = data[16 + length :]
    assert b"brain.Event:2" in records[0]
    assert any(b"job/samples_per_second" in record for record in records)
    assert any(b"workers/argosy_worker_push_seconds" in record for record in records)


def test_a_second_job_keeps_the_logs_of_the_first(job):
    job.write("train.py", "import sys\nprint('run', sys.argv[1])\n")
    for run in ("one", "two"):
        job.end(job.fleetrun("train.py", run, servers=1, workers=1))
    assert "run two" in job.log("worker 0") and "run one" not in job.log("worker 0")
    (old,) = (job.folder / "logs" / "old").iterdir()
    assert re.fullmatch(r"\d{8}-\d{6}", old.name)
    assert "run one" in (old / "workerlog.0.log").read_text()
    assert len(list(job.folder.rglob("workerlog.0"))) == 1, "those of the job before are not taken for this one's"
    assert json.loads((old / "status.json").read_text())["state"] == "ended well"


def test_doctor_says_what_it_found_and_what_to_do(tmp_path):
    env = {**os.environ, "ARGOSY_PYTHON": sys.executable, "ARGOSY_TLS": str(tmp_path)}
    found = subprocess.run(["argosy", "doctor"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert "ok   Python: Python 3." in found.stdout and "ok   package argosy: can be imported" in found.stdout, found.stdout
    assert f"look TLS: '{tmp_path}/ca.pem' cannot be read" in found.stdout
    for what in ("torch", "C++ compiler", "memory", "open files", "disk of the logs", "ports", "clock", "MPI", "Slurm"):
        assert f" {what}: " in found.stdout, found.stdout
