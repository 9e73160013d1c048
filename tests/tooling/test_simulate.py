"""The simulation of large jobs, where what must come out is known in closed form. Not speed."""

import dataclasses
import importlib
import sys

import pytest


@pytest.fixture(scope="module")
def simulate(root):
    before = sys.modules.pop("simulate", None)
    sys.path.insert(0, str(root / "bench"))
    found = importlib.import_module("simulate")
    sys.path.remove(str(root / "bench"))
    yield found
    del sys.modules["simulate"]
    if before is not None:
        sys.modules["simulate"] = before


def ideal(simulate, **changes):
    """A job without chance, networks or neighbours: what a test does not change costs nothing."""
    free = {"scatter": 0.0, "sibling": 1.0, "server_us": 0.0, "message_us": 0.0, "bytes_up": 0.0, "bytes_down": 0.0, "link_us": 0.0, "zipf": 0.0}
    values = free | {"cores": 10_000, "rows": 10_000, "batches": 24, "geo_k": 4, "compute_us": 20.0, "cpu_us": 20.0} | changes
    return simulate.Job(**values)


def speed(simulate, **changes):
    return simulate.simulate(ideal(simulate, **changes)).samples_per_second


MODES = ["sync", "async", "geo"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (7, 20)])
def test_every_batch_is_trained_once(simulate, mode, shape):
    job = simulate.Job(servers=shape[0], workers=shape[1], mode=mode, batches=17, geo_k=5, rows=10_000, stragglers=0.2, workers_per_machine=2)
    assert simulate.simulate(job).batches.tolist() == [17] * shape[1]


@pytest.mark.parametrize("mode", MODES)
def test_where_only_workers_cost_time_they_add_up(simulate, mode):
    assert speed(simulate, mode=mode, servers=2, workers=8) == pytest.approx(8 * 1e6 / 20)


# Computing for 20 µs, and then a server that works for 60 µs per sample with one thread: four workers keep it busy, ten get no more.
def test_where_a_server_is_busy_it_decides(simulate):
    bound = {"cores": 1, "workers_per_machine": 1, "gbit": 1e9, "cpu_us": 0.0, "server_us": 60.0, "batches": 60}
    for workers in (4, 10):
        assert speed(simulate, workers=workers, **bound) == pytest.approx(1e6 / 60, rel=0.05)
    assert speed(simulate, workers=10, servers=2, **bound) == pytest.approx(2e6 / 60, rel=0.05)


# 1,000 bytes per sample into a server's link of 0.2 Gbit/s: 25,000 samples/s, however many send.
def test_where_a_link_is_busy_it_decides(simulate):
    for workers in (6, 12):
        found = speed(simulate, workers=workers, workers_per_machine=1, bytes_up=1000.0, gbit=0.2, batches=60)
        assert found == pytest.approx(0.2e9 / 8 / 1000, rel=0.1)


# A worker that waits for all is as fast as the slowest; where nobody waits, only the slow ones' part is lost.
def test_stragglers_slow_everybody_in_sync_mode_only(simulate):
    slow = {"workers": 10, "stragglers": 0.1, "straggler_factor": 4.0}
    assert speed(simulate, mode="sync", **slow) == pytest.approx(10 * 1e6 / 20 / 4)
    for mode in ("async", "geo"):
        assert speed(simulate, mode=mode, **slow) == pytest.approx((9 + 1 / 4) * 1e6 / 20)


# In sync mode a step is a pull, a batch and a push, one after the other; in async mode the first and the last happen meanwhile.
def test_async_mode_hides_the_servers(simulate):
    servers = {"server_us": 10.0, "cores": 1, "workers_per_machine": 1, "gbit": 1e9, "cpu_us": 0.0}
    assert speed(simulate, mode="sync", **servers) == pytest.approx(1e6 / (20 + 10))
    assert speed(simulate, mode="async", **servers) == pytest.approx(1e6 / 20)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("name", "worse", "better"),
    [("server_us", 50.0, 5.0), ("message_us", 2000.0, 20.0), ("gbit", 0.5, 50.0), ("sibling", 0.5, 1.0), ("cores", 4, 16), ("straggler_factor", 4.0, 1.0)],
)
def test_what_costs_less_is_not_slower(simulate, mode, name, worse, better):
    job = simulate.Job(servers=3, workers=9, mode=mode, batches=15, geo_k=5, rows=10_000, workers_per_machine=3, stragglers=0.2)
    slow, fast = (simulate.simulate(dataclasses.replace(job, **{name: value})).samples_per_second for value in (worse, better))
    assert fast > 0.98 * slow


def test_a_seed_gives_the_same_numbers(simulate):
    job = simulate.Job(servers=3, workers=7, scatter=0.5, rows=10_000)
    first, again = simulate.simulate(job), simulate.simulate(job)
    assert first.samples_per_second == again.samples_per_second
    assert simulate.simulate(dataclasses.replace(job, seed=2)).samples_per_second != first.samples_per_second


# 1 thread alone; two on one core; more than there are.
def test_threads_of_one_core_slow_each_other(simulate):
    assert simulate.contention(1, 2, 0.6) == 1
    assert simulate.contention(2, 2, 0.6) == pytest.approx(1 / 0.6)
    assert simulate.contention(4, 2, 0.6) == pytest.approx(2 / 0.6)


def test_frequent_rows_are_counted_once(simulate):
    job = ideal(simulate, zipf=1.0)
    of_frequency = simulate.frequencies(job)
    assert of_frequency.sum() == pytest.approx(1)
    assert simulate.different_rows(of_frequency, 1) == pytest.approx(1)
    assert simulate.different_rows(of_frequency, 1000) < simulate.different_rows(simulate.frequencies(ideal(simulate)), 1000) < 1000


# What the page says of the simulation beside what was measured: calibrated by the first row, it is right within a tenth.
def test_the_measured_jobs_come_out(simulate, capsys):
    simulate.main(["--check"])
    lines = capsys.readouterr().out.splitlines()[1:]
    assert len(lines) == len(simulate.MEASURED)
    for line in lines:
        assert abs(float(line.split()[-1].rstrip("%"))) < 10, line


def test_a_shape_that_is_none_is_refused(simulate, capsys):
    with pytest.raises(SystemExit):
        simulate.main(["--shape", "8"])
    assert "'8' is not SERVERSxWORKERS" in capsys.readouterr().err
