"""Predictions from the parameters of a running job, taken from followers or servers: those of the trainer, whichever process is killed."""

import json
import signal
import time
import urllib.error

import numpy as np
import pytest

from followed import TOKEN, TRAIN, Followed, kill
from paddle import inference
from ps_job import until
from served import Served

# Saves a model once, early; at the end the trainer itself predicts.
SCRIPT = TRAIN.replace("fleet.distributed_optimizer", "test_program = fluid.default_main_program().clone(for_test=True)\nfleet.distributed_optimizer")
SCRIPT = SCRIPT.replace("    os.pwrite(", "    if step == 3: fluid.io.save_inference_model('model', ['x', 'ids'], [fc], exe)\n    os.pwrite(")
SCRIPT = SCRIPT.replace(
    "open('trained', 'w')",
    """random = np.random.RandomState(1)
feed = {'x': random.randn(30, 5).astype('float32'), 'ids': np.arange(30).reshape(30, 1) * 2}
np.save('expected.npy', exe.run(test_program, feed=feed, fetch_list=[fc])[0])
open('trained', 'w')""",
)
RANDOM = np.random.RandomState(1)
X, IDS = RANDOM.randn(30, 5).astype("float32"), (np.arange(30) * 2).reshape(30, 1)  # 20 ids that the job has not declared, which it never trains
INSTANCES = {"instances": [{"x": x.tolist(), "ids": ids.tolist()} for x, ids in zip(X, IDS)]}


class ServedRows:
    """A job with a model, two followers, and those who predict from them."""

    def __init__(self, job, mode="sync"):
        self.training = Followed(job, mode, script=SCRIPT)
        self.model = job.folder / "model"
        self.training.train_to(5)
        self.followers = [self.training.follow(server) for server in self.training.servers]
        self.endpoints = [follower.endpoint for follower in self.followers]

    def serve(self, *options):
        return Served(self.model, "--rows", ",".join(self.endpoints), "--token", TOKEN, *options)

    def predictor(self, endpoints):
        config = inference.Config(str(self.model))
        config.set_parameter_servers(endpoints, token=TOKEN)
        return inference.create_predictor(config)

    def kill_follower(self, i):
        kill(self.followers[i])

    def start_follower(self, i):
        port = int(self.endpoints[i].rsplit(":", 1)[1])
        self.followers[i] = self.training.follow(self.training.servers[i], port)

    def finish(self, job):
        """What the trainer predicts at the end, when the followers have it too."""
        self.training.finish_training()
        expected = self.training.versions(self.training.servers)
        until(lambda: self.training.versions(self.endpoints) == expected, lambda: self.training.ask(self.endpoints))
        return expected, np.load(job.folder / "expected.npy")


def readiness(served):
    try:
        return 200, served.get("/readyz")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_predictions_are_the_trainers_whichever_process_was_killed(job, mode):
    rows = ServedRows(job, mode)
    (rows.model / "table").unlink()  # a large table need not be where the model is
    served = rows.serve()
    try:
        live = rows.predictor(rows.endpoints)
        before = live.run([X, IDS])[0]
        job.signal(rows.training.launcher, "server 0", signal.SIGKILL)
        rows.training.train_to(20)
        rows.kill_follower(1)
        rows.start_follower(1)
        rows.training.train_to(20)
        versions, expected = rows.finish(job)
        assert not np.array_equal(before, expected)
        until(lambda: json.loads(served.get("/readyz") == "ok\n" and served.get("/v1/models/ctr"))["parameters_from"][0]["version"] == versions[0])
        page = json.loads(served.get("/v1/models/ctr"))
        assert [one["version"] for one in page["parameters_from"]] == versions, page
        assert f"by a follower of {rows.training.servers[0]}" in page["parameters_from"][0]["text"], page
        until(lambda: np.array_equal(live.run([X, IDS])[0], expected))  # every bit
        until(lambda: np.array_equal(rows.predictor(rows.training.servers).run([X, IDS])[0], expected))  # from servers
        status, answer = served.post(INSTANCES)
        assert status == 200, answer
        np.testing.assert_allclose(answer["predictions"], expected, rtol=1e-6)
        for line in ("argosy_serve_ready 1", f'argosy_serve_source_version{{address="{rows.endpoints[1]}"}} {versions[1]}'):
            assert line in served.get("/metrics")
        # The run ends, its servers with it; the last version stays, and is served.
        rows.training.end()
        assert np.array_equal(live.run([X, IDS])[0], expected)
        assert served.post(INSTANCES)[0] == 200
    finally:
        assert served.stop()[0] == 0


