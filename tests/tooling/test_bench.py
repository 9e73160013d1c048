"""The benchmark's arithmetic, on lines as the programs print them: what is read, the medians, the ratios, the table. Not speed."""

import dataclasses
import importlib
import json
import pathlib
import re
import sys
import time
import types

import numpy as np
import pytest


@pytest.fixture(scope="module")
def bench(root):
    """The modules of bench/ by name. Others may be called so too: none of them is left behind, or taken for one of ours."""
    names = ("programs", "ps_job", "rows", "bounds", "page", "run", "paddle_job")
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    folders = [str(root / "bench"), str(root / "bench/peers")]
    sys.path[:0] = folders
    found = {name: importlib.import_module(name) for name in names}
    for folder in folders:
        sys.path.remove(folder)
    for name in names:
        del sys.modules[name]
    sys.modules.update(before)
    return found


@pytest.fixture(scope="module")
def rows(bench):
    return bench["rows"]


@pytest.fixture(scope="module")
def bounds(bench):
    return bench["bounds"]


@pytest.fixture(scope="module")
def programs(bench):
    return bench["programs"]


def row(rows, measure="ratio", relation=">=", bound=1.5, peer="theirs"):
    return rows.Row("name", "what is compared", "ours", peer, "samples/s", measure, relation, bound)


CTR = """{"round": 0, "what": "gemm_bound", "samples_per_second": 100.0, "samples_per_cpu_second": 100.0, "auc": 0.00000}
{"round": 0, "what": "float32_1_thread", "samples_per_second": 50.0, "samples_per_cpu_second": 60.0, "auc": 0.70000}
{"round": 1, "what": "gemm_bound", "samples_per_second": 120.0, "samples_per_cpu_second": 120.0, "auc": 0.00000}
{"round": 1, "what": "float32_1_thread", "samples_per_second": 96.0, "samples_per_cpu_second": 98.0, "auc": 0.81000}
"""


# The first pass of a process pays for its start; only the last one is a measurement of speed.
def test_the_last_line_of_a_process_counts(programs):
    assert programs.read_ctr(CTR) == {
        "ctr.gemm_bound": 120,
        "ctr.gemm_bound.per_cpu_second": 120,
        "ctr.gemm_bound.auc": 0,
        "ctr.float32_1_thread": 96,
        "ctr.float32_1_thread.per_cpu_second": 98,
        "ctr.float32_1_thread.auc": 0.7,
    }
    passes = '{"pass": 0, "samples_per_second": 11}\n{"pass": 1, "samples_per_second": 22}\n'
    assert programs.read_rate("torch")(passes) == {"torch": 22}
    loads = (
        'a warning\n{"samples": 10, "megabytes": 1, "seconds": 1, "mb_per_second": 80}\n{"samples": 10, "megabytes": 1, "seconds": 1, "mb_per_second": 90}\n'
    )
    assert programs.read_load("paddle")(loads) == {"paddle": 90, "paddle.samples": 10}
    assert programs.read_overhead('{"round": 4, "by_hand_ns": 400, "by_executor_ns": 700, "added_ns": 300}\n') == {
        "overhead.by_executor": 700,
        "overhead.by_hand": 400,
    }
    assert programs.read_memory('{"threads": 2, "above_idle_mb": 130.0, "needed_mb": 100.0, "ratio": 1.3}\n') == {
        "memory.2.above_idle": 130,
        "memory.2.needed": 100,
    }
    google = json.dumps({"context": {}, "benchmarks": [{"name": "BM_A", "bytes_per_second": 3e8}]})
    assert programs.read_google_benchmark(google) == {"parse.BM_A": 300}
    wire = (
        '{"benchmarks": [{"name": "BM_Wire/tcp/real_time", "real_time": 400, "bytes_per_second": 2.5e9}, {"name": "BM_Push/tcp/real_time", "real_time": 650}]}'
    )
    assert programs.read_wire(wire) == {"wire.BM_Wire/tcp": 2500, "wire.BM_Push/tcp": 650}
    assert programs.read_iperf('{"mb_per_second": 3000}\n') == {"iperf3": 3000}


