"""A small click model, and `argosy serve` as a process, for the tests of predictions."""

import json
import pathlib
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import numpy as np

from paddle import inference

ROOT = pathlib.Path(__file__).resolve().parents[2]
ARGOSY = ROOT / "build" / "release" / "bin" / "argosy"
SAMPLES = [{"x": [0.1, 0.2, 0.3], "ids": [1, 2]}, {"x": [-1, 0, 1], "ids": []}, {"x": [1, 1, 1], "ids": [19]}]


def save(folder, seed, rows=20):
    """Saves a click model with a ragged slot, in a process of its own: a test's own programs stay out of it."""
    script = f"""
import paddle.fluid as fluid
fluid.default_startup_program().random_seed = {seed}
x = fluid.layers.data(name="x", shape=[3])
ids = fluid.layers.data(name="ids", shape=[1], dtype="int64", lod_level=1)
rows = fluid.layers.embedding(input=ids, size=[{rows}, 4], is_sparse=True, param_attr="table")
hidden = fluid.layers.fc(input=fluid.layers.concat([fluid.layers.sequence_pool(rows, "sum"), x], axis=1), size=5, act="relu")
predict = fluid.layers.fc(input=hidden, size=2, act="softmax")
exe = fluid.Executor(fluid.CPUPlace())
exe.run(fluid.default_startup_program())
fluid.io.save_inference_model({str(folder)!r}, ["x", "ids"], [predict], exe)
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


def predictions_of(folder):
    predictor = inference.create_predictor(inference.Config(str(folder)))
    predictor.get_input_handle("x").copy_from_cpu(np.array([sample["x"] for sample in SAMPLES], dtype="float32"))
    ids = [id for sample in SAMPLES for id in sample["ids"]]
    predictor.get_input_handle("ids").copy_from_cpu(np.array(ids, dtype="int64").reshape(-1, 1))
    predictor.get_input_handle("ids").set_lod([[0, *np.cumsum([len(sample["ids"]) for sample in SAMPLES])]])
    predictor.run()
    return predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()


class Served:
    def __init__(self, model, *options):
        self.process = subprocess.Popen(
            [ARGOSY, "serve", model, "--port", "0", "--name", "ctr", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.url = self.process.stdout.readline().strip()
        assert self.url.startswith("http://127.0.0.1:"), self.process.communicate()[1]
        self.root = self.url[: self.url.index("/v1/")]

    def get(self, page):
        return urllib.request.urlopen(self.root + page, timeout=30).read().decode()

    def post(self, body, **headers):
        """(status, answer)"""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.url + ":predict", data, {name.replace("_", "-"): value for name, value in headers.items()})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def stop(self, send=signal.SIGTERM):
        self.process.send_signal(send)
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, errors
