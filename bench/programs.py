"""The programs that measure, and how to read what they print. Each prints its measure more than once; the last counts, the
ones before it warm the process up."""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/release"
PADDLE = ROOT / "build/parity/paddle-2.6.2/bin/python"
PADDLE_OF_OLD = ROOT / "build/parity/paddle-1.8.5/bin/python"
GENSIM = ROOT / "build/peers/gensim/bin/python"
SECONDS = 300  # that one process may take
WORD_PASSES = 3  # of word2vec over its corpus
WARM = 2  # how often a process measures
SLOW = 3  # rounds of what takes long
WIRES = ("float32", "bfloat16", "int8")  # formats of what travels between workers and servers
LINK_MBIT = 100
PEERS = ROOT / "bench/peers"  # the same work by other systems


def json_lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def read_ctr(text):
    """Speed of the last pass; quality after the first, for a second one learns the lines by heart and the test AUC falls."""
    series = {}
    for line in json_lines(text):
        series["ctr." + line["what"]] = line["samples_per_second"]
        series["ctr." + line["what"] + ".per_cpu_second"] = line["samples_per_cpu_second"]
        series.setdefault("ctr." + line["what"] + ".auc", line["auc"])
    return series


def read_rate(name):
    """Samples per second of the last pass."""
    return lambda text: {name: json_lines(text)[-1]["samples_per_second"]}


def read_google_benchmark(text):
    return {"parse." + run["name"]: run["bytes_per_second"] / 1e6 for run in json.loads(text)["benchmarks"]}


def read_wire(text):
    """MB/s of what counts bytes, microseconds per call of what does not."""
    return {
        "wire." + run["name"].removesuffix("/real_time").removesuffix("/process_time"): run["bytes_per_second"] / 1e6
        if "bytes_per_second" in run
        else run["real_time"]
        for run in json.loads(text)["benchmarks"]
    }


def read_serving(text):
    """Samples per second and milliseconds of requests, by the number of samples in one or of connections."""
    series = {}
    for line in json_lines(text):
        series[f"serving.{line['what']}"] = line["samples_per_second"]
        series |= {f"serving.{line['what']}.{part}": line[part + "_us"] / 1000 for part in ("p50", "p99")}
    return series


def read_iperf(text):
    return {"iperf3": json_lines(text)[-1]["mb_per_second"]}


def read_load(name):
    return lambda text: {name: json_lines(text)[-1]["mb_per_second"], name + ".samples": json_lines(text)[-1]["samples"]}


def read_job(name):
    """The last pass of bench/ps_job.py."""
    return lambda text: {f"{name}.{what}": value for what, value in json_lines(text)[-1].items()}


def read_steps(name):
    """Steps per second."""
    return lambda text: {name: 1000 / json_lines(text)[-1]["ms"]}


def read_alone(text):
    read = json_lines(text)[-1]
    return {"alone.parallel": 1000 / read["ms"], "alone.plain": 1000 / read["plain_ms"]}


def read_store(text):
    return {"store": json.loads(text)["benchmarks"][-1]["items_per_second"] / 1e6}


def read_replay(text):
    return {"replay": json.loads(text)["benchmarks"][-1]["items_per_second"] / 1e6}


def read_items(name):
    """Millions of items per second of each benchmark."""
    return lambda text: {f"{name}.{run['name']}": run["items_per_second"] / 1e6 for run in json.loads(text)["benchmarks"]}


def read_times(name):
    """How long a round of each benchmark took."""
    return lambda text: {f"{name}.{run['name']}": run["real_time"] for run in json.loads(text)["benchmarks"]}


def read_pause(text):
    return {"pause": json.loads(text)["benchmarks"][-1]["pause_ms"]}