def test_what_jobs_and_stores_print_is_read(programs):
    assert programs.read_job("ps.1x1")('{"servers": 1, "samples_per_second": 5}\n{"servers": 1, "samples_per_second": 7}\n') == {
        "ps.1x1.servers": 1,
        "ps.1x1.samples_per_second": 7,
    }
    assert programs.read_old_model("old.gru")('{"first_ms": 300.0, "step_ms": 9.0}\n') == {"old.gru.first_ms": 300, "old.gru.step_ms": 9}
    assert programs.read_first_step("first_step.cpp")('{"seconds": 1.5}\n') == {"first_step.cpp": 1.5}
    assert programs.read_idle_server('{"resident_mb": 27.0, "private_mb": 3.0}\n') == {"idle_server.resident": 27, "idle_server.private": 3}
    items = '{"benchmarks": [{"name": "BM_Replay", "items_per_second": 7e6}]}'
    assert programs.read_store(items) == {"store": 7} and programs.read_replay(items) == {"replay": 7}
    parts = {"wire": 1500.0, "store": 2500.0, "together": 5000.0}
    runs = json.dumps({"benchmarks": [{"name": f"{name}/iterations:300/real_time", "real_time": value} for name, value in parts.items()]})
    assert programs.read_together(runs) == {"together.both": 5000, "together.wire_and_store": 4000}


# A worker that is missing must not make the peer slower: the rate is that of all of them.
def test_the_peers_passes_are_joined_from_its_workers(bench):
    first = '{"pass": 0, "samples": 600, "seconds": 2.0}\n{"pass": 1, "samples": 600, "seconds": 1.0}\n'
    second = '{"pass": 0, "samples": 400, "seconds": 4.0}\n{"pass": 1, "samples": 400, "seconds": 0.5}\n'
    rates = [row["samples_per_second"] for row in bench["paddle_job"].passes([first, second])]
    assert rates == [250, 1000]
    with pytest.raises(ValueError):
        list(bench["paddle_job"].passes([first, second.splitlines()[0]]))


# Without an end to waiting, a peer that hangs or dies would hold the benchmark up for ever.
@pytest.mark.parametrize(
    ("launcher", "message"), [("sys.exit(3)", "ended with 3 before its workers had finished"), ("time.sleep(60)", "did not finish in 1 s")]
)
def test_a_peers_job_that_fails_or_hangs_is_ended(bench, tmp_path, monkeypatch, launcher, message):
    stand_in = tmp_path / "python"
    stand_in.write_text(f"#!{sys.executable}\nimport sys, time\n{launcher}\n")
    stand_in.chmod(0o755)
    monkeypatch.setattr(bench["paddle_job"], "SECONDS", 1)
    with pytest.raises(SystemExit, match=message):
        bench["paddle_job"].launch(str(stand_in), 1, 1, [], tmp_path)


def lives(number):
    try:
        return pathlib.Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


# PaddlePaddle's launcher puts each process into a session of its own: none ends with it.
def test_no_process_of_a_peers_job_is_left(bench, tmp_path):
    stand_in = tmp_path / "python"
    stand_in.write_text(f"""#!{sys.executable}
import pathlib, subprocess, time
server = subprocess.Popen(["sleep", "60"], start_new_session=True)
pathlib.Path(r"{tmp_path}", f"process-{{server.pid}}").touch()
pathlib.Path(r"{tmp_path}", "worker-0").touch()
time.sleep(60)
""")
    stand_in.chmod(0o755)
    bench["paddle_job"].launch(str(stand_in), 1, 1, [], tmp_path)
    (process,) = tmp_path.glob("process-*")
    number = int(process.name.removeprefix("process-"))
    end = time.monotonic() + 10
    while lives(number) and time.monotonic() < end:
        time.sleep(0.01)
    assert not lives(number)


