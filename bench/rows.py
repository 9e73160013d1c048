"""The rows of the benchmark: what is compared with what, and the bound that it must keep. Arithmetic and tables only."""

import dataclasses
import statistics


@dataclasses.dataclass(frozen=True)
class Row:
    """One comparison. `ours` and `peer` name series of measurements, one number per round; without `peer` ours stands alone.

    `measure` says what is held against the bound: the ratio of the medians, their difference, or our median by itself. A row
    without a bound is there to be read.
    """

    name: str
    what: str
    ours: str
    peer: str
    unit: str
    measure: str  # "ratio" | "difference" | "distance" | "value"
    relation: str = ""  # ">=" | "<="; empty without a bound
    bound: float | None = None


ROWS = [
    Row("gemm", "CTR-DNN, float32, 1 thread, against its matrix products alone", "ctr.float32_1_thread", "ctr.gemm_bound", "samples/s", "ratio", ">=", 0.92),
    Row("threads", "CTR-DNN, 2 threads against 1", "ctr.float32_2_threads", "ctr.float32_1_thread", "samples/s", "ratio", ">=", 1.8),
    Row("torch", "CTR-DNN, 1 thread, against torch eager", "ctr.float32_1_thread", "torch", "samples/s", "ratio", ">=", 1.05),
    Row("bfloat16", "CTR-DNN, bfloat16 products against float32", "ctr.bfloat16_1_thread", "ctr.float32_1_thread", "samples/s", "ratio", ">=", 1.5),
    Row(
        "bfloat16-auc",
        "its test AUC after one pass, bfloat16 against float32",
        "ctr.bfloat16_1_thread.auc",
        "ctr.float32_1_thread.auc",
        "AUC",
        "distance",
        "<=",
        0.0005,
    ),
    Row("parse", "MultiSlot parsing, Criteo's slots, floats of 6 decimals", "parse.BM_MultiSlotShortFloats", "", "MB/s per core", "value", ">=", 300),
    Row("parse-long", "MultiSlot parsing, floats of up to 17 digits", "parse.BM_MultiSlotLongFloats", "", "MB/s per core", "value", ">=", 300),
    Row("parse-keys", "MultiSlot parsing, ragged slots of 64-bit keys", "parse.BM_MultiSlotKeys", "", "MB/s per core", "value", ">=", 300),
    Row(
        "parquet",
        "Criteo's 40 columns from Parquet (zstd) into batches, reading and decoding added up",
        "parquet.BM_ParquetCriteo/process_time",
        "",
        "M rows/s per core",
        "value",
        ">=",
        1.0,
    ),
    Row("paddle", "load_into_memory, 1 thread, against PaddlePaddle 2.6.2's", "load", "paddle", "MB/s", "ratio", ">=", 3.0),
    Row("overhead", "an operator of the executor against the call by hand", "overhead.by_executor", "overhead.by_hand", "ns", "difference", "<=", 1000),
    Row("wire", "1 MiB slices to a server that drops them, TCP, against iperf3", "wire.BM_Wire/tcp", "iperf3", "MB/s", "ratio", ">=", 0.5),
    Row("wire-push", "a push of 1.25 MB and its answer, TCP", "wire.BM_Push/tcp", "", "µs", "value", "<=", 700),
    Row("wire-stream", "the same beside gRPC's unary calls", "wire.BM_StreamPush/1", "wire.BM_UnaryPush/1", "µs", "ratio", "<=", 0.87),
    Row("wire-stream-4", "the same, 4 calls at a time", "wire.BM_StreamPush/4", "wire.BM_UnaryPush/4", "µs", "ratio", "<=", 0.87),
    Row(
        "ps-1x1",
        "CTR-DNN through 1 server and 1 worker, async, native reader, against PaddlePaddle 2.6.2's",
        "ps.1x1.samples_per_second",
        "paddle_ps.1x1",
        "samples/s",
        "ratio",
        ">=",
        3.1,
    ),
    Row("ps-2x2", "the same, 2 servers and 2 workers", "ps.2x2.samples_per_second", "paddle_ps.2x2", "samples/s", "ratio", ">=", 2.9),
    Row(
        "ps-1x1-bfloat16",
        "ps-1x1 with products in bfloat16, against PaddlePaddle's float32",
        "ps.1x1-bfloat16.samples_per_second",
        "paddle_ps.1x1",
        "samples/s",
        "ratio",
        ">=",
        5,
    ),
    Row("ps-2x2-bfloat16", "the same of ps-2x2", "ps.2x2-bfloat16.samples_per_second", "paddle_ps.2x2", "samples/s", "ratio", ">=", 4),
    Row(
        "ps-pipe",
        "1 server and 1 worker, both systems reading MultiSlot text by `cat`",
        "ps.1x1-pipe.samples_per_second",
        "paddle_ps.1x1",
        "samples/s",
        "ratio",
    ),
    Row(
        "ps-local",
        "samples a processor second, those of worker, server and reading added up, against 1 thread without servers",
        "ps.1x1.samples_per_cpu_second",
        "ctr.float32_1_thread.per_cpu_second",
        "samples/s",
        "ratio",
        ">=",
        0.88,
    ),
    Row(
        "wal",
        "1 server and 1 worker, durability wal against none",
        "ps.1x1-wal.samples_per_second",
        "ps.1x1.samples_per_second",
        "samples/s",
        "ratio",
        ">=",
        0.85,
    ),
    Row(
        "wire-bfloat16-up",
        "ps-1x1 with wire_format=bfloat16: what a worker sends",
        "wire1x1-bfloat16.bytes_to_servers",
        "wire1x1-float32.bytes_to_servers",
        "bytes per sample",
        "value",
        "<=",
        1100,
    ),
    Row(
        "wire-bfloat16-down",
        "the same: what it receives",
        "wire1x1-bfloat16.bytes_to_workers",
        "wire1x1-float32.bytes_to_workers",
        "bytes per sample",
        "value",
        "<=",
        1100,
    ),
    Row(
        "wire-int8-up",
        "ps-1x1 with wire_format=int8: what a worker sends",
        "wire1x1-int8.bytes_to_servers",
        "wire1x1-float32.bytes_to_servers",
        "bytes per sample",
        "value",
        "<=",
        600,
    ),
    Row(
        "wire-int8-down",
        "the same: what it receives",
        "wire1x1-int8.bytes_to_workers",
        "wire1x1-float32.bytes_to_workers",
        "bytes per sample",
        "value",
        "<=",
        600,
    ),
    Row(
        "link-bfloat16",
        "ps-1x1 over 100 Mbit/s, wire_format=bfloat16 against float32",
        "link-bfloat16.samples_per_second",
        "link-float32.samples_per_second",
        "samples/s",
        "ratio",
        ">=",
        1.8,
    ),
    Row("link-int8", "the same, int8", "link-int8.samples_per_second", "link-float32.samples_per_second", "samples/s", "ratio", ">=", 3.0),
    Row("store", "pushes to a table of a million rows, Adagrad, width 10", "store", "", "M rows/s per core", "value", ">=", 12),
    Row(
        "together",
        "a pull and a push of 26,000 keys x 10 floats, against wire alone and store alone added up",
        "together.both",
        "together.wire_and_store",
        "µs",
        "ratio",
        "<=",
        1.5,
    ),
    Row("replay", "a server recovers from its log, Adagrad, width 10", "replay", "", "M rows/s", "value", ">=", 5),
    Row(
        "index",
        "finding 26,000 of a million rows: SlotIndex against abseil's flat_hash_map",
        "index.BM_SlotIndex",
        "index.BM_FlatHashMap",
        "M keys/s",
        "ratio",
        ">=",
        1.0,
    ),
    Row(
        "step-index",
        "numbering the keys of a step: KeyIndex against abseil's flat_hash_map",
        "index.BM_KeyIndex",
        "index.BM_FlatHashMapOfAStep",
        "M keys/s",
        "ratio",
        ">=",
        1.0,
    ),
    Row(
        "float",
        "reading floats of 6 decimals: data/number.h against std::from_chars",
        "number.BM_ReadFloat",
        "number.BM_FromCharsFloat",
        "M numbers/s",
        "ratio",
        ">=",
        1.0,
    ),
    Row("int", "reading ids: data/number.h against std::from_chars", "number.BM_ReadInt64", "number.BM_FromCharsInt64", "M numbers/s", "ratio", ">=", 1.0),
    Row("pool", "memory of a step: the pool against malloc", "pool.BM_StepFromPool", "pool.BM_StepFromMalloc", "µs", "ratio", "<=", 1.0),
    Row("pool-jemalloc", "the same against jemalloc", "pool.BM_StepFromPool", "jemalloc.BM_StepFromMalloc", "µs", "ratio", "<=", 1.0),
    Row("pool-mimalloc", "the same against mimalloc", "pool.BM_StepFromPool", "mimalloc.BM_StepFromMalloc", "µs", "ratio", "<=", 1.0),
    Row("follower-p50", "from the answer to a push of 26,000 rows until a follower shows it, the median", "fresh.p50", "", "ms", "value"),
    Row("follower-p99", "the same, 99 of 100", "fresh.p99", "", "ms", "value", "<=", 1000),
    Row(
        "ps-1x1-followed",
        "CTR-DNN through 1 server with a log and 1 worker, with a follower on the same machine against without",
        "ps.1x1-followed.samples_per_second",
        "ps.1x1-wal.samples_per_second",
        "samples/s",
        "ratio",
        ">=",
        0.95,
    ),
    Row(
        "ps-1x1-replicas",
        "the same, with replicas=1 against 0: a second process of the server, on the same machine, has every change before it is acknowledged",
        "ps.1x1-replicas.samples_per_second",
        "ps.1x1-wal.samples_per_second",
        "samples/s",
        "ratio",
    ),
    Row(
        "ps-1x1-served",
        "the same, with a follower and a model server that reads from it",
        "ps.1x1-served.samples_per_second",
        "ps.1x1-wal.samples_per_second",
        "samples/s",
        "ratio",
        ">=",
        0.95,
    ),
    Row(
        "served-p50",
        "from the answer to a push until a prediction over HTTP shows it, row and dense parameter, the median",
        "served_fresh.p50",
        "",
        "ms",
        "value",
    ),
    Row("served-p99", "the same, 99 of 100", "served_fresh.p99", "", "ms", "value", "<=", 1000),
    Row("served-back", "from `argosy versions --go_back` until a prediction shows the kept version", "served_fresh.back", "", "ms", "value", "<=", 1000),
    Row("flood", "an honest caller's 99th percentile during a flood without the token, against before it", "flood.no_token", "", "times", "value", "<=", 2.0),
    Row("flood-token", "the same by one that has the token and makes correct calls, or pings", "flood.token", "", "times", "value", "<=", 2.0),
    Row("snapshot-pause", "how long pushes wait for the beginning of a snapshot of 5 GB", "pause", "", "ms", "value", "<=", 50),
    Row(
        "rank-loss",
        "the longest pause of a step when one of 4 processes by Gloo is killed, on_rank_loss=survive, 20 ms steps, the median of 5 kills",
        "rank_loss.survive",
        "",
        "s",
        "value",
        "<=",
        2,
    ),
    Row("rank-loss-spare", "the same with spare_ranks=1", "rank_loss.spare", "", "s", "value", "<=", 2),
    Row(
        "ddp-resnet18",
        "ResNet-18, batch 32 of 32 x 32, 2 processes by Gloo, against PyTorch's DistributedDataParallel",
        "resnet18.ours",
        "resnet18.ddp",
        "steps/s",
        "ratio",
        ">=",
        0.98,
    ),
    Row("ddp-mlp", "100 small layers, 2 processes, C++ loop, against the same", "mlp.ours", "mlp.ddp", "steps/s", "ratio", ">=", 1.2),
    Row("ddp-alone", "CIFAR CNN in one process, data parallel against the plain loop", "alone.parallel", "alone.plain", "steps/s", "ratio", ">=", 0.98),
    Row(
        "serve-torch",
        "predictions of CTR-DNN with 26 ragged slots, 256 samples at a time, 1 thread, against torch eager",
        "serving.predictor.256",
        "serving.torch.256",
        "samples/s",
        "ratio",
        ">=",
        1.0,
    ),
    Row("serve-onnx", "the same against onnxruntime", "serving.predictor.256", "serving.onnx.256", "samples/s", "ratio", ">=", 1.0),
    Row("serve-one-torch", "one sample at a time, 99 of 100, against torch eager", "serving.predictor.1.p99", "serving.torch.1.p99", "ms", "ratio", "<=", 1.0),
    Row("serve-one-onnx", "the same against onnxruntime", "serving.predictor.1.p99", "serving.onnx.1.p99", "ms", "ratio", "<=", 1.0),
    Row("serve-http", "`argosy serve`, one sample per request, 8 connections, client and server on one machine", "serving.http.8", "", "requests/s", "value"),
    Row("serve-http-p50", "the same, half of the requests", "serving.http.8.p50", "", "ms", "value"),
    Row("serve-http-p99", "the same, 99 of 100", "serving.http.8.p99", "", "ms", "value"),
    Row("serve-grpc", "one sample per request, 8 connections, over gRPC", "serving.grpc.8", "", "requests/s", "value"),
    Row("serve-grpc-p99", "the same, 99 of 100", "serving.grpc.8.p99", "", "ms", "value"),
    Row(
        "word2vec",
        "word2vec, skip-gram, words per processor second after subsampling, 1 thread, against gensim",
        "word2vec.local",
        "gensim.1",
        "words/s",
        "ratio",
        ">=",
        1.5,
    ),
    Row("word2vec-2", "the same, 2 threads of both", "word2vec.local-2", "gensim.2", "words/s", "ratio", ">=", 1.5),
    Row(
        "word2vec-geo",
        "word2vec through 1 server and 1 worker, geo, processor time of all, against gensim",
        "word2vec.1x1",
        "gensim.1",
        "words/s",
        "ratio",
        ">=",
        1.2,
    ),
    Row(
        "word2vec-geo-2x2",
        "word2vec geo, 2 servers and 2 workers against 1 and 1, words per processor second of all",
        "word2vec.2x2",
        "word2vec.1x1",
        "words/s",
        "ratio",
        ">=",
        0.9,
    ),
    Row(
        "word2vec-quality",
        "analogies right in 100 after 3 passes, 1 thread, against gensim",
        "word2vec.local.analogies",
        "gensim.1.analogies",
        "points",
        "difference",
        ">=",
        -1,
    ),
    Row(
        "old-dense-adam",
        "a step of Adam with dense gradients, an embedding of 1,000,000 x 128, against PaddlePaddle 1.8.5",
        "old.dense_adam.step_ms",
        "fluid.dense_adam.step_ms",
        "ms",
        "ratio",
        "<=",
        1.0,
    ),
    Row(
        "old-gru-first", "the first 20 steps of a model with dynamic_gru, against the same", "old.gru.first_ms", "fluid.gru.first_ms", "ms", "ratio", "<=", 1.0
    ),
    Row("old-lstm", "a step of a model with dynamic_lstm, against the same", "old.lstm.step_ms", "fluid.lstm.step_ms", "ms", "ratio", "<=", 1.0),
    Row(
        "old-servers",
        "a step of word2vec by the transpiler, async, 1 server and 1 worker, against the same",
        "old.servers.step_ms",
        "fluid.servers.step_ms",
        "ms",
        "ratio",
        "<=",
        1.0,
    ),
    Row("start-cpp", "from fleetrun of 2 servers and 2 workers to the first step of both workers, CTR-DNN, C++", "first_step.cpp", "", "s", "value", "<=", 2),
    Row("start-python", "the same, Python", "first_step.python", "", "s", "value", "<=", 4),
    Row("idle-server", "memory of an argosy-server that nobody talks to, shared libraries counted in", "idle_server.resident", "", "MB", "value", "<=", 30),
    Row("memory", "peak memory of CTR-DNN, 1 thread, against what it must hold", "memory.1.above_idle", "memory.1.needed", "MB", "ratio", "<=", 1.3),
    Row("memory-2", "the same, 2 threads", "memory.2.above_idle", "memory.2.needed", "MB", "ratio", "<=", 1.3),
]

