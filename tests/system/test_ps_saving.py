"""What jobs save and load: whole models, models of a single machine, of geo workers, snapshots."""

import numpy as np
import pytest

from ps_scripts import JOB, NETWORK, STEPS


# What a worker saves is what the servers hold, rows that nobody touched included, and it opens on one machine.
def test_saved_models_are_whole(job):
    job.write(
        "train.py",
        JOB
        + STEPS
        + """
if fleet.is_first_worker():
    fleet.save_persistables(exe, 'fleet')
    fluid.io.save_persistables(exe, 'fluid')
    fleet.save_inference_model(exe, 'model', ['x', 'ids'], [guess])
    fluid.save(fluid.default_main_program(), 'state/all')
    table = np.asarray(fluid.global_scope().find_var('table').get_tensor())
    moment = np.asarray(fluid.global_scope().find_var('table_moment1_0').get_tensor())
    np.savez('seen.npz', table=table, moment=moment, w=np.asarray(fluid.global_scope().find_var('w').get_tensor()))
    np.save('guess.npy', exe.run(fluid.default_main_program().clone(for_test=True), feed=batch(1), fetch_list=[guess])[0])
fleet.stop_worker()
""",
    )
    job.launch("train.py", workers=1)
    names = sorted(file.name for file in (job.folder / "fleet").iterdir())
    assert names == sorted(file.name for file in (job.folder / "fluid").iterdir())
    assert {"w", "b", "table", "w_moment1_0", "table_moment2_0", "w_beta1_pow_acc_0"} <= set(names)
    for name in names:
        assert (job.folder / "fleet" / name).read_bytes() == (job.folder / "fluid" / name).read_bytes(), name
    job.write(
        "single.py",
        NETWORK
        + """
exe = fluid.Executor(fluid.CPUPlace())
fluid.optimizer.Adam(0.05).minimize(loss)
exe.run(fluid.default_startup_program())
seen = np.load('seen.npz')
for load in (lambda: fluid.io.load_persistables(exe, 'fleet'), lambda: fluid.load(fluid.default_main_program(), 'state/all')):
    load()
    for name, value in (('table', 'table'), ('table_moment1_0', 'moment'), ('w', 'w')):
        assert (np.asarray(fluid.global_scope().find_var(name).get_tensor()) == seen[value]).all(), name
assert seen['table'].shape == (20, 3) and (seen['table'][15:] != 0).all() and (seen['moment'][15:] == 0).all()
program, feeds, targets = fluid.io.load_inference_model('model', exe)
values = {name: batch(1)[name] for name in feeds}
np.testing.assert_allclose(exe.run(program, feed=values, fetch_list=targets)[0], np.load('guess.npy'), rtol=1e-5)
print('the same')
""",
    )
    assert "the same" in job.end(job.python("single.py"))


# A single machine's model starts a job, by init_server, by load_persistables, and by values that a script sets.
@pytest.mark.parametrize("way", ["init_server", "load_persistables", "set"])
def test_a_job_goes_on_from_a_single_machine(job, way):
    job.write(
        "single.py",
        NETWORK
        + """
fluid.optimizer.Adam(0.05).minimize(loss)
exe = fluid.Executor(fluid.CPUPlace())
exe.run(fluid.default_startup_program())
for i in range(5): exe.run(fluid.default_main_program(), feed=batch(i))
fluid.io.save_persistables(exe, 'single')
values = {name: np.asarray(fluid.global_scope().find_var(name).get_tensor()) for name in ('table', 'w', 'b')}
np.savez('single.npz', **values)
""",
    )
    job.end(job.python("single.py"))
    load = {
        "init_server": "",
        "load_persistables": "print(fleet.load_persistables(exe, 'single')['unused'])",
        "set": "for name, value in np.load('single.npz').items(): fluid.global_scope().find_var(name).get_tensor().set(value, fluid.CPUPlace())",
    }
    server = "fleet.init_server('single')\n    fleet.run_server()" if way == "init_server" else "fleet.run_server()"
    job.write(
        "train.py",
        JOB.replace("fleet.run_server()", server)
        + load[way]
        + """
fleet.save_persistables(exe, 'again')
fleet.stop_worker()
""",
    )
    job.launch("train.py", workers=1)
    for name in ("table", "w", "b") if way == "set" else [file.name for file in (job.folder / "single").iterdir() if "learning_rate" not in file.name]:
        assert (job.folder / "single" / name).read_bytes() == (job.folder / "again" / name).read_bytes(), name


def geo_job(optimizer):
    head = (
        "from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler.distributed_strategy import StrategyFactory\n"
        f"fleet.distributed_optimizer(fluid.optimizer.{optimizer}, StrategyFactory.create_geo_strategy(2)).minimize(loss)"
    )
    return JOB.replace("fleet.distributed_optimizer(fluid.optimizer.Adam(0.05)).minimize(loss)", head)