def test_arrays_are_the_numbers_of_the_multislot_lines(bench, tmp_path):
    data = bench["run"].Data(multislot=tmp_path / "lines.txt", arrays=tmp_path / "arrays.npz")
    line = lambda first: " ".join(["13", *(f"{first}.{k}" for k in range(13)), *(f"1 {first * 100 + k}" for k in range(26)), f"1 {first}"])
    data.multislot.write_text(f"{line(0)}\n{line(1)}\n")
    bench["run"].make_arrays(data)
    arrays = np.load(data.arrays)
    assert arrays["dense"].shape == (2, 13) and arrays["dense"][1, 3] == np.float32(1.3)
    assert arrays["ids"].shape == (2, 26) and arrays["ids"][1].tolist() == list(range(100, 126))
    assert arrays["label"].tolist() == [0, 1]


# A job is as fast as its slowest worker; what its servers did is in the first worker's lines alone.
def test_a_jobs_passes_are_joined_from_its_workers(bench):
    first = (
        "a log line\n"
        + json.dumps({"pass": 0, "samples": 600, "seconds": 2.0, "cpu_seconds": 1.5, "server_cpu_seconds": 0.5, "bytes_in": 3000, "bytes_out": 1000})
        + "\n"
    )
    second = json.dumps({"pass": 0, "samples": 400, "seconds": 4.0, "cpu_seconds": 3.0, "server_cpu_seconds": 0, "bytes_in": 0, "bytes_out": 0}) + "\n"
    (joined,) = bench["ps_job"].passes([first, second])
    assert joined == {
        "pass": 0,
        "samples": 1000,
        "samples_per_second": 250,
        "samples_per_cpu_second": 200,
        "worker_us": 4500,
        "server_us": 500,
        "bytes_to_servers": 3,
        "bytes_to_workers": 1,
    }
    with pytest.raises(ValueError):  # a worker that printed less than the others
        list(bench["ps_job"].passes([first, ""]))


def test_jobs_of_several_sizes_become_a_table(bounds):
    series = {f"processes.{size}.{column}": [size * 1000.5] for size in (8, 1) for column in bounds.JOB_COLUMNS}
    series |= {f"processes.{size}.{what}": [size] for size in (1, 8) for what in ("servers", "workers")}
    jobs = bounds.jobs_as_json(series)
    assert [job["workers"] for job in jobs] == [1, 8] and jobs[1]["worker_us"] == 8004
    lines = bounds.jobs_table(jobs).splitlines()
    assert lines[3] == "| 8 | 8 | 8,004 | 8,004 | 8,004 | 8,004 | 8,004 |" and lines[1].count("|") == lines[3].count("|")


def test_medians_are_compared_not_means_or_single_rounds(rows, bounds):
    outcome = bounds.judge(row(rows), {"ours": [10, 30, 31, 32, 1000], "theirs": [20, 1, 20, 20, 500]}, {})
    assert (outcome.ours, outcome.peer, outcome.result, outcome.met) == (31, 20, 1.55, True)


@pytest.mark.parametrize(
    ("measure", "relation", "bound", "ours", "peer", "result", "met"),
    [
        ("ratio", ">=", 0.8, 80, 100, 0.8, True),
        ("ratio", ">=", 0.8, 79, 100, 0.79, False),
        ("ratio", "<=", 1.3, 131, 100, 1.31, False),
        ("difference", "<=", 1000, 1400, 400, 1000, True),
        ("difference", "<=", 1000, 1401, 400, 1001, False),
        ("distance", "<=", 0.5, 3.0, 3.5, 0.5, True),
        ("distance", "<=", 0.5, 4.25, 3.5, 0.75, False),
    ],
)
def test_each_measure_against_its_bound(rows, bounds, measure, relation, bound, ours, peer, result, met):
    outcome = bounds.judge(row(rows, measure, relation, bound), {"ours": [ours], "theirs": [peer]}, {})
    assert outcome.result == pytest.approx(result) and outcome.met == met


def test_a_row_without_peer_stands_alone(rows, bounds):
    outcome = bounds.judge(row(rows, "value", ">=", 300, peer=""), {"ours": [299, 301, 302]}, {})
    assert (outcome.peer, outcome.result, outcome.met) == (None, 301, True)


