"""kill -9 of every role of a job on Ray, of an actor and of a node, in each way that a job is started; what is left behind; how fast it is.

`make nightly PART=ray` runs it, and prints how long each role was away, beside the time that Ray itself took to notice.
"""

import json
import os
import signal
import statistics
import subprocess
import sys
import time

import pytest

import ray_job
from ps_job import until

STEPS, PACE = 90, 30
MEASURED = {}


@pytest.fixture
def address():
    with ray_job.cluster(nodes=3) as made:
        yield made.address


@pytest.fixture(scope="module", autouse=True)
def shown():
    yield
    for what, seconds in MEASURED.items():
        print(f"{what}: {seconds}")


def calm(job):
    folder = job.folder / "calm"
    folder.mkdir()
    job.write("calm.py", ray_job.SCRIPT)
    job.end(job.fleetrun("calm.py", folder, STEPS, PACE, 0))
    return ray_job.saved(folder)


def check(job, expected, job_name):
    assert ray_job.saved(job.folder) == expected
    ledger = json.loads((job.folder / "ledger.json").read_text())
    assert [one["text"] for one in ledger["passes"]] == [f"{2 * STEPS} runs, {2 * STEPS} applied once, 0 lost"]
    until(lambda: not ray_job.left_over(job_name), lambda: f"still runs: {ray_job.left_over(job_name)}", 20)


@pytest.mark.parametrize("victim", ["server 0", "server 1", "actor 0", "actor 1", "worker 0", "worker 1", "node 1"])
def test_trainer(job, address, victim):
    expected = calm(job)
    job.write("driver.py", ray_job.DRIVER)
    driver = job.python("driver.py", job.folder, STEPS, PACE, 1, 3, RAY_ADDRESS=address)
    watched = ray_job.Watched(job.folder, f"test {driver.pid}")
    MEASURED[f"Trainer, {victim} killed: seconds until the job trains on"] = round(watched.kill(victim, 1, PACE, driver), 2)
    job.end(driver)
    check(job, expected, watched.job_name)


# Under launch a worker is an actor with a program in it; the others go on.
@pytest.mark.parametrize("victim", ["server 0", "actor 1", "worker 1", "worker's actor", "node 0"])
def test_launch(job, address, victim):
    expected = calm(job)
    job.write("train.py", ray_job.SCRIPT)
    words = ["-m", "argosy.ray", "--server_num=2", "--worker_num=2", "--max_restart=3", f"--directory={job.folder}/kept"]
    driver = job.python(*words, "train.py", job.folder, STEPS, PACE, 1, RAY_ADDRESS=address)
    watched = ray_job.Watched(job.folder, str(job.folder))
    if victim == "worker's actor":
        watched.pid = lambda _: ray_job.parent_of(watched.told(1)[1])
    MEASURED[f"launch, {victim} killed: seconds until the job trains on"] = round(watched.kill(victim, 1, PACE, driver), 2)
    job.end(driver)
    check(job, expected, str(job.folder))


# The time that Ray takes to notice, of which ours is the rest: a call that is under way at the actor.
def test_rays_own_detection(address):
    code = f"""
import os, signal, time, ray
ray.init(address={address!r}, log_to_driver=False)
@ray.remote(max_restarts=1)
class One:
    def pid(self): return os.getpid()
    def wait(self): time.sleep(600)
one = One.remote()
pid = ray.get(one.pid.remote())
waiting = one.wait.remote()
time.sleep(0.5)
begun = time.monotonic()
os.kill(pid, signal.SIGKILL)
try:
    ray.get(waiting)
except ray.exceptions.RayActorError:
    noticed = time.monotonic() - begun
while True:
    try:
        ray.get(one.pid.remote())
        break
    except ray.exceptions.RayActorError:
        time.sleep(0.02)
print('noticed', noticed, 'back', time.monotonic() - begun)
"""
    words = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True).stdout.splitlines()[-1].split()
    MEASURED["Ray notices a killed actor, and has it back, after seconds"] = [round(float(words[1]), 2), round(float(words[3]), 2)]


def test_a_job_that_fails_for_good_leaves_nothing(job, address):
    job.write("driver.py", ray_job.DRIVER)
    driver = job.python("driver.py", job.folder, STEPS, PACE, 1, 0, RAY_ADDRESS=address)
    watched = ray_job.Watched(job.folder, f"test {driver.pid}")
    until(lambda: watched.furthest() >= 2 * PACE, "no progress")
    begun = time.monotonic()
    os.kill(watched.pid("server 0"), signal.SIGKILL)
    out, _ = driver.communicate(timeout=120)
    assert driver.returncode != 0
    assert "server 0 has ended: killed by signal 9 (SIGKILL), after 0 restarts" in out, out[-3000:]
    MEASURED["Trainer, server killed without restarts: seconds until the job has failed"] = round(time.monotonic() - begun, 2)
    until(lambda: not ray_job.left_over(watched.job_name), "still runs", 20)


