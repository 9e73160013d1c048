"""TLS, mutual TLS, the job token and job names between real processes: members of the job train, other processes are told why not."""

import re
import shutil
import signal
import subprocess

import pytest

from ports import free_range
from ps_job import SECONDS, until
from ps_scripts import SERVE, STRATEGY

TRAIN = (
    STRATEGY
    + """
import time
x = fluid.layers.data('x', [4])
ids = fluid.layers.data('ids', [1], dtype='int64')
rows = fluid.layers.embedding(ids, [50, 2], is_sparse=True)
loss = fluid.layers.mean(fluid.layers.square(fluid.layers.fc(fluid.layers.concat([x, rows], axis=1), 1) - 3.0))
fleet.distributed_optimizer(fluid.optimizer.SGD(0.01), strategy).minimize(loss)
"""
    + SERVE
    + """
losses = [float(exe.run(feed={'x': np.ones((2, 4), 'float32'), 'ids': np.array([[step % 5], [7]])}, fetch_list=[loss])[0]) for step in range(80)]
print('learned', losses[-1] < 0.5, flush=True)
while os.environ.get('WAIT') and not os.path.exists('end'): time.sleep(0.02)
fleet.barrier_worker()
fleet.stop_worker()
"""
)


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    """A folder with a certificate authority, ca.pem, and what it has signed for 127.0.0.1: job.pem with job.key."""
    folder = tmp_path_factory.mktemp("certificates")

    def openssl(*words):
        subprocess.run(["openssl", *map(str, words)], cwd=folder, check=True, capture_output=True)

    new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl("req", "-x509", *new_key, "-keyout", "ca.key", "-out", "ca.pem", "-days", 2, "-subj", "/CN=test authority")
    openssl("req", *new_key, "-keyout", "job.key", "-out", "job.csr", "-subj", "/CN=job")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    openssl("x509", "-req", "-in", "job.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", 2, "-extfile", "names", "-out", "job.pem")
    return folder


def certificates(authority, *names):
    files = {"tls-ca": "ca.pem", "tls-certificate": "job.pem", "tls-key": "job.key"}
    return [f"--{name}={authority / files[name]}" for name in names]


ALL = ["tls-ca", "tls-certificate", "tls-key"]


@pytest.mark.parametrize("kind", ["tls", "mutual", "token", "mutual and token"])
def test_a_job_trains_behind_its_locks(job, authority, kind):
    """One machine, one setting for all processes. `tls` alone: only the servers show a certificate."""
    job.write("train.py", TRAIN)
    flags = [*(certificates(authority, *ALL) if "mutual" in kind else []), *(["--token=open sesame"] if "token" in kind else [])]
    command = ["train.py", "async"]
    if kind == "tls":  # what a server needs and what a worker needs are not the same files
        job.write(
            "start.sh",
            """
            if [ $TRAINING_ROLE = PSERVER ]; then unset ARGOSY_TLS_CA; else unset ARGOSY_TLS_CERTIFICATE ARGOSY_TLS_KEY; fi
            exec "$ARGOSY_PYTHON" train.py async
            """,
        )
        flags, command = certificates(authority, *ALL), ["--no-python", "sh", "start.sh"]
    job.end(job.fleetrun(*flags, *command))
    for log in job.worker_logs():
        assert "learned True" in log, log
        assert "open sesame" not in job.logs()


def test_one_folder_is_all_that_tls_needs(job, authority):
    job.write("train.py", TRAIN)
    folder = job.folder / "tls"
    folder.mkdir()
    refused = job.fleetrun(f"--tls={folder}", "train.py", "async")
    assert refused.wait(SECONDS) != 0 and "tls/ca.pem" in job.logs(), "an empty folder is no reason to go on in clear text"
    for file, name in {"ca.pem": "ca.pem", "job.pem": "certificate.pem", "job.key": "key.pem"}.items():
        shutil.copy(authority / file, folder / name)
    launcher, stranger = serving(job, f"--tls={folder}", "--token=open sesame")
    stranger["ARGOSY_TOKEN"] = "open sesame"  # or it would get no further than that
    (folder / "certificate.pem").unlink(), (folder / "key.pem").unlink()  # with the rest the server is known, but not the worker
    for known in ({}, {"ARGOSY_TLS": folder}):
        assert re.search(r"server 0 .*has not answered", job.end(job.python("train.py", "async", **stranger, **known), 1), re.S)
    finish(job, launcher)
    assert "learned True" in job.log("worker 0")