def test_a_row_without_a_bound_is_shown_and_not_counted(rows, bounds):
    outcomes = [
        bounds.judge(rows.Row("name", "what", "ours", "theirs", "s", "ratio"), {"ours": [3], "theirs": [2]}, {}),
        bounds.judge(row(rows), {"ours": [3], "theirs": [2]}, {}),
    ]
    assert bounds.table(outcomes).splitlines()[2] == "| name | what | 3.000 | 2.000 | s | 1.500 | ratio |  |"
    assert bounds.summary(outcomes) == "1 of 1 bounds met"


# What takes long runs in the first rounds only.
def test_a_program_runs_in_as_many_rounds_as_it_says(bench, programs):
    counting = lambda name, rounds: programs.Program(name, [sys.executable, "-c", ""], lambda text: {name: 1}, rounds)
    assert bench["run"].measure([counting("slow", 2), counting("quick", 1000)], 3) == {"slow": [1, 1], "quick": [1, 1, 1]}


# An absent peer must never look like a bound that was kept.
def test_an_absent_peer_is_said_and_not_met(rows, bounds):
    outcome = bounds.judge(row(rows), {"ours": [5]}, {"their": "peer not present: no script"})
    assert (outcome.ours, outcome.result, outcome.met) == (5, None, False)
    assert bounds.table([outcome]).endswith("| 5.000 | – | samples/s | – | ratio ≥ 1.5 | peer not present: no script |\n")


def test_the_table_shows_what_is_not_met(rows, bounds):
    series = {"ours": [41234.5], "theirs": [30000]}
    lines = bounds.table([bounds.judge(row(rows), series, {}), bounds.judge(row(rows, bound=1.2), series, {})]).splitlines()
    assert lines[2] == "| name | what is compared | 41,234 | 30,000 | samples/s | 1.374 | ratio ≥ 1.5 | **not met** |"
    assert lines[3].endswith("| ratio ≥ 1.2 | met |")
    assert all(line.count("|") == lines[0].count("|") for line in lines)


def test_the_json_has_every_measurement(rows, bounds):
    series = {"ours": [1, 2, 3], "theirs": [1, 1, 1]}
    found = json.loads(json.dumps(bounds.as_json([bounds.judge(row(rows), series, {})], series)))
    assert found["series"] == series
    assert found["rows"][0] | {"result": 2.0, "met": True, "bound": 1.5, "measure": "ratio"} == found["rows"][0]


# A row whose series no program gives would be reported as "not measured" for ever.
def test_every_row_is_measured_by_a_program(bench, rows, programs):
    gives = [program.gives for program in programs.programs(bench["run"].Data())]
    for each in rows.ROWS:
        for series in filter(None, (each.ours, each.peer)):
            assert any(series == name or series.startswith(name + ".") for name in gives), series
    assert len({each.name for each in rows.ROWS}) == len(rows.ROWS)


def run_of(date, load=0.1):
    return {"cpu": "A CPU", "cores": 2, "memory": "24 GiB", "commit": "abc", "date": f"{date} 00:00 UTC", "rounds": 5, "load_before": load}


def found(bench, name, ours, peer):
    return bench["bounds"].outcome(next(row for row in bench["rows"].ROWS if row.name == name), ours, peer)


# One row that is measured again must not take the others, or its own older self, out of the page.
def test_a_row_that_is_measured_alone_comes_into_the_page(bench, rows, bounds):
    page, measured = bench["page"], {"runs": {}, "rows": {}, "processes": None}
    page.note(measured, [found(bench, "gemm", 90, 100), found(bench, "wal", 80, 100), bounds.judge(rows.ROWS[2], {}, {})], [], run_of("2030-01-01"))
    assert page.note(measured, [found(bench, "wal", 93, 100)], [], run_of("2030-01-02")) == []
    text = page.document(measured)
    assert re.search(r"\| gemm \| .* \| 90.00 \| 100.0 \| samples/s \| 0.900 \| ratio ≥ 0.92 \| \*\*not met\*\* \| a \|", text)
    assert re.search(r"\| wal \| .* \| 93.00 \| 100.0 \| samples/s \| 0.930 \| ratio ≥ 0.85 \| met \| b \|", text)
    assert re.search(r"\| torch \| .* \| not measured \|  \|", text)
    assert f"1 of 2 bounds met, {len(rows.ROWS) - 2} rows not measured yet" in text
    assert "| b | 2030-01-02 00:00 UTC | abc | A CPU, 2 cores, 24 GiB | 5 | 0.1 |" in text
    page.note(measured, [found(bench, "gemm", 70, 100)], [], run_of("2030-01-03"))
    assert [about["date"][:10] for about in measured["runs"].values()] == ["2030-01-02", "2030-01-03"], "a run that no row is of is forgotten"
    assert "**not met** | b |" in page.document(measured)