def read_flood(text):
    """How many times as long the 99th percentile of an honest caller's calls is during a flood: the worst of those without the token, and with it."""
    runs = json.loads(text)["benchmarks"]
    times = {who: [run["p99_during"] / run["p99_before"] for run in runs if f"/{who}/" in run["name"] + "/"] for who in ("no_token", "token")}
    return {f"flood.{who}": max(ratios) for who, ratios in times.items()}


def read_fresh(text):
    """Milliseconds from the answer to a push until a follower shows it."""
    return {f"fresh.{part}": json.loads(text)["benchmarks"][-1][part + "_ms"] for part in ("p50", "p99")}


def read_served_fresh(text):
    """Milliseconds from the answer to a push until a prediction shows it, and of the way back to a kept version."""
    return {f"served_fresh.{part}": json_lines(text)[-1][part + "_ms"] for part in ("p50", "p99", "back")}


def read_rank_loss(text):
    """Seconds, of median kills."""
    return {f"rank_loss.{name}": seconds for name, seconds in json_lines(text)[-1].items()}


def read_old_model(name):
    return lambda text: {f"{name}.{part}": json_lines(text)[-1][part] for part in ("first_ms", "step_ms")}


def read_first_step(name):
    """Seconds."""
    return lambda text: {name: json_lines(text)[-1]["seconds"]}


def read_idle_server(text):
    return {f"idle_server.{part}": json_lines(text)[-1][part + "_mb"] for part in ("resident", "private")}


def read_together(text):
    microseconds = {run["name"].partition("/")[0]: run["real_time"] for run in json.loads(text)["benchmarks"]}
    return {"together.both": microseconds["together"], "together.wire_and_store": microseconds["wire"] + microseconds["store"]}


def read_overhead(text):
    last = json_lines(text)[-1]
    return {"overhead.by_executor": last["by_executor_ns"], "overhead.by_hand": last["by_hand_ns"]}


def read_memory(text):
    last = json_lines(text)[-1]
    return {f"memory.{last['threads']}.{what}": last[what + "_mb"] for what in ("above_idle", "needed")}


