"""Runs over datasets: threads, what is printed and returned, and how they end early."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from argosy import errors
from dataset_models import Line, Numbers


@pytest.fixture
def numbers(fluid, exe, tmp_path):
    return Numbers(fluid, exe, tmp_path)


@pytest.fixture
def line(fluid, exe, tmp_path):
    return Line(fluid, exe, tmp_path)


@pytest.mark.parametrize("kind", ["QueueDataset", "InMemoryDataset"])
def test_two_threads_share_one_file_without_loss(numbers, kind):
    numbers.write("a", range(400))
    dataset = numbers.dataset(kind, ["a"], batch_size=5, threads=2)
    report = numbers.load_and_train(dataset)
    assert report.samples == 400 and sorted(numbers.seen()) == list(range(400))
    assert numbers.train(dataset, thread=3).samples == 400


def test_fetches_are_printed_first_every_so_often_and_last(numbers):
    numbers.write("a", range(14))
    report = numbers.train(numbers.dataset("QueueDataset", ["a"]), print_period=3, fetch_info=["number"])
    shown = [re.match(r"batch (\d+)  number: (\d+)\.0+ (\d+)\.0+  [\d,]+ samples/s$", text) for text in numbers.lines[:-1]]
    assert [[int(value) for value in found.groups()] for found in shown] == [[1, 0, 1], [3, 4, 5], [6, 10, 11], [7, 12, 13]]
    assert re.match(r"14 samples in 7 batches, \d+\.\d\d s: [\d,]+ samples/s$", numbers.lines[-1])
    assert np.asarray(report[0]).ravel().tolist() == [12.0, 13.0]


def test_the_last_batch_is_not_printed_twice(numbers):
    numbers.write("a", range(4))
    numbers.train(numbers.dataset("QueueDataset", ["a"]), print_period=2)
    assert [text.split("  ")[0] for text in numbers.lines[:-1]] == ["batch 1", "batch 2"]


def test_the_report_has_the_last_values_and_the_totals(numbers):
    numbers.write("a", range(5))
    report = numbers.train(numbers.dataset("QueueDataset", ["a"]), fetch=[numbers.same, numbers.ids])
    assert len(report) == 2 and float(report[0]) == 4.0 and [np.asarray(v).ravel().tolist() for v in report] == [[4.0], [4, 7]]
    assert (report.samples, report.batches, report.bad_lines) == (5, 3, 0)
    assert report.seconds > 0 and report.samples_per_second == pytest.approx(report.samples / report.seconds, rel=1e-6)
    assert report.read_seconds > 0 and report.compute_seconds > 0 and "5 samples in" in repr(report)


def test_without_fetches_there_is_one_line(numbers, capsys):
    numbers.write("a", range(5))
    report = numbers.exe.train_from_dataset(dataset=numbers.dataset("QueueDataset", ["a"]))
    assert len(report) == 0 and re.match(r"5 samples in 3 batches.*\n$", capsys.readouterr().out)


def test_debug_shows_where_the_time_went(line, capsys):
    line.exe.train_from_dataset(dataset=line.dataset, debug=True)
    out = capsys.readouterr().out
    phases = re.search(r"time of 1 thread\(s\): read ([\d.]+) s .*pull ([\d.]+) s.*compute ([\d.]+) s .*push ([\d.]+) s", out)
    assert phases and float(phases.group(3)) > 0
    assert re.search(r"^  sgd +[\d.]+ s +[\d.]+ %$", out, re.M)


def test_training_learns_and_inferring_does_not(line, capsys):
    before = line.weights()
    first = line.exe.infer_from_dataset(dataset=line.dataset, fetch_list=[line.loss])
    assert line.weights() == before and first.samples == 200
    for _ in range(10):
        line.exe.train_from_dataset(dataset=line.dataset, fetch_list=[line.loss])
    learned = line.weights()
    assert np.ravel(learned[0])[0] == pytest.approx(2, abs=0.05) and np.ravel(learned[1])[0] == pytest.approx(-1, abs=0.05)
    last = line.exe.infer_from_dataset(dataset=line.dataset, fetch_list=[line.loss])
    assert line.weights() == learned and float(last[0]) < 0.01 < float(first[0])


def test_progress_is_told_as_it_goes(numbers):
    numbers.write("a", range(400))
    told = []
    report = numbers.train(numbers.dataset("QueueDataset", ["a"], pipe="while read l; do echo $l; sleep 0.005; done"), progress=told.append, print_period=1000)
    assert told and told == sorted(told, key=lambda now: now["samples"])
    assert told[0].keys() == {"batches", "samples", "seconds", "samples_per_second", "read_seconds", "compute_seconds"}
    assert told[-1]["samples"] <= report.samples == 400


def test_a_fetch_handler_sees_variables_as_time_goes_by(line):
    class Watch(line.fluid.executor.FetchHandler):
        def handler(self, res_dict):
            seen.append(res_dict)

    seen = []
    weight = line.fluid.default_main_program().all_parameters()[0]
    line.exe.train_from_dataset(dataset=line.dataset, fetch_handler=Watch({"loss": line.loss, "w": weight}, period_secs=0))
    assert len(seen) == 20 and seen[0].keys() == {"loss", "w"} and seen[-1]["w"].shape == (1, 1)
    assert float(seen[-1]["loss"]) < float(seen[0]["loss"]) and float(seen[0]["w"]) != float(seen[-1]["w"])
    line.exe.infer_from_dataset(dataset=line.dataset, fetch_handler=Watch({"loss": line.loss}, period_secs=1000))
    assert len(seen) == 20


def test_a_fetch_handler_prints_unless_told_otherwise(line, capsys):
    line.exe.train_from_dataset(dataset=line.dataset, fetch_handler=line.fluid.executor.FetchHandler({"loss": line.loss}, 0))
    assert len(re.findall(r"^loss\[0\]: [\d.e-]+$", capsys.readouterr().out, re.M)) == 20
    for wrong in (None, {}, ["loss"]):
        with pytest.raises(ValueError, match="var_dict is a dict from keys to variables"):
            line.fluid.executor.FetchHandler(wrong)


def test_an_exception_in_progress_ends_the_run_and_is_raised(numbers):
    numbers.write("a", range(2))
    dataset = numbers.dataset("QueueDataset", ["a"], threads=2, pipe="yes '1 5 2 5 7'")

    def refuse(now):
        raise LookupError("enough after %d" % min(now["batches"], 1))

    with pytest.raises(LookupError, match="enough after 1"):
        numbers.train(dataset, progress=refuse, print_period=10**9)
    dataset.set_pipe_command("cat")
    assert numbers.train(dataset).samples == 2, "the next pass is whole"


def test_an_exception_in_print_ends_the_run_and_is_raised(numbers, monkeypatch):
    class Full:
        def write(self, text):
            raise OSError("no space left")

        def flush(self):
            pass

    numbers.write("a", range(2))
    dataset = numbers.dataset("QueueDataset", ["a"], threads=2, pipe="yes '1 5 2 5 7'")
    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(OSError, match="no space left"):
        numbers.exe.train_from_dataset(dataset=dataset, fetch_list=[numbers.same], print_period=1)


def test_a_stop_from_outside_is_an_error_and_not_a_short_pass(numbers, monkeypatch):
    numbers.write("a", range(2))
    dataset = numbers.dataset("QueueDataset", ["a"], pipe="yes '1 5 2 5 7'")
    source = dataset._source()
    monkeypatch.setattr(dataset, "_source", lambda: source)
    with pytest.raises(errors.CancelledError, match="the dataset was stopped"):
        numbers.train(dataset, progress=lambda now: source.stop(), print_period=10**9)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda n, d: n.exe.train_from_dataset(), "needs a dataset"),
        (lambda n, d: n.exe.train_from_dataset(dataset="a"), "needs a dataset.*found str"),
        (lambda n, d: n.train(d, fetch_info=["a", "b"]), "fetch_info has 2 texts for 1 variables"),
        (lambda n, d: n.train(d, fetch=["nothere"]), "nothere"),
        (lambda n, d: n.train(d, thread=-1), "thread"),
        (lambda n, d: n.train(d, print_period=0), "print_period"),
        (lambda n, d: n.train(d, fetch_handler=print), "FetchHandler; found builtin_function_or_method"),
        (lambda n, d: n.train(d, fetch_handler=n.fluid.executor.FetchHandler({"k": "nothere"})), "nothere"),
    ],
)
def test_wrong_use_says_what_to_do(numbers, call, message):
    numbers.write("a", range(2))
    with pytest.raises((ValueError, KeyError), match=message):
        call(numbers, numbers.dataset("QueueDataset", ["a"]))


def test_a_closed_executor_runs_no_dataset(numbers):
    numbers.write("a", range(2))
    numbers.exe.close()
    with pytest.raises(RuntimeError, match="has been closed"):
        numbers.train(numbers.dataset("QueueDataset", ["a"]))


ENDLESS = """
    import sys, time
    import paddle.fluid as fluid

    x = fluid.layers.data("x", [1])
    twice = x * 2.0
    dataset = fluid.DatasetFactory().create_dataset(sys.argv[1])
    dataset.set_use_var([x])
    dataset.set_filelist([__file__])
    dataset.set_thread(2)
    dataset.set_pipe_command("touch started; " + sys.argv[2])
    try:
        if sys.argv[1] == "InMemoryDataset":
            dataset.load_into_memory()
        fluid.Executor(fluid.CPUPlace()).train_from_dataset(dataset=dataset, fetch_list=[twice])
        print("ended by itself")
    except KeyboardInterrupt:
        print("interrupted")
    """


@pytest.mark.parametrize("kind, pipe", [("QueueDataset", "yes '1 5'"), ("QueueDataset", "sleep 1000"), ("InMemoryDataset", "sleep 1000")])
def test_control_c_ends_a_run_promptly(tmp_path, kind, pipe):
    (tmp_path / "endless.py").write_text(textwrap.dedent(ENDLESS))
    process = subprocess.Popen([sys.executable, "endless.py", kind, pipe], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 120
        while not (tmp_path / "started").exists():
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGINT)
        interrupted = time.monotonic()
        out, _ = process.communicate(timeout=120)
    finally:
        process.kill()
    assert out.endswith("interrupted\n") and process.returncode == 0
    assert time.monotonic() - interrupted < 60  # the pipe would go on