def test_what_a_busy_machine_measures_stands_only_where_there_is_nothing_better(bench, rows):
    page, measured = bench["page"], {"runs": {}, "rows": {}, "processes": None}
    page.note(measured, [found(bench, "gemm", 90, 100)], [], run_of("2030-01-01"))
    assert page.note(measured, [found(bench, "gemm", 50, 100), found(bench, "wal", 90, 100)], [], run_of("2030-01-02", load=2.0)) == ["gemm"]
    assert measured["rows"]["gemm"]["ours"] == 90 and measured["rows"]["wal"]["ours"] == 90
    assert "| 2.0: **busy** |" in page.document(measured)


def test_the_page_is_what_its_data_say(bench, rows, root):
    measured = bench["page"].load()
    assert (root / "docs/benchmarks.md").read_text() == bench["page"].document(measured), "bench/run.py --page writes it"
    assert sorted(set(measured["rows"]) - {row.name for row in rows.ROWS}) == [], "rows that are no more"


def test_too_few_rounds_leave_the_page(bench, monkeypatch, tmp_path):
    monkeypatch.setattr(bench["run"], "ROOT", tmp_path)
    (tmp_path / "bench").mkdir()
    monkeypatch.setattr(bench["page"], "save", lambda measured: pytest.fail("the page is written"))
    bench["run"].write([], {}, run_of("2030-01-01") | {"rounds": 2})
    assert len(list((tmp_path / "bench/results").iterdir())) == 1


# The process that fails is named, with what it said.
def test_a_failing_program_ends_the_run(programs):
    failing = programs.Program("load", [sys.executable, "-c", "import sys; sys.exit('no such file: x')"], programs.read_load("load"))
    with pytest.raises(SystemExit, match="(?s)ended with 1.*no such file: x"):
        failing.measure()


def test_a_row_of_the_gpu_is_held_to_its_fastest_peer(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "bench"))
    gpu = importlib.import_module("gpu")
    monkeypatch.setattr(gpu, "ROUNDS", 3)
    took = {"ours": iter([1.0, 9.0, 1.2]), "eager": iter([2.0] * 3), "compile": iter([1.5] * 3), "reduce_overhead": iter([1.1, 1.3, 1.1])}
    asked = []

    class Started:
        def __init__(self, arguments, build):
            asked.append(arguments)
            self._peer = "ours" if "collective_bench" in arguments[0] else next((name for name in gpu.PEERS if name in arguments), "eager")

        def turn(self):
            return next(took[self._peer])

        def close(self):
            asked.append(["closed"])

    (model, row), *_ = [(model, row) for model in gpu.MODELS for row in model.rows if row.what == "CIFAR CNN, batch 32, float32, captured"]
    medians = gpu.measured(model, [row], root / "build/release", Started)
    assert medians == {row.what: 1.2, "eager": 2.0, "compile": 1.5, "reduce_overhead": 1.1}
    assert gpu.line(row, medians) == "| CIFAR CNN, batch 32, float32, captured | 1.200 | 2.000 | 1.500 | 1.100 | 1.091 | ≤ 1.00 | **not met** |"
    unbound = dataclasses.replace(row, against=("eager",), bound=None)
    assert gpu.line(unbound, medians) == "| CIFAR CNN, batch 32, float32, captured | 1.200 | 2.000 |  |  | 0.600 |  |  |"
    assert len(asked) == 8 and asked[4:] == [["closed"]] * 4
    assert all(pathlib.Path(arguments[1]).is_file() for arguments in asked if "python" in arguments[0])


