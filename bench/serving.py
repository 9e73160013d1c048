"""Predictions of CTR-DNN with 26 ragged slots, on one thread: by the predictor, over HTTP, by eager PyTorch and by onnxruntime.

    bench/serving.py predictor|torch|onnx|http|grpc

Each asks one sample at a time, then 256 at a time, and prints for both a JSON object with samples per second and the microseconds of half (p50) and
of 99 of 100 requests (p99). `predictor` is paddle.inference as its users call it: arrays into handles, run, an array out of one. The model, a table of
1,000,001 x 10 and layers of 400-400-400-2, is made once, in bench/data. `http` and `grpc` ask `argosy serve` from 8 connections, one sample per
request, by the program predict_load.
"""

import json
import pathlib
import subprocess
import sys
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
    from paddle import inference

    predictor = inference.create_predictor(inference.Config(str(MODEL)))
    inputs = {name: predictor.get_input_handle(name) for name in predictor.get_input_names()}
    output = predictor.get_output_handle(predictor.get_output_names()[0])

    def prepare(batch):
        return batch[0], [("C%d" % (i + 1), ids.reshape(-1, 1), [offsets]) for i, (ids, offsets) in enumerate(batch[1])]

    def ask(batch):
        inputs["dense_input"].copy_from_cpu(batch[0])
        for name, ids, lod in batch[1]:
            inputs[name].copy_from_cpu(ids)
            inputs[name].set_lod(lod)
        predictor.run()
        return output.copy_to_cpu()

    return prepare, ask


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


def served(what):
    """By predict_load, which a Python client would be too slow for. The second line is the measurement, after a warm-up."""
    command = [ROOT / "build/release/bin/argosy", "serve", MODEL, "--name", "ctr", "--port", "0", "--grpc_port", "0", "--threads", "1"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        addresses = dict(http=server.stdout.readline().split("/")[2], grpc=server.stdout.readline().strip().split("/")[2])
        host, port = addresses[what].split(":")
        asked = [ROOT / "build/release/bench/predict_load", what, host, port, str(CONNECTIONS), str(SECONDS)]
        print(subprocess.run(asked, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[-1], flush=True)
    finally:
        server.terminate()
        server.wait(60)


def main(what):
    make_model()
    if what in ("http", "grpc"):
        return served(what)
    prepare, ask = {"predictor": by_predictor, "torch": by_torch, "onnx": by_onnx}[what]()
    for size in SIZES:
        show(what, size, measure(ask, [prepare(batch) for batch in requests(size)], size))


if __name__ == "__main__":
    main(*sys.argv[1:])
