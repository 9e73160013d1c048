"""Manifests of `fleetrun --to_kubernetes`: what they say holds the published schemas (check_manifests.py), and their processes run as a job."""

import json
import pathlib
import signal
import subprocess
import sys

import pytest

import pods
import ray_job
from ps_job import until

STEPS, PACE = 90, 30
JOB = """
program: [train.py, {folder}, {steps}, {pace}, {kills}]
server_num: 2
worker_num: 2
max_restart: 3
directory: {folder}/kept
kubernetes:
  image: registry.example/ctr:7
  name: ctr
  namespace: training
  volume_claim: shared
  server: {{cpu: 2, memory: 4Gi}}
  worker: {{cpu: 4, memory: 8Gi, gpu: 1}}
"""
SECRETS = {"ctr-token": {"token": "of this job"}}


@pytest.fixture
def manifest(job):
    job.write("train.py", ray_job.SCRIPT)

    def made(kind, kills=0):
        job.write("job.yaml", JOB.format(folder=job.folder, steps=STEPS, pace=PACE, kills=kills))
        text = job.end(job.start("fleetrun", f"--to_kubernetes={kind}", "job.yaml"))
        return pods.documents(text)

    return made


@pytest.fixture
def calm(job, manifest):
    (job.folder / "calm").mkdir()
    job.end(job.fleetrun("train.py", job.folder / "calm", STEPS, PACE, 0))
    return ray_job.saved(job.folder / "calm")


def finished(job):
    return (job.folder / "ledger.json").exists()


def end_of(job, running, workers):
    """Workers and servers end by themselves, and well."""
    for name in workers:
        job.end(running[name])
    for name, process in running.items():
        assert process.wait(60) == 0, name


# A server's pod is lost and comes back with another address: its name is looked up again.
def test_the_processes_of_a_jobset_are_a_job(job, manifest, calm):
    found = manifest("jobset", kills=1)
    spec = found["JobSet"]["spec"]
    watched = ray_job.Watched(job.folder, "")
    with pods.Network() as network:
        started = pods.Pods(job, network, SECRETS)
        servers = pods.start_jobset(started, spec, "ctr", ["server-0", "server-1"])
        container = spec["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]
        for inside in servers.values():  # dependsOn: Ready
            until(lambda: started.read(inside, container, "readinessProbe"), "the servers are not ready")
            assert started.read(inside, container, "livenessProbe")
        workers = pods.start_jobset(started, spec, "ctr", ["worker-0", "worker-1"])
        of_worker = spec["replicatedJobs"][1]["template"]["spec"]["template"]["spec"]["containers"][0]
        for inside in workers.values():
            until(lambda: started.read(inside, of_worker, "readinessProbe"), "the workers are not ready")
            assert of_worker["readinessProbe"]["httpGet"]["path"] == "/readyz"
        until(
            lambda: watched.furthest() >= 2 * PACE, lambda: "no progress: " + "".join(p.stdout.read() for p in started.running.values() if p.poll() is not None)
        )
        lost = started.running["server-1"]
        subprocess.run(["pkill", "-9", "-s", str(lost.pid)], check=True)  # its session: all of the pod
        lost.wait()
        (job.folder / "killed-1").touch()
        pods.start_jobset(started, spec, "ctr", ["server-1"])
        until(lambda: finished(job), "the end of the job")
        end_of(job, started.running, ["worker-0", "worker-1"])
    assert ray_job.saved(job.folder) == calm
    assert json.loads((job.folder / "ledger.json").read_text())["passes"][0]["text"] == f"{2 * STEPS} runs, {2 * STEPS} applied once, 0 lost"


def test_a_trainjobs_runtime_is_the_same_job(job, manifest):
    found = manifest("trainer")
    runtime, run, plain = found["ClusterTrainingRuntime"], found["TrainJob"], manifest("jobset")["JobSet"]
    assert run["spec"]["runtimeRef"]["name"] == runtime["metadata"]["name"]
    assert run["spec"]["trainer"]["numNodes"] == runtime["spec"]["mlPolicy"]["numNodes"] == 2
    spec = runtime["spec"]["template"]["spec"]
    worker = spec["replicatedJobs"][1]
    assert worker["template"]["metadata"]["labels"] == {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    assert worker["template"]["spec"]["template"]["spec"]["containers"][0]["name"] == "node"
    del worker["template"]["metadata"]
    worker["template"]["spec"]["template"]["spec"]["containers"][0]["name"] = "worker"
    assert spec == plain["spec"]


# As controllers/paddlejob_helper.go of paddle-operator makes pods with intranet: Service. Its port is 2379.
def test_the_processes_of_a_paddlejob_are_a_job(job, manifest, calm):
    spec = manifest("paddlejob")["PaddleJob"]["spec"]
    names = {role: [f"ctr-{role}-{index}" for index in range(spec[role]["replicas"])] for role in ("ps", "worker")}
    config = {
        "TRAINER_PORTS_NUM": "20",
        "PADDLE_PORT": "2379",
        "PADDLE_PSERVERS_IP_PORT_LIST": ",".join(f"{name}:2379" for name in names["ps"]),
        "PADDLE_TRAINER_ENDPOINTS": ",".join(f"{name}:2379" for name in names["worker"]),
        "PADDLE_TRAINERS": ",".join(names["worker"]),
        "PADDLE_TRAINERS_NUM": str(len(names["worker"])),
    }
    with pods.Network() as network:
        started = pods.Pods(job, network, SECRETS)
        for role, training_role in (("ps", "PSERVER"), ("worker", "TRAINER")):
            for index, name in enumerate(names[role]):
                own = {"POD_IP": name, "PADDLE_TRAINER_ID": str(index), "TRAINING_ROLE": training_role, "PADDLE_TRAINING_ROLE": training_role}
                started.start(name, name, spec[role]["template"]["spec"], {}, {**config, **own, "ARGOSY_PYTHON": sys.executable})
        until(lambda: finished(job), "the end of the job")
        end_of(job, started.running, names["worker"])
    assert ray_job.saved(job.folder) == calm


def test_a_pod_that_is_asked_to_end_does_so_in_its_grace(job, manifest):
    spec = manifest("jobset")["JobSet"]["spec"]
    with pods.Network() as network:
        started = pods.Pods(job, network, SECRETS)
        inside = pods.start_jobset(started, spec, "ctr", ["server-0"])["server-0"]
        pod = spec["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
        until(lambda: started.read(inside, pod["containers"][0], "readinessProbe"), "the server is not ready")
        started.running["server-0"].send_signal(signal.SIGTERM)
        assert started.running["server-0"].wait(pod["terminationGracePeriodSeconds"]) == 0


def test_manifests_hold_the_published_schemas():
    done = subprocess.run([pathlib.Path(__file__).with_name("manifests.sh")], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout


def test_what_cannot_be_is_refused(job):
    job.write("good.yaml", "program: train.py\nserver_num: 1\nkubernetes: {image: x}\n")
    job.write("job.yaml", "program: train.py\nserver_num: 1\nkubernetes: {imgae: x}\n")
    out = job.end(job.start("fleetrun", "--to_kubernetes=jobset", "job.yaml"), 2)
    assert "there is no key 'imgae'; did you mean 'image'?" in out
    assert "expected jobset, trainer or paddlejob" in job.end(job.start("fleetrun", "--to_kubernetes=helm", "good.yaml"), 2)