TAKES_TURNS = """
import os, sys
assert os.environ["BENCH_TURNS"] and os.environ["PADDLE_TRAINER_ENDPOINTS"]
print("a line of somebody else's")
print('{"ms": 1.5}', flush=True)
for number, _ in enumerate(sys.stdin):
    if number == 2: sys.exit("no memory")
    print('{"ms": %d}' % number, flush=True)
"""


# bench-check compares ratios with the committed ones in the direction in which they are better, and leaves everything as it is.
def test_a_ratio_that_fell_is_found(rows, bounds):
    pair = lambda relation, before, now: tuple(bounds.outcome(row(rows, "ratio", relation, 1.0), value, 1.0) for value in (before, now))
    for relation, before, now, falls in [(">=", 2.0, 1.79, True), (">=", 2.0, 1.83, False), (">=", 2.0, 9.0, False), ("", 2.0, 1.0, True)]:
        assert bounds.check_table([pair(relation, before, now)])[1] == (["name"] if falls else [])
    assert bounds.check_table([pair("<=", 0.5, 0.56)])[1] == ["name"] and bounds.check_table([pair("<=", 0.5, 0.2)])[1] == []
    table, fallen = bounds.check_table([(pair(">=", 2.0, 1.0)[0], bounds.Outcome(row(rows), None, None, None, False, "peer not present: x"))])
    assert fallen == [] and "| 2.000 | – | – | not checked: peer not present: x |" in table


def test_bench_check_fails_by_the_committed_figures_and_changes_nothing(bench, monkeypatch, tmp_path, capsys):
    run, page = bench["run"], bench["page"]
    committed = {
        "runs": {},
        "rows": {"threads": {"ours": 60000, "peer": 30000, "run": "a"}, "torch": {"ours": 30000, "peer": 20000, "run": "a"}},
        "processes": None,
    }
    monkeypatch.setattr(page, "load", lambda: committed)
    monkeypatch.setattr(page, "save", lambda measured: pytest.fail("the page was written"))
    monkeypatch.setattr(run, "prepare", lambda wanted, data: {"torch": "peer not present: torch"})
    found = {"ctr.float32_2_threads": [58000], "ctr.float32_1_thread": [30000]}
    monkeypatch.setattr(run, "measure", lambda chosen, rounds: found)
    monkeypatch.setattr(sys, "argv", ["run.py", "--check"])
    run.main()
    printed = capsys.readouterr().out
    assert "| threads | 2.000 | 1.933 | +3.3 % |  |" in printed and "not checked: peer not present: torch" in printed and "none of 1 ratios" in printed
    found["ctr.float32_2_threads"] = [50000]
    with pytest.raises(SystemExit, match="10 % worse than bench/measured.json has it: threads;"):
        run.main()
    monkeypatch.setattr(sys, "argv", ["run.py", "--check", "--only", "gemm"])
    with pytest.raises(SystemExit, match="has no ratio of gemm"):
        run.main()


# A program of a row measures when it is its turn, and one that ends is named with what it said.
def test_programs_of_the_gpu_take_turns(root, monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(root / "bench"))
    gpu = importlib.import_module("gpu")
    one, other = (gpu.Running([sys.executable, "-c", TAKES_TURNS], tmp_path) for _ in range(2))
    assert [one.turn(), other.turn(), one.turn(), other.turn()] == [0, 0, 1, 1]
    one.close()
    with pytest.raises(SystemExit, match="(?s)ended with 1.*no memory"):
        other.turn()


# A row whose program nobody builds ends the whole benchmark, on a fresh machine only.
def test_make_bench_builds_every_program_that_it_runs(programs, root):
    made = re.search(r"^BENCH_PROGRAMS := (.*)$", (root / "Makefile").read_text(), re.MULTILINE).group(1).split()
    data = types.SimpleNamespace(criteo=root, arrays=root, multislot=root, multislot_parts=root, words=root)
    run = {part.name for program in programs.programs(data) for part in program.command if isinstance(part, pathlib.Path) and programs.BUILD in part.parents}
    assert {"engine_bench", "ctr_bench"} <= run
    assert sorted(name for name in run if name.endswith("_bench") and name not in made) == []