def test_it_is_as_fast_as_fleetrun(job, address):
    steps = 1500
    here, there = [], []
    job.write("train.py", ray_job.SCRIPT)
    job.write("driver.py", ray_job.DRIVER)
    for _ in range(3):
        job.end(job.fleetrun(f"--directory={job.folder}/kept", "--fresh", "train.py", job.folder, steps, steps + 1, 0))
        here.append(float(job.log("worker 0").split("seconds ")[1].split()[0]))
        out = job.end(job.python("driver.py", job.folder, steps, steps + 1, 0, 0, RAY_ADDRESS=address))
        there.append(json.loads(out.split("metrics ")[1].split("}")[0] + "}")["seconds"])
    ratio = statistics.median(here) / statistics.median(there)
    MEASURED["samples/s beside fleetrun's"] = round(ratio, 3)
    assert ratio > 0.95 or min(here) / min(there) > 0.95, (here, there)


def test_shards_of_ray_data_become_datasets(job, address):
    job.write(
        "driver.py",
        """
        import sys, json
        def train_fn():
            import argosy.ray, numpy as np, paddle, os
            import paddle.fluid as fluid
            from paddle.fluid.incubate.fleet.base import role_maker
            from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet
            from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler.distributed_strategy import StrategyFactory
            paddle.enable_static()
            fleet.init(role_maker.PaddleCloudRoleMaker())
            ids, x = fluid.layers.data('ids', [1], dtype='int64', lod_level=1), fluid.layers.data('x', [2])
            rows = fluid.layers.sequence_pool(fluid.layers.embedding(ids, [40, 1], is_sparse=True, param_attr=fluid.ParamAttr(
                name='table', initializer=fluid.initializer.Constant(0.0))), 'sum')
            loss = fluid.layers.mean(-fluid.layers.reduce_sum(rows) + 0 * fluid.layers.reduce_sum(x))
            fleet.distributed_optimizer(fluid.optimizer.SGD(1.0), StrategyFactory.create_sync_strategy()).minimize(loss)
            exe = fluid.Executor(fluid.CPUPlace())
            exe.run(fluid.default_startup_program())
            dataset = argosy.ray.dataset_of_shard('train', [ids, x], batch_size=8)
            exe.train_from_dataset(fluid.default_main_program(), dataset)
            argosy.ray.report({'rows': argosy.ray.get_dataset_shard('train').count()})
            fleet.barrier_worker()
            if fleet.worker_index() == 0:
                print('LEDGER', json.dumps(fleet.ledger()['total']), flush=True)
            fleet.stop_worker()

        if __name__ == '__main__':
            import numpy as np, ray, argosy.ray
            from ray.train import RunConfig, ScalingConfig
            ray.init()
            rows = [{'ids': list(range(i % 3 + 1)), 'x': [0.5, float(i)]} for i in range(100)]
            trainer = argosy.ray.Trainer(train_fn, datasets={'train': ray.data.from_items(rows)}, scaling_config=ScalingConfig(num_workers=2),
                run_config=RunConfig(storage_path=sys.argv[1], name='data'))
            print('METRICS', trainer.fit().metrics)
        """,
    )
    out = job.end(job.python("driver.py", job.folder / "ray", RAY_ADDRESS=address))
    assert '"samples_applied": 100' in out and '"samples_lost": 0' in out, out[-3000:]


def test_ray_job_submit(job):
    """With a dashboard, which takes the jobs; the driver runs on the cluster."""
    job.write("train.py", ray_job.SCRIPT)
    env = {**job.env, "RAY_DISABLE_IMPORT_WARNING": "1"}
    folder = job.folder / "out"
    folder.mkdir()
    with ray_job.cluster(nodes=1, dashboard=True) as made:
        words = ["ray", "job", "submit", "--address", f"http://{made.head_node.webui_url}", "--", sys.executable, "-m", "argosy.ray", job.folder / "train.py"]
        out = job.end(job.start(*words, folder, STEPS, PACE, 0, **env))
    assert "succeeded" in out, out[-3000:]
    assert ray_job.saved(folder)