MEASURES = {
    "ratio": lambda ours, peer: ours / peer,
    "difference": lambda ours, peer: ours - peer,
    "distance": lambda ours, peer: abs(ours - peer),
    "value": lambda ours, peer: ours,
}


@dataclasses.dataclass(frozen=True)
class Outcome:
    row: Row
    ours: float | None
    peer: float | None
    result: float | None  # what is held against the bound; None where it could not be measured
    met: bool
    note: str = ""


def judge(row, series, absent):
    """The outcome of a row. `series` has the measurements by name; `absent` says why those that begin with a name are not there."""
    ours, peer = (statistics.median(series[name]) if series.get(name) else None for name in (row.ours, row.peer))
    missing = [name for name in (row.ours, row.peer) if name and not series.get(name)]
    if missing:
        why = next((reason for name, reason in absent.items() if missing[0].startswith(name)), f"{missing[0]} was not measured")
        return Outcome(row, ours, peer, None, False, why)
    return outcome(row, ours, peer)


def outcome(row, ours, peer):
    """Of the medians."""
    result = MEASURES[row.measure](ours, peer)
    return Outcome(row, ours, peer, result, row.bound is not None and (result >= row.bound if row.relation == ">=" else result <= row.bound))


def checked(row):
    """Whether `make bench-check` compares this row: a ratio, which another machine should find too."""
    return row.measure == "ratio"


