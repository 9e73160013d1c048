"""Predictions of CTR-DNN with 26 ragged slots, on one thread: by the predictor, over HTTP, by eager PyTorch and by onnxruntime.

    bench/serving.py predictor|torch|onnx|http

Each asks one sample at a time, then 256 at a time, and prints for both a JSON object with samples per second and the microseconds of half (p50) and
of 99 of 100 requests (p99). The model, a table of 1,000,001 x 10 and layers of 400-400-400-2, is made once, in bench/data. `http` asks `argosy serve`
from 8 connections, one sample per request.
"""

import http.client
import json
import pathlib
import subprocess
import sys
import threading
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODEL = ROOT / "bench/data/serving-model"
ROWS, WIDTH, HIDDEN, SLOTS = 1_000_001, 10, 400, 26
SIZES, SECONDS, CONNECTIONS = (1, 256), 3.0, 8


def make_model():
    """Saves the model where it is not there yet."""
    if MODEL.exists():
        return
    import paddle.fluid as fluid

    fluid.default_startup_program().random_seed = 1
    dense = fluid.layers.data(name="dense_input", shape=[13])
    slots = [fluid.layers.data(name="C%d" % i, shape=[1], dtype="int64", lod_level=1) for i in range(1, SLOTS + 1)]
    rows = [fluid.layers.embedding(input=slot, size=[ROWS, WIDTH], is_sparse=True, param_attr="SparseFeatFactors") for slot in slots]
    hidden = fluid.layers.concat([fluid.layers.sequence_pool(row, "sum") for row in rows] + [dense], axis=1)
    for _ in range(3):
        hidden = fluid.layers.fc(input=hidden, size=HIDDEN, act="relu")
    predict = fluid.layers.fc(input=hidden, size=2, act="softmax")
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    fluid.io.save_inference_model(str(MODEL), ["dense_input"] + [slot.name for slot in slots], [predict], exe)


def requests(size, count=16):
    """`count` different batches: dense [size, 13] and for each slot (ids, offsets), with one or two ids per sample."""
    random = np.random.default_rng(size)
    made = []
    for _ in range(count):
        slots = []
        for _ in range(SLOTS):
            offsets = np.concatenate([[0], np.cumsum(random.integers(1, 3, size))])
            slots.append((random.integers(0, ROWS, offsets[-1]), offsets))
        made.append((random.random((size, 13), dtype="float32"), slots))
    return made


def measure(ask, batches, size):
    """Asks in turns for some seconds, after a warm-up; returns the figures."""
    for batch in batches:
        ask(batch)
    times, begun = [], time.perf_counter()
    while time.perf_counter() - begun < SECONDS:
        for batch in batches:
            start = time.perf_counter()
            ask(batch)
            times.append(time.perf_counter() - start)
    return figures(times, len(times) * size / (time.perf_counter() - begun))


def figures(times, rate):
    return {"samples_per_second": rate, "p50_us": float(np.percentile(times, 50)) * 1e6, "p99_us": float(np.percentile(times, 99)) * 1e6}


def by_predictor():
    from argosy import _core

    predictor = _core.Predictor(str(MODEL))

    def prepare(batch):
        return {"dense_input": (batch[0], [])} | {"C%d" % (i + 1): (ids.reshape(-1, 1), [offsets]) for i, (ids, offsets) in enumerate(batch[1])}

    return prepare, predictor.run


def by_torch():
    import torch
    from torch.nn import functional

    from argosy import _core

    torch.set_num_threads(1)
    values = {name: torch.from_numpy(value) for name, value in _core.Predictor(str(MODEL)).parameters().items()}
    table, layers = values["SparseFeatFactors"], [(values["fc_%d.w_0" % i].t().contiguous(), values["fc_%d.b_0" % i]) for i in range(4)]

    @torch.inference_mode()
    def ask(batch):
        pooled = [functional.embedding_bag(ids, table, offsets, mode="sum") for ids, offsets in batch[1]]
        hidden = torch.cat([*pooled, batch[0]], dim=1)
        for weight, bias in layers[:-1]:
            hidden = torch.relu(functional.linear(hidden, weight, bias))
        return functional.softmax(functional.linear(hidden, *layers[-1]), dim=1).numpy()

    def prepare(batch):
        return torch.from_numpy(batch[0]), [(torch.from_numpy(ids), torch.from_numpy(offsets[:-1].copy())) for ids, offsets in batch[1]]

    return prepare, ask


def by_onnx():
    import onnxruntime

    import argosy.serve

    file = MODEL.with_suffix(".onnx")
    if not file.exists():
        argosy.serve.to_onnx(MODEL, file)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])

    def prepare(batch):
        fed = {"dense_input": batch[0]}
        for i, (ids, offsets) in enumerate(batch[1]):
            fed |= {"C%d" % (i + 1): ids.reshape(-1, 1), "C%d.lod" % (i + 1): offsets}
        return fed

    return prepare, lambda fed: session.run(None, fed)


def show(what, size, found):
    print(json.dumps({"what": f"{what}.{size}", **found}), flush=True)


def ask_over_http(address, bodies, times, until):
    connection = http.client.HTTPConnection(*address, timeout=60)
    connection.connect()
    index = 0
    while time.perf_counter() < until:
        start = time.perf_counter()
        connection.request("POST", "/v1/models/ctr:predict", bodies[index % len(bodies)])
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise RuntimeError(f"answered {answer.status}")
        times.append(time.perf_counter() - start)
        index += 1


def over_http():
    bodies = []
    for dense, slots in requests(1):
        sample = {"dense_input": dense[0].tolist()} | {"C%d" % (i + 1): ids.tolist() for i, (ids, _) in enumerate(slots)}
        bodies.append(json.dumps({"instances": [sample]}))
    command = [ROOT / "build/release/bin/argosy", "serve", MODEL, "--name", "ctr", "--port", "0", "--threads", "1"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        host, port = server.stdout.readline().split("/")[2].split(":")
        for seconds in (1.0, SECONDS):
            times, begun = [[] for _ in range(CONNECTIONS)], time.perf_counter()
            asking = [threading.Thread(target=ask_over_http, args=((host, int(port)), bodies, one, begun + seconds)) for one in times]
            for thread in asking:
                thread.start()
            for thread in asking:
                thread.join()
            every = [value for one in times for value in one]
            found = figures(every, len(every) / (time.perf_counter() - begun))
        show("http", CONNECTIONS, found)
    finally:
        server.terminate()
        server.wait(60)


def main(what):
    make_model()
    if what == "http":
        return over_http()
    prepare, ask = {"predictor": by_predictor, "torch": by_torch, "onnx": by_onnx}[what]()
    for size in SIZES:
        show(what, size, measure(ask, [prepare(batch) for batch in requests(size)], size))


if __name__ == "__main__":
    main(*sys.argv[1:])
