"""argosy publish into a real redis-server, and who predicts from it: as processes, each of which is killed once."""

import re
import signal
import subprocess
import threading
import urllib.request

import numpy as np
import pytest

from followed import TOKEN, kill
from paddle import inference
from ports import free_range
from ps_job import until
from served import Served
from test_serve_rows import IDS, INSTANCES, ServedRows, X, readiness


class Redis:
    def __init__(self, job):
        self.job, self.port = job, free_range(1)
        self.start()

    def start(self):
        self.process = self.job.start("redis-server", "--port", self.port, "--bind", "127.0.0.1", "--save", "")
        until(lambda: subprocess.run(["redis-cli", "-p", str(self.port), "ping"], capture_output=True).stdout == b"PONG\n")

    def kill(self):
        kill(self.process)


class Publishing:
    """`argosy publish` of a job by its followers."""

    def __init__(self, job, rows, redis):
        self.job, self.rows, self.redis, self.metrics = job, rows, redis, free_range(1)
        self.start()

    def start(self, *words, wait=True):
        command = ["argosy", "publish", ",".join(self.rows.endpoints), f"--redis=127.0.0.1:{self.redis.port}", f"--token={TOKEN}", "--every=0.05", *words]
        self.process = self.job.start(*command, ARGOSY_METRICS_PORT=self.metrics)
        self.said = []
        threading.Thread(target=self.read, args=(self.process.stdout, self.said), daemon=True).start()
        if wait:
            self.until_said(r"^version \d+")
        return self.process

    @staticmethod
    def read(stdout, said):
        """All of its output, so that it never waits for who reads it."""
        for line in stdout:
            said.append(line)

    def until_said(self, pattern):
        until(lambda: any(re.search(pattern, line) for line in list(self.said)), lambda: f"{pattern}: {''.join(self.said)[-3000:]}")

    def metric(self, name):
        text = urllib.request.urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=30).read().decode()
        return float(re.search(rf"^{name}{{.*}} (.*)$", text, re.MULTILINE)[1])


def test_predictions_from_redis_are_the_trainers_whichever_process_was_killed(job):
    rows = ServedRows(job)
    redis = Redis(job)
    publishing = Publishing(job, rows, redis)
    url = f"redis://127.0.0.1:{redis.port}/job"
    served = Served(rows.model, "--redis", url, "--rows_wait", "1")
    try:
        assert served.post(INSTANCES)[0] == 200
        rows.training.train_to(20)
        until(lambda: publishing.metric("argosy_publish_delta_total") > 0)
        kill(publishing.process)
        until(lambda: served_lag(served) > 1)  # nobody knows any more what the servers have
        said = publishing.start()
        until(lambda: served_lag(served) < 1)
        assert said.poll() is None
        rows.training.train_to(10)
        redis.kill()
        until(lambda: readiness(served)[0] == 503)
        status, answer = served.post(INSTANCES)
        assert status == 503 and f"Redis at 127.0.0.1:{redis.port}" in answer["error"], answer
        publishing.until_said("publishes nothing for now")
        redis.start()
        publishing.until_said("has lost version .* everything is published anew")
        _, expected = rows.finish(job)
        until(lambda: readiness(served)[0] == 200)
        until(lambda: np.allclose(served.post(INSTANCES)[1]["predictions"], expected, rtol=1e-6))
        assert publishing.metric("argosy_publish_lag_seconds") < 10 and publishing.metric("argosy_publish_failures_total") > 0
        config = inference.Config(str(rows.model))
        config.set_redis(url)
        assert np.array_equal(inference.create_predictor(config).run([X, IDS])[0], expected)  # every bit
        check_the_model_against_redis(job, rows, url)
        second = Publishing.__new__(Publishing)
        second.__dict__.update(publishing.__dict__, metrics=free_range(1))
        second.start("--once")  # somebody else, under the same name
        assert publishing.process.wait(timeout=60) == 1
        rows.training.end()
    finally:
        assert served.stop()[0] == 0


def served_lag(served):
    return float(re.search(r"^argosy_serve_source_lag_seconds{.*} (.*)$", served.get("/metrics"), re.MULTILINE)[1])


def check_the_model_against_redis(job, rows, url):
    """The model that was saved early differs from what is published, and which row and by how much is said; saved again it does not."""
    said = job.end(job.start("argosy", "check-online", rows.model, url, "--count=8"), 1)
    assert re.search(r"'table': \d+ of 40 rows differ, the first is key \d+; most at key \d+, column \d", said), said
    assert "program      ok" in said and "'w':" in said, said


def test_what_cannot_be_published_or_read_is_said(job):
    rows = ServedRows(job)
    redis = Redis(job)
    away = f"127.0.0.1:{free_range(1)}"
    words = ["argosy", "publish", ",".join(rows.endpoints), f"--token={TOKEN}", "--once"]
    assert f"Redis at {away}" in job.end(job.start(*words, f"--redis={away}"), 1)
    assert "--redis" in job.end(job.start(*words), 2)
    url = f"redis://127.0.0.1:{redis.port}/other"
    said = job.end(job.start("argosy", "serve", rows.model, "--port=0", "--redis", url), 1)
    assert "has nothing that was published as 'other'" in said, said
    said = job.end(job.start("argosy", "serve", rows.model, "--port=0", "--redis", "nowhere"), 2)
    assert "expected redis://host:port/NAME" in said, said
    config = inference.Config(str(rows.model))
    for wrong in ("nowhere", "redis://", "redis:///name", "redis://host:1"):
        with pytest.raises(ValueError, match="expected redis://host:port/NAME"):
            config.set_redis(wrong)
    config.set_redis(url)
    with pytest.raises(OSError, match="has nothing that was published as 'other'"):
        inference.create_predictor(config)
    with pytest.raises(ValueError, match="a Config names one place"):
        config.set_parameter_servers(rows.endpoints)
    process = job.start(*words[:-1], f"--redis=127.0.0.1:{redis.port}")
    until(lambda: process.stdout.readline().startswith("version 1"))
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0
    rows.finish(job)
    rows.training.end()
