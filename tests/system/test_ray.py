"""Jobs on Ray: argosy.ray.Trainer, argosy.ray.launch, and what a user is told who gives them something that cannot work.

check_ray_faults.py, of `make nightly PART=ray`, kills every role, and measures.
"""

import json
import pathlib
import re

import pytest

import ray_job
from ps_job import until

STEPS, PACE = 150, 30
REPORTED = re.compile(r"metrics (\{.*\}) checkpoint (\S+)")


@pytest.fixture(scope="module")
def address():
    with ray_job.cluster() as made:
        yield made.address


def calm(job):
    """The parameters of an undisturbed run under fleetrun."""
    folder = job.folder / "calm"
    folder.mkdir()
    job.write("calm.py", ray_job.SCRIPT)
    job.end(job.fleetrun("calm.py", folder, STEPS, PACE, 0))
    return ray_job.saved(folder)


# The whole of it: two servers and two workers, of which a server's process, the actor of the other one, and a worker are killed.
def test_a_job_on_ray_gives_the_bits_of_a_calm_one(job, address):
    expected = calm(job)
    job.write("driver.py", ray_job.DRIVER)
    driver = job.python("driver.py", job.folder, STEPS, PACE, 3, 3, RAY_ADDRESS=address)
    watched = ray_job.Watched(job.folder, f"test {driver.pid}")
    for number, victim in enumerate(("server 0", "actor 1", "worker 0"), 1):
        watched.kill(victim, number, PACE, driver)
    out = job.end(driver)
    assert ray_job.saved(job.folder) == expected
    ledger = json.loads((job.folder / "ledger.json").read_text())
    assert [(one["batches"], one["text"]) for one in ledger["passes"]] == [(2 * STEPS, f"{2 * STEPS} runs, {2 * STEPS} applied once, 0 lost")]
    metrics, checkpoint = REPORTED.search(out).groups()
    assert json.loads(metrics)["steps"] == STEPS
    assert {file.name for file in (ray_job.pathlib.Path(checkpoint)).iterdir()} >= set(expected)
    until(lambda: not ray_job.left_over(watched.job_name), lambda: f"still runs: {ray_job.left_over(watched.job_name)}", 20)
    assert not list((job.folder / "ray").glob("argosy-servers-*")), "the servers' folder is left behind"
    until(lambda: not ray_job.left_in(address), lambda: f"Ray still has: {ray_job.left_in(address)}", 20)


def test_a_program_runs_as_it_stands(job, address):
    job.write("train.py", ray_job.SCRIPT)
    expected = calm(job)
    words = ["-m", "argosy.ray", "--server_num=2", "--worker_num=2", "train.py", job.folder, STEPS, PACE, 0]
    out = job.end(job.python(*words, RAY_ADDRESS=address))
    assert ray_job.saved(job.folder) == expected
    assert "worker 0: seconds" in out


def test_a_cpp_program_runs_as_it_stands(job, address, build):
    words = ["-m", "argosy.ray", "--server_num=1", "--worker_num=2", "--no_python", build / "examples" / "mlp_fleet"]
    job.end(job.python(*words, RAY_ADDRESS=address))


def test_a_killed_driver_leaves_nothing(job, address):
    job.write("train.py", ray_job.SCRIPT)
    words = ["-m", "argosy.ray", "--server_num=2", "--worker_num=2", "--max_restart=3", f"--directory={job.folder}/kept", "train.py"]
    driver = job.python(*words, job.folder, STEPS, PACE, 1, RAY_ADDRESS=address)
    watched = ray_job.Watched(job.folder, str(job.folder))
    until(lambda: watched.furthest() >= PACE or driver.poll() is not None, "no progress")
    assert ray_job.left_over(str(job.folder)), "what is looked for runs while the job does"
    driver.kill()
    driver.wait()
    until(lambda: not ray_job.left_over(str(job.folder)), lambda: f"still runs: {ray_job.left_over(str(job.folder))}", 60)
    until(lambda: not ray_job.left_in(address), lambda: f"Ray still has: {ray_job.left_in(address)}", 20)


def test_a_failure_is_the_jobs(job, address):
    job.write("fails.py", "import os, sys\nif os.environ['PADDLE_TRAINER_ID'] == '1': sys.exit(7)\nimport time\ntime.sleep(600)\n")
    out = job.end(job.python("-m", "argosy.ray", "fails.py", RAY_ADDRESS=address), 1)
    assert "worker 1 has failed: exit status 7, after 0 restarts" in out, out


# An actor's working directory is another one on each node, and its node's own.
def test_a_relative_directory_is_the_drivers(tmp_path, monkeypatch):
    from argosy.ray import trainer

    monkeypatch.chdir(tmp_path)
    for given in ("kept", pathlib.Path("kept"), "./kept/", tmp_path / "kept"):
        assert pathlib.Path(trainer.settings_of({}, given, False)["directory"]) == tmp_path / "kept"
    assert trainer.settings_of({}, "~/kept", False)["directory"] == str(pathlib.Path.home() / "kept")
    for place in ("s3://bucket/kept", "file:///kept", "hdfs:/kept"):
        with pytest.raises(ValueError, match="servers keep their state on disks"):
            trainer.settings_of({}, place, False)


def test_wrong_arguments_are_named():
    import ray.train

    import argosy.ray

    with pytest.raises(TypeError, match="train_fn is None"):
        argosy.ray.Trainer(None)
    with pytest.raises(ValueError, match="num_servers is 0"):
        argosy.ray.Trainer(print, num_servers=0)
    with pytest.raises(ValueError, match="give a directory="):
        argosy.ray.Trainer(print, run_config=ray.train.RunConfig(storage_path="s3://bucket/runs"))
    with pytest.raises(ValueError, match="give it as directory="):
        argosy.ray.Trainer(print, settings={"directory": "/data"})
    with pytest.raises(ValueError, match="directory='s3://bucket/kept'; expected a folder that all nodes see"):
        argosy.ray.Trainer(print, directory="s3://bucket/kept")
    with pytest.raises(ValueError, match="on_rank_loss='survive', which is for collective jobs"):
        argosy.ray.Trainer(print, settings={"on_rank_loss": "survive"})
    with pytest.raises(ValueError, match="on Ray each server is one process"):
        argosy.ray.Trainer(print, settings={"replicas": 1})
    with pytest.raises(KeyError, match="this worker has no dataset 'train'"):
        argosy.ray.get_dataset_shard("train")