# Adam's moments are in a geo worker's copy: alone it trains as one machine does, and what is saved has parameters only, which a job and a
# machine with moments of its own load.
def test_geo_trains_by_any_optimizer_and_saves_no_state_of_it(job):
    steps = "np.save('%s.npy', [float(exe.run(feed=batch(i), fetch_list=[loss])[0]) for i in range(20)])\n"
    save = "fleet.barrier_worker()\nfleet.save_persistables(exe, 'geo')\nfluid.io.save_persistables(exe, 'all', filename='one')\n"
    job.write("geo.py", geo_job("Adam(0.05)") + "fluid.io.save_persistables(exe, 'first')\n" + steps % "geo" + save + "fleet.stop_worker()\n")
    single = NETWORK + "exe = fluid.Executor(fluid.CPUPlace())\nfluid.optimizer.Adam(0.05).minimize(loss)\nexe.run(fluid.default_startup_program())\n"
    load = "fluid.io.load_vars(exe, sys.argv[1], vars=[v for v in fluid.default_main_program().all_parameters()])\n"
    job.write("single.py", single + load + steps % "single" + "fluid.io.save_params(exe, 'single')\n")
    again = geo_job("Adam(0.05)").replace("fleet.run_server()", "fleet.init_server(sys.argv[1]); fleet.run_server()")
    job.write("again.py", again + "fleet.save_persistables(exe, 'again')\nfleet.stop_worker()\n")
    job.launch("geo.py", workers=1)
    job.end(job.python("single.py", "first"))
    np.testing.assert_allclose(np.load(job.folder / "geo.npy"), np.load(job.folder / "single.npy"), rtol=1e-5)
    assert {file.name for file in (job.folder / "geo").iterdir() if not file.name.startswith("__")} >= {"table", "w", "b"}
    assert not [file.name for file in (job.folder / "geo").iterdir() if "moment" in file.name or "pow_acc" in file.name]
    job.launch("again.py", "geo", workers=1)
    for name in ("table", "w", "b"):
        assert (job.folder / "geo" / name).read_bytes() == (job.folder / "again" / name).read_bytes(), name


def test_what_geo_workers_load_is_what_they_train_and_save(job):
    """Two workers, of which the first loads a model; with rate 0 the servers still hold it after several exchanges. With another rate what
    is saved is what the servers hold, and not the worker's copy."""
    script = geo_job("SGD(0.1)")
    job.write(
        "first.py",
        script + "fleet.barrier_worker()\nif fleet.is_first_worker(): fleet.save_persistables(exe, 'first')\nfleet.barrier_worker()\nfleet.stop_worker()\n",
    )
    job.write(
        "second.py",
        script
        + """
if fleet.is_first_worker(): fleet.load_persistables(exe, 'first')
fleet.set_learning_rate(float(sys.argv[1]))  # the loaded model has one, too
fleet.barrier_worker()
for i in range(8): exe.run(feed=batch(i))
fleet.barrier_worker()
if fleet.is_first_worker():
    fleet.save_persistables(exe, sys.argv[2])
    fleet.save_snapshot(os.path.abspath('snapshot'))
fleet.barrier_worker()
fleet.stop_worker()
""",
    )
    job.write(
        "third.py",
        script + "if fleet.is_first_worker(): fleet.load_snapshot(os.path.abspath('snapshot'))\nfleet.barrier_worker()\n"
        "if fleet.is_first_worker(): fleet.save_persistables(exe, 'third')\nfleet.barrier_worker()\nfleet.stop_worker()\n",
    )
    job.launch("first.py", servers=1)
    job.launch("second.py", 0.0, "kept", servers=1)
    job.launch("second.py", 0.1, "trained", servers=1)
    job.launch("third.py", servers=1)
    for name in ("table", "w", "b"):
        first, kept, trained, third = ((job.folder / folder / name).read_bytes() for folder in ("first", "kept", "trained", "third"))
        assert first == kept != trained == third, name


def test_a_snapshot_of_two_servers_opens_on_three(job):
    tail = "fleet.save_persistables(exe, '%s')\nfleet.stop_worker()\n"
    job.write("first.py", JOB + STEPS + "fleet.save_snapshot(os.path.abspath('snapshot'))\n" + tail % "first")
    job.write("second.py", JOB + "fleet.load_snapshot(os.path.abspath('snapshot'))\n" + tail % "second")
    job.launch("first.py", workers=1)
    job.launch("second.py", workers=1, servers=3)
    for file in (job.folder / "first").iterdir():
        if "learning_rate" not in file.name and file.name != "__ledger__":  # of each run its own
            assert file.read_bytes() == (job.folder / "second" / file.name).read_bytes(), file.name