@dataclasses.dataclass(frozen=True)
class Program:
    """One process per round, in `rounds` rounds at most. Its series are those whose names begin with `gives`."""

    gives: str
    command: list
    read: Callable[[str], dict]
    rounds: int = 1000

    def measure(self):
        """Runs it once; a process that fails ends the benchmark with what it said."""
        command = [str(part) for part in self.command]
        environment = dict(os.environ, OMP_NUM_THREADS="1", GLOG_minloglevel="2")
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, timeout=SECONDS, capture_output=True, text=True)
        except subprocess.TimeoutExpired:
            sys.exit(f"bench: {' '.join(command)} did not end in {SECONDS} s")
        if done.returncode != 0:
            sys.exit(f"bench: {' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
        return self.read(done.stdout)


def google_benchmark(program, names, seconds=0.5):
    return [BUILD / program, f"--benchmark_filter={names}", "--benchmark_format=json", f"--benchmark_min_time={seconds}"]


def job(name, shape, files, *options, rounds):
    return Program(name, [sys.executable, ROOT / "bench/ps_job.py", shape, files, "--passes", WARM, *options], read_job(name), rounds)


def paddle_job(name, shape, data):
    """The peer's own launcher. Its workers stream their files by `cat`, as ours do."""
    return Program(name, [sys.executable, PEERS / "paddle_job.py", PADDLE, shape, data.multislot_parts / "train/part-*", WARM], read_rate(name), SLOW)


def jobs(data):
    """Whole jobs of servers and workers, and PaddlePaddle's."""
    train, multislot = data.criteo / "train/part-*", data.multislot_parts / "train/part-*"
    return [
        job("ps.1x1", "1x1", train, rounds=SLOW),
        job("ps.1x1-wal", "1x1", train, "--durability", "wal", rounds=SLOW),
        job("ps.1x1-followed", "1x1", train, "--durability", "wal", "--followers", rounds=SLOW),
        job("ps.1x1-replicas", "1x1", train, "--durability", "wal", "--replicas", "1", rounds=SLOW),
        job("ps.1x1-served", "1x1", train, "--durability", "wal", "--serve", rounds=SLOW),
        job("ps.1x1-pipe", "1x1", multislot, "--format", "multislot", rounds=1),
        paddle_job("paddle_ps.1x1", "1x1", data),
        *(job(f"wire1x1-{wire}", "1x1", train, "--wire", wire, rounds=1) for wire in WIRES),
        *(job(f"link-{wire}", "1x1", train, "--wire", wire, "--link", LINK_MBIT, rounds=SLOW) for wire in WIRES),
        job("ps.2x2", "2x2", train, rounds=SLOW),
        job("ps.1x1-bfloat16", "1x1", train, "--products", "bfloat16", rounds=SLOW),
        job("ps.2x2-bfloat16", "2x2", train, "--products", "bfloat16", rounds=SLOW),
        paddle_job("paddle_ps.2x2", "2x2", data),
    ]


def job_sizes(data):
    """As many servers as workers, more and more of them."""
    return [job(f"processes.{size}", f"{size}x{size}", data.criteo / "train/part-*", rounds=1) for size in (1, 2, 4, 8)]


def steps(name, ranks, *arguments, rounds):
    """Our loop and the peer's, beside each other: NAME.ours, NAME.ddp."""
    launch = [sys.executable, ROOT / "bench/ranks.py", ranks]
    return [
        Program(f"{name}.ours", [*launch, BUILD / "bench/collective_bench", *arguments], read_steps(f"{name}.ours"), rounds),
        Program(f"{name}.ddp", [*launch, sys.executable, PEERS / "torch_ddp.py", *arguments], read_steps(f"{name}.ddp"), rounds),
    ]


def allocators():
    """A step's memory from the pool and from malloc, then from other allocators in malloc's place."""
    steps = google_benchmark("argosy/engine/engine_bench", "Step")
    others = {"jemalloc": "libjemalloc.so.2", "mimalloc": "libmimalloc.so.2.0"}
    return [
        Program("pool", steps, read_times("pool")),
        *(Program(name, ["env", f"LD_PRELOAD={library}", *steps], read_times(name)) for name, library in others.items()),
    ]


def collectives():
    return [
        *steps("resnet18", 2, "resnet18", 32, 32, 30, rounds=SLOW),
        *steps("mlp", 2, "mlp", 32, 32, 200, rounds=1000),
        Program("alone", [BUILD / "bench/collective_bench", "cifar", 32, 32, 60, "compare"], read_alone),
    ]


def serving():
    """The same model by the predictor, over HTTP, and by others."""
    return [
        Program(f"serving.{what}", [sys.executable, ROOT / "bench/serving.py", what], read_serving, SLOW)
        for what in ("predictor", "http", "grpc", "torch", "onnx")
    ]


def read_words(name):
    """Words per processor second, and the scores."""

    def read(text):
        last = json_lines(text)[-1]
        return {name: last["words_per_cpu_second"], **{f"{name}.{score}": last[score] for score in ("analogies", "similarity")}}

    return read


def old_models():
    """Scripts of the time of 1.8, here and in PaddlePaddle 1.8.5."""
    script = PEERS / "old_models.py"
    return [
        Program(f"{name}.{kind}", [python, script, kind, steps], read_old_model(f"{name}.{kind}"), SLOW)
        for kind, steps in (("dense_adam", 8), ("gru", 20), ("lstm", 20), ("servers", 100))
        for name, python in (("old", sys.executable), ("fluid", PADDLE_OF_OLD))
    ]


def word2vec(data):
    """Ours and gensim's on the same corpus, the same number of passes, by processor time."""
    ours, peer = [sys.executable, ROOT / "bench/word2vec_job.py"], [sys.executable, PEERS / "gensim_word2vec.py", "--python", GENSIM]
    return [
        Program("word2vec.local", [*ours, "local", data.words, "--passes", WORD_PASSES], read_words("word2vec.local"), SLOW),
        Program("gensim.1", [*peer, data.words, WORD_PASSES, 1], read_words("gensim.1"), SLOW),
        Program("word2vec.local-2", [*ours, "local", data.words, "--passes", WORD_PASSES, "--threads", 2], read_words("word2vec.local-2"), SLOW),
        Program("gensim.2", [*peer, data.words, WORD_PASSES, 2], read_words("gensim.2"), SLOW),
        Program("word2vec.1x1", [*ours, "1x1", data.words, "--passes", WORD_PASSES], read_words("word2vec.1x1"), SLOW),
        Program("word2vec.2x2", [*ours, "2x2", data.words, "--passes", WORD_PASSES], read_words("word2vec.2x2"), SLOW),
    ]


def programs(data):
    """All of them, our own before the peer that they are compared with."""
    train, test = data.criteo / "train/part-*", data.criteo / "test/part-*"
    return [
        Program("ctr", [BUILD / "bench/ctr_bench", train, test, WARM], read_ctr),
        Program("torch", [sys.executable, PEERS / "torch_ctr.py", data.arrays, WARM], read_rate("torch"), SLOW),
        Program("parse", google_benchmark("argosy/data/data_bench", "MultiSlot"), read_google_benchmark),
        Program("parquet", google_benchmark("argosy/parquet/parquet_bench", "Parquet", 2), read_items("parquet")),
        Program("load", [BUILD / "bench/load_bench", data.multislot, WARM], read_load("load")),
        Program("paddle", [PADDLE, PEERS / "paddle_load.py", data.multislot, WARM], read_load("paddle")),
        Program("wire", google_benchmark("argosy/rpc/rpc_bench", "/tcp|(Stream|Unary)Push", 1), read_wire),
        Program("iperf3", [sys.executable, PEERS / "iperf.py", 3], read_iperf),
        Program("overhead", [BUILD / "bench/overhead_bench"], read_overhead),
        Program("memory.1", [BUILD / "bench/memory_bench", train, 1], read_memory, SLOW),
        Program("memory.2", [BUILD / "bench/memory_bench", train, 2], read_memory, SLOW),
        Program("store", google_benchmark("argosy/table/table_bench", "push/adagrad/10"), read_store),
        Program("together", google_benchmark("argosy/ps/ps_bench", "^(wire|store|together)/"), read_together),
        Program("replay", google_benchmark("argosy/ps/ps_bench", "BM_Replay"), read_replay, SLOW),
        Program("index", google_benchmark("argosy/table/table_bench", "SlotIndex|FlatHashMap|KeyIndex"), read_items("index")),
        Program("number", google_benchmark("argosy/data/data_bench", "Read|FromChars"), read_items("number")),
        *allocators(),
        Program("fresh", google_benchmark("argosy/ps/ps_bench", "BM_PushToFollower"), read_fresh, SLOW),
        Program("flood", google_benchmark("argosy/rpc/rpc_bench", "Flood/((silence|streams)/no_token|(pings|calls)/token)"), read_flood, SLOW),
        Program("pause", google_benchmark("argosy/ps/ps_bench", "BM_PauseOfASave/none/5000"), read_pause, SLOW),
        *collectives(),
        *serving(),
        *(
            Program(f"first_step.{what}", [sys.executable, ROOT / "bench/first_step.py", what], read_first_step(f"first_step.{what}"), SLOW)
            for what in ("cpp", "python")
        ),
        Program("idle_server", [sys.executable, ROOT / "bench/first_step.py", "server"], read_idle_server, SLOW),
        Program("rank_loss", [sys.executable, ROOT / "bench/rank_loss.py", "--kills", 5], read_rank_loss, SLOW),
        Program("served_fresh", [sys.executable, ROOT / "bench/served_fresh.py"], read_served_fresh, SLOW),
        *jobs(data),
        *word2vec(data),
        *old_models(),
    ]
