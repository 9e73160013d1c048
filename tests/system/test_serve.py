"""argosy serve, as a process: predictions equal to the model's, wrong requests, limits, new versions without a pause, SIGTERM."""

import concurrent.futures
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

from served import ARGOSY, SAMPLES, Served, predictions_of, save


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Two models that differ, saved once."""
    folder = tmp_path_factory.mktemp("models")
    save(folder / "one", 1)
    save(folder / "two", 2)
    return folder


@pytest.fixture
def serve():
    started = []

    def start(*words):
        started.append(Served(*words))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.communicate()


def wait_for(condition, seconds=60):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "timed out"
        time.sleep(0.02)


FAILS = """
import sys
import paddle.fluid as fluid
x = fluid.layers.data(name="x", shape=[3])
ids = fluid.layers.data(name="ids", shape=[1], dtype="int64", lod_level=1)
seven = fluid.layers.reshape(fluid.layers.concat([x, x], axis=1), [-1, 7])  # of 6 numbers
exe = fluid.Executor(fluid.CPUPlace())
exe.run(fluid.default_startup_program())
fluid.io.save_inference_model(sys.argv[1], ["x", "ids"], [fluid.layers.elementwise_add(seven, seven)], exe)
"""


def test_a_version_that_fails_on_random_samples_never_serves(models, serve, tmp_path):
    """Its files are whole, and it opens: only a run finds out."""
    subprocess.run([sys.executable, "-c", FAILS, tmp_path / "fails"], check=True, timeout=120)
    refused = subprocess.run([ARGOSY, "serve", tmp_path / "fails", "--port=0"], capture_output=True, text=True, timeout=60)
    assert refused.returncode == 1 and re.search(r"warm-up of '\S+fails' with 1 random samples: ", refused.stderr), refused.stderr
    shutil.copytree(models / "one", tmp_path / "versions" / "1")
    served = serve(tmp_path / "versions", "--reload_seconds", "0.05")
    expected = served.post({"instances": SAMPLES})
    shutil.copytree(tmp_path / "fails", tmp_path / "versions" / "2")
    wait_for(lambda: "argosy_serve_failed_reloads_total 1" in served.get("/metrics"))
    page = json.loads(served.get("/v1/models/ctr"))
    assert page["version"] == "1" and "warm-up of" in page["refused"], page
    assert served.post({"instances": SAMPLES}) == expected
    serve(tmp_path / "fails", "--warmup", "0")  # who wants it has it


def test_lines_of_a_log_that_is_no_terminal_have_dates(models, serve):
    """Model servers run for days, and no launcher keeps their log."""
    status, log = serve(models / "one").stop()
    assert status == 0 and re.search(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ info version 1 of ", log, re.M), log


def test_predictions_are_the_models_in_both_forms(models, serve):
    served = serve(models / "one")
    expected = predictions_of(models / "one")
    status, answer = served.post({"instances": SAMPLES})
    assert status == 200
    np.testing.assert_allclose(answer["predictions"], expected, rtol=1e-6)
    status, answer = served.post({"inputs": {name: [sample[name] for sample in SAMPLES] for name in ("x", "ids")}})
    assert status == 200
    np.testing.assert_allclose(answer["outputs"], expected, rtol=1e-6)


def test_its_pages_say_what_is_served(models, serve):
    served = serve(models / "one")
    assert served.get("/healthz") == "ok\n" and served.get("/readyz") == "ok\n"
    page = json.loads(served.get("/v1/models/ctr"))
    assert page["name"] == "ctr" and page["ready"] is True and page["settings"]["precision"] == "float32"
    assert page["inputs"] == [
        {"name": "x", "dtype": "float32", "shape": [-1, 3], "lod_level": 0},
        {"name": "ids", "dtype": "int64", "shape": [-1, 1], "lod_level": 1},
    ]
    assert {one["name"] for one in json.loads(served.get("/v1/models/ctr/parameters"))["parameters"]} >= {"table", "fc_0.w_0"}
    served.post({"instances": SAMPLES})
    served.post(b"{")
    metrics = served.get("/metrics")
    for line in ('argosy_serve_requests_total{code="200"} 1', 'argosy_serve_requests_total{code="400"} 1', "argosy_serve_samples_total 3", 'version="1"} 1'):
        assert line in metrics, metrics


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"{", 400, "the request is no JSON"),
        ({"instances": [{"x": [1, 2, 3]}]}, 400, "instance 0 lacks input 'ids'"),
        ({"instances": [{"x": [1, 2], "ids": [1]}]}, 400, "input 'x', sample 0: got a list of 2, expected 3"),
        ({"instances": [{"x": [1, 2, 3], "ids": [20]}]}, 400, "20"),
        ({"instances": [{"x": [1, 2, 3], "ids": [1], "z": 1}]}, 400, "the model has no input 'z'; its inputs are x, ids"),
        (b" " * 5000, 413, "larger than 4096 bytes (max_body_bytes)"),
    ],
)
def test_wrong_requests_are_told_and_harm_nobody(models, serve, body, status, message):
    served = serve(models / "one", "--max_body_bytes", "4096")
    found, answer = served.post(body)
    assert found == status and message in answer["error"]
    assert served.post({"instances": SAMPLES})[0] == 200


def test_large_bodies_need_no_type(models, serve):
    """curl -d says that a body is a form, and so does urllib; deep nesting is refused like any other mistake."""
    served = serve(models / "one")
    status, answer = served.post({"instances": SAMPLES * 1000})
    assert status == 200 and len(answer["predictions"]) == 3000
    status, answer = served.post(b'{"instances": [' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"]}")
    assert status == 400 and "instance 0: got a list of 1, expected an object" in answer["error"]
    assert served.post({"instances": SAMPLES})[0] == 200


def test_unknown_pages_and_models_are_told(models, serve):
    served = serve(models / "one")
    for page, message in (("/v1/models/other", "there is no model 'other' here; 'ctr' is served"), ("/nothing", "there is no such page")):
        with pytest.raises(urllib.error.HTTPError) as error:
            served.get(page)
        assert error.value.code == 404 and message in json.loads(error.value.read())["error"]


def test_a_deadline_is_the_requests(models, serve):
    served = serve(models / "one")
    assert served.post({"instances": SAMPLES}, X_Deadline_Ms="soon")[0] == 400
    assert served.post({"instances": SAMPLES}, X_Deadline_Ms="5000")[0] == 200


def test_connections_beyond_the_limit_are_refused_with_its_name(models, serve):
    served = serve(models / "one", "--max_connections", "1")
    address = ("127.0.0.1", int(served.root.rsplit(":", 1)[1]))
    with socket.create_connection(address, timeout=30) as held:
        held.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200" in held.recv(1000)  # and stays open
        with socket.create_connection(address, timeout=30) as refused:
            refused.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = refused.recv(1000)
            while b"}" not in answer and (more := refused.recv(1000)):  # head and body may come apart
                answer += more
    assert b"503" in answer and b"max_connections" in answer


def test_many_callers_get_their_own_answers_while_versions_change(models, serve, tmp_path):
    """No request fails and each answer is the old version's or the new one's, in full, while versions come and go; a broken one is refused."""
    shutil.copytree(models / "one", tmp_path / "1")
    served = serve(tmp_path, "--reload_seconds", "0.05", "--threads", "2", "--max_wait_ms", "1")
    known = [predictions_of(models / "one"), predictions_of(models / "two")]
    running, seen = True, set()

    def ask(caller):
        while running:
            status, answer = served.post({"instances": SAMPLES})
            assert status == 200, answer
            matches = [i for i, expected in enumerate(known) if np.allclose(answer["predictions"], expected, rtol=1e-5, atol=1e-7)]
            assert len(matches) == 1
            seen.add(matches[0])

    def version():
        return json.loads(served.get("/v1/models/ctr"))

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        callers = [pool.submit(ask, i) for i in range(4)]
        try:
            shutil.copytree(models / "two", tmp_path / "making")
            (tmp_path / "making").rename(tmp_path / "2")
            wait_for(lambda: version()["version"] == "2" and 1 in seen)
            (tmp_path / "3").mkdir()
            (tmp_path / "3" / "__model__").write_bytes(b"broken")
            wait_for(lambda: "refused" in version())
            assert version()["version"] == "2" and "__model__" in version()["refused"]
            shutil.copytree(models / "one", tmp_path / "making")
            (tmp_path / "making").rename(tmp_path / "4")
            wait_for(lambda: version()["version"] == "4")
            assert "refused" not in version()
        finally:
            running = False
        for caller in callers:
            caller.result(60)
    assert seen == {0, 1}
    assert "argosy_serve_failed_reloads_total 1" in served.get("/metrics")


@pytest.mark.parametrize("send", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(models, serve, send):
    served = serve(models / "one")
    assert served.post({"instances": SAMPLES})[0] == 200
    status, errors = served.stop(send)
    assert status == 0, errors
    assert "requests that have begun are answered" in errors


def test_what_cannot_be_served_is_told(models, serve, tmp_path):
    def failure(*words):
        done = subprocess.run([ARGOSY, "serve", *map(str, words)], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stderr

    assert failure(tmp_path / "nothing") == (
        1,
        f"argosy serve: '{tmp_path}/nothing' is no model: there is no such folder or file, and no '{tmp_path}/nothing.pdmodel'\n",
    )
    port = serve(models / "one").root.rsplit(":", 1)[1]
    status, error = failure(models / "one", "--port", port)
    assert status == 1 and f"cannot listen at 127.0.0.1:{port}" in error
    assert failure(models / "one", "--prot", "1")[0] == 2


def test_help_lists_it():
    assert "Serves a saved model over HTTP." in subprocess.run([ARGOSY, "--help"], capture_output=True, text=True, check=True).stdout
    assert "argosy serve models/epoch3.model" in subprocess.run([ARGOSY, "serve", "--help"], capture_output=True, text=True, check=True).stdout