def serving(job, *flags, workers=1, **env):
    """The launcher of a job whose one server listens and whose worker waits, and the environment of one more worker, which waits long
    enough to hear why it is not answered."""
    port = free_range(2)
    launcher = job.start("fleetrun", f"--servers=127.0.0.1:{port}", "--worker_num=1", *flags, "train.py", "async", ARGOSY_PYTHON="python", WAIT=1, **env)
    job.wait_for_line("worker 0", "learned")
    stranger = dict(
        TRAINING_ROLE="TRAINER", PADDLE_PSERVERS_IP_PORT_LIST=f"127.0.0.1:{port}", PADDLE_TRAINERS_NUM=1, PADDLE_TRAINER_ID=0, ARGOSY_SERVER_WAIT_SECONDS=5
    )
    return launcher, stranger


def finish(job, launcher):
    """The job itself has not noticed anything."""
    (job.folder / "end").touch()
    job.end(launcher)


def test_whoever_lacks_the_certificate_or_the_token_is_told_so(job, authority):
    job.write("train.py", TRAIN)
    launcher, stranger = serving(job, *certificates(authority, *ALL), "--token=open sesame")
    out = job.end(job.python("train.py", "async", **stranger), 1)
    assert re.search(r"server 0 .*asks for the job's token, and this side has none", out, re.S), out
    out = job.end(job.python("train.py", "async", **stranger, ARGOSY_TOKEN="open sesame"), 1)
    assert re.search(r"server 0 .*has not answered.*TLS", out, re.S), out
    known = {f"ARGOSY_TLS_{name}": authority / file for name, file in (("CA", "ca.pem"), ("CERTIFICATE", "job.pem"), ("KEY", "job.key"))}
    out = job.end(job.python("train.py", "async", **stranger, ARGOSY_TLS_CA=known["ARGOSY_TLS_CA"], ARGOSY_TOKEN="open sesame"), 1)
    assert re.search(r"server 0 .*certificate", out, re.S), out
    stranger["ARGOSY_SERVER_WAIT_SECONDS"] = 60  # here there is an answer
    for token in ("", "wrong"):
        out = job.end(job.python("train.py", "async", **stranger, **known, ARGOSY_TOKEN=token), 1)
        assert "token" in out and "open sesame" not in out, out
    finish(job, launcher)


def test_two_jobs_on_one_port_are_told_apart_by_name(job):
    """Also by what they train: another job with the same name has another schema."""
    job.write("train.py", TRAIN)
    job.write("other.py", TRAIN.replace("[50, 2]", "[60, 2]"))
    launcher, stranger = serving(job, "--job=ads", "--token=both know it", ARGOSY_RUN_ID="0123456789abcdef")
    stranger.update(ARGOSY_SERVER_WAIT_SECONDS=60, ARGOSY_TOKEN="both know it", ARGOSY_RUN_ID="0123456789abcdef")  # it is answered
    out = job.end(job.python("train.py", "async", **stranger, ARGOSY_JOB="words"), 1)
    assert re.search(r"serves job 'ads'; worker 0 .* belongs to job 'words': do two jobs use one address\?", out), out
    out = job.end(job.python("other.py", "async", **stranger, ARGOSY_JOB="ads"), 1)
    assert "another schema" in out and "50" in out and "60" in out, out
    finish(job, launcher)


def test_a_second_job_finds_the_port_in_use(job):
    job.write("train.py", TRAIN)
    launcher, stranger = serving(job)
    endpoint = stranger["PADDLE_PSERVERS_IP_PORT_LIST"]
    out = job.end(job.start("fleetrun", f"--servers={endpoint}", "--worker_num=1", "--log_dir=other", "train.py", "async"), 2)
    assert f"another job of this machine has {endpoint}" in out and not (job.folder / "other").exists()
    finish(job, launcher)


def test_an_open_address_is_warned_of(job):
    """On all addresses without a lock: the server's log says so, and says less with a token."""
    job.write("train.py", TRAIN)
    for token, warning in (("", "neither TLS nor a job token"), ("open sesame", "without TLS: the job token and the data cross the network")):
        port = free_range(1)
        env = dict(
            PADDLE_PSERVERS_IP_PORT_LIST=f"0.0.0.0:{port}",
            PADDLE_TRAINERS_NUM=1,
            TRAINING_ROLE="PSERVER",
            POD_IP="0.0.0.0",
            PADDLE_PORT=port,
            ARGOSY_TOKEN=token,
        )
        server = job.python("train.py", "async", **env)
        lines = []
        until(lambda: lines.append(server.stdout.readline()) or "listens at" in lines[-1] or not lines[-1], lambda: lines)
        server.send_signal(signal.SIGTERM)
        job.end(server)
        assert any(warning in line and f"0.0.0.0:{port}" in line for line in lines), lines