def fell(row, committed, now):
    """By how much of the committed ratio a newer one is worse; negative where it is better. Without a bound more is better: such ratios are of rates."""
    return 1 - now / committed if row.relation != "<=" else now / committed - 1


ALLOWED = 0.10  # that a ratio may fall below the committed one


def check_table(pairs):
    """`pairs`: what is committed of a row and what was measured now. Returns the table and the names of the rows that fell by more than is allowed."""
    lines, fallen = ["| row | committed | now | worse by | |", "|---|---:|---:|---:|---|"], []
    for committed, now in pairs:
        row = committed.row
        if now.result is None:
            lines.append(f"| {row.name} | {number(committed.result)} | – | – | not checked: {now.note} |")
            continue
        by = fell(row, committed.result, now.result)
        if by > ALLOWED:
            fallen.append(row.name)
        lines.append(f"| {row.name} | {number(committed.result)} | {number(now.result)} | {100 * by:+.1f} % | {'**fell**' if by > ALLOWED else ''} |")
    return "\n".join(lines) + "\n", fallen


def number(value, unit=""):
    """About four digits that count, thousands in groups; an AUC with five decimals."""
    if value is None:
        return "–"
    digits = 5 if unit == "AUC" else 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 2 if abs(value) >= 10 else 3
    return f"{value:,.{digits}f}"


