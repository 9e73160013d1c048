"""bench/server_scale.py without servers: how it reads what load generators print, and gives out cores."""

import pathlib
import subprocess
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import server_scale

ONE = {"turns": 100, "rows": 2000, "seconds": 2.0, "pull_ms": {"p50": 1, "p99": 3, "p999": 4}, "push_ms": {"p50": 2, "p99": 5, "p999": 9}}
TWO = {"turns": 50, "rows": 1000, "seconds": 1.0, "pull_ms": {"p50": 3, "p99": 2, "p999": 8}, "push_ms": {"p50": 4, "p99": 6, "p999": 7}}


def test_rates_are_added_and_the_worst_tail_is_told():
    line = server_scale.summary([ONE, TWO], 1, 2, 0.5)
    assert (line["turns_per_second"], line["rows_per_second"]) == (100, 2000)
    assert (line["pull_p50_ms"], line["pull_p99_ms"], line["pull_p999_ms"]) == (2, 3, 8)
    assert (line["push_p50_ms"], line["push_p99_ms"], line["push_p999_ms"]) == (3, 6, 9)


def test_straight_is_the_rate_per_load_generator_against_the_first_line():
    alone, both = server_scale.summary([ONE], 1, 1, 0.5), server_scale.summary([ONE, TWO | {"seconds": 2.0}], 2, 2, 0.5)
    rows = list(server_scale.table([alone, both]))[2:]
    assert rows[0].split("|")[4].strip() == "1.00" and rows[1].split("|")[4].strip() == "0.75"
    assert server_scale.medians([alone, both, both])["turns_per_second"] == 75


@pytest.mark.parametrize("cores, processes", [(16, 16), (16, 2), (2, 4)])
def test_processes_that_are_apart_share_no_core_where_there_are_enough(monkeypatch, cores, processes):
    monkeypatch.setattr(server_scale.os, "sched_getaffinity", lambda _: set(range(cores)))
    given = server_scale.Cores(True, processes)
    shares = [given.next() for _ in range(processes)]
    assert {len(share) for share in shares} == {max(1, cores // processes)}
    assert len({core for share in shares for core in share}) == cores
    together = server_scale.Cores(False, processes)
    assert together.next() == together.next() == list(range(cores))


def test_what_is_no_shape_is_named():
    said = subprocess.run([sys.executable, server_scale.__file__, "2by2"], capture_output=True, text=True)
    assert said.returncode != 0 and "'2by2' is no shape; expected SERVERSxLOADS" in said.stderr