def test_without_its_follower_a_model_server_is_not_ready_and_says_why(job):
    rows = ServedRows(job)
    served = rows.serve("--rows_wait", "1", "--max_parameters_bytes", "479")
    try:
        assert served.post(INSTANCES)[0] == 200
        with pytest.raises(urllib.error.HTTPError) as refused:  # 40 rows of 3
            served.get("/v1/models/ctr/parameters")
        said = refused.value.read().decode()
        assert refused.value.code == 429 and "max_parameters_bytes" in said and "480 bytes, and 479" in said and "argosy rows" in said, said
        rows.kill_follower(0)
        status, answer = served.post(INSTANCES)
        assert status == 503 and rows.endpoints[0] in answer["error"], answer
        until(lambda: readiness(served)[0] == 503)
        assert rows.endpoints[0] in readiness(served)[1]
        page = json.loads(served.get("/v1/models/ctr"))
        assert page["ready"] is False and page["model_version_status"][0]["state"] != "AVAILABLE", page
        assert "argosy_serve_ready 0" in served.get("/metrics") and served.get("/healthz") == "ok\n"
        rows.start_follower(0)
        until(lambda: readiness(served) == (200, "ok\n"))
        assert served.post(INSTANCES)[0] == 200
        # One that is there and does not answer is as one that is not.
        rows.followers[1].send_signal(signal.SIGSTOP)
        status, answer = served.post(INSTANCES)
        assert status in (503, 504) and rows.endpoints[1] in answer["error"], answer
        rows.followers[1].send_signal(signal.SIGCONT)
        until(lambda: readiness(served) == (200, "ok\n"))
        rows.finish(job)
        rows.training.end()
    finally:
        assert served.stop()[0] == 0


def test_what_cannot_be_served_is_refused_at_the_start(job):
    rows = ServedRows(job)

    def refusal(*words, status=1):
        return job.end(job.start("argosy", "serve", rows.model, "--port=0", *words), status)

    both = ",".join(rows.endpoints)
    assert "token" in refusal("--rows", both, "--token", "guessed")
    assert "none of the 1 endpoints has the rows of server 1" in refusal("--rows", rows.endpoints[0], "--token", TOKEN)
    assert "--rows" in refusal("--token", TOKEN, status=2)
    with pytest.raises(ValueError, match="expected host:port"):
        inference.Config(str(rows.model)).set_parameter_servers("nowhere")
    rows.finish(job)
    rows.training.end()


class Versions:
    def __init__(self, job, rows):
        self.job, self.rows = job, rows

    def __call__(self, *words, status=0):
        return self.job.end(self.job.start("argosy", "versions", ",".join(self.rows.endpoints), f"--token={TOKEN}", *words), status)


def test_what_is_served_goes_back_to_a_kept_version_and_on_again(job):
    rows = ServedRows(job)
    versions = Versions(job, rows)
    served = rows.serve()
    try:
        versions("--keep", "good")
        versions("--go_back", "good")
        page = until(lambda: "'good'" in served.get("/v1/models/ctr") and json.loads(served.get("/v1/models/ctr")))
        kept = [one["version"] for one in page["parameters_from"]]
        assert all("answers from its version 'good'" in one["text"] for one in page["parameters_from"]), page
        good = served.post(INSTANCES)
        rows.training.train_to(20)
        assert served.post(INSTANCES) == good  # the job goes on, and nobody sees it
        versions("--newest")
        rows.training.finish_training()
        newest = rows.training.versions(rows.training.servers)
        expected = np.load(job.folder / "expected.npy")
        until(lambda: np.allclose(served.post(INSTANCES)[1]["predictions"], expected, rtol=1e-6))
        assert served.post(INSTANCES) != good
        # The bound is 1 s; a busy machine of tests gets more.
        begun = time.monotonic()
        said = versions("--go_back", "good")
        until(lambda: served.post(INSTANCES) == good)
        seconds = time.monotonic() - begun
        print(f"rolled back in {seconds:.3f} s")
        assert seconds < 5
        assert f"newest version {newest[0]}" in said and f"'good': version {kept[0]}" in said, said
        assert "reads are answered from it" in said, said
        assert "answers from its version 'good'" in rows.training.ask(rows.endpoints)
        assert "no version 'bad' is kept here; there are 'good'" in versions("--go_back", "bad", status=1)
        assert "reads are answered from version 'good'" in versions("--drop", "good", status=1)
        versions("--keep", "another", "--newest", status=2)
        # A follower that is started again has its newest version only, and the page says which is which.
        rows.kill_follower(1)
        rows.start_follower(1)
        until(lambda: readiness(served)[0] == 200)

        def answer_from_good():
            return ["'good'" in one["text"] for one in json.loads(served.get("/v1/models/ctr"))["parameters_from"]]

        until(lambda: answer_from_good() == [True, False], answer_from_good)
        rows.training.end()
    finally:
        assert served.stop()[0] == 0