def verdict(outcome):
    if outcome.result is None or outcome.row.bound is None:
        return outcome.note
    return "met" if outcome.met else "**not met**"


def table(outcomes, runs=None):
    """`runs`: the run that each is of, as a last column."""
    lines = ["| row | what | ours | peer | unit | result | bound | |", "|---|---|---:|---:|---|---:|---:|---|"]
    if runs is not None:
        lines = [lines[0] + " run |", lines[1] + "---|"]
    for i, outcome in enumerate(outcomes):
        row = outcome.row
        ours, peer, result = (number(value, row.unit) for value in (outcome.ours, outcome.peer, outcome.result))
        bound = row.measure if row.bound is None else f"{row.measure} {'≥' if row.relation == '>=' else '≤'} {row.bound:g}"
        cells = [row.name, row.what, ours, peer, row.unit, result, bound, verdict(outcome), *([] if runs is None else [runs[i]])]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def summary(outcomes):
    bounded = [outcome for outcome in outcomes if outcome.row.bound is not None]
    return f"{sum(outcome.met for outcome in bounded)} of {len(bounded)} bounds met"


JOB_COLUMNS = {
    "servers": "servers",
    "workers": "workers",
    "samples_per_second": "samples/s",
    "worker_us": "µs per sample, workers",
    "server_us": "µs per sample, servers",
    "bytes_to_servers": "bytes per sample to servers",
    "bytes_to_workers": "bytes per sample to workers",
}


def jobs_as_json(series):
    """What was measured of jobs of several sizes, a job after another: the medians of the series `processes.SIZE.COLUMN`."""
    sizes = sorted({int(name.split(".")[1]) for name in series if name.startswith("processes.")})
    return [{column: statistics.median(series[f"processes.{size}.{column}"]) for column in JOB_COLUMNS} for size in sizes]


def jobs_table(jobs):
    lines = [f"| {' | '.join(JOB_COLUMNS.values())} |", "|" + "---:|" * len(JOB_COLUMNS)]
    for job in jobs:
        cells = [f"{job[column]:.0f}" if column in ("servers", "workers") else number(job[column]) for column in JOB_COLUMNS]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def as_json(outcomes, series):
    """The table for machines, with every measurement behind it."""
    return {
        "rows": [
            {
                "row": o.row.name,
                "what": o.row.what,
                "unit": o.row.unit,
                "ours": o.ours,
                "peer": o.peer,
                "measure": o.row.measure,
                "result": o.result,
                "relation": o.row.relation,
                "bound": o.row.bound,
                "met": o.met,
                "note": o.note,
            }
            for o in outcomes
        ],
        "series": series,
    }
