"""Manifests of `fleetrun --to_kubernetes` against the published schemas: manifests.sh runs it, in an environment that has them."""

import os
import subprocess

import kubernetes_validate
import pytest
import yaml
from kubeflow_trainer_api import models

JOB = """
program: [train.py, --epochs, 3]
server_num: 2
worker_num: 4
max_restart: 3
directory: /data/ctr
kubernetes:
  image: registry.example/ctr:7
  name: ctr
  namespace: training
  volume_claim: shared
  image_pull_policy: IfNotPresent
  server: {cpu: 4, memory: 16Gi}
  worker: {cpu: 8, memory: 16Gi, gpu: 1}
"""
# paddle-operator has no schema package: api/v1/paddlejob_types.go of it, PaddleJobSpec and ResourceSpec. Required is `replicas` of each role.
PADDLEJOB = {"cleanPodPolicy", "intranet", "ps", "withGloo", "worker"}
POD_CLEANING, INTRANETS = {"Always", "Never", "OnFailure", "OnCompletion"}, {"PodIP", "Service", "Host"}
VERSION = "1.37"


@pytest.fixture
def manifest(tmp_path):
    def made(kind, job=JOB):
        (tmp_path / "job.yaml").write_text(job)
        done = subprocess.run([os.environ["FLEETRUN"], f"--to_kubernetes={kind}", tmp_path / "job.yaml"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return {one["kind"]: one for one in yaml.safe_load_all(done.stdout) if one}

    return made


def check(document):
    kubernetes_validate.validate(document, VERSION, strict=True)


def check_whole(model, document):
    """Every field of the document is one of the model's: it comes back as it was."""
    assert model.from_dict(document).to_dict() == document


def check_jobs(jobset_spec):
    for one in jobset_spec["replicatedJobs"]:
        check({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": one["name"]}, "spec": one["template"]["spec"]})


def test_the_checks_find_what_is_wrong(manifest):
    found = manifest("jobset")["JobSet"]
    found["spec"]["replicatedJobs"][0]["template"]["spec"]["completionMod"] = "Indexed"
    with pytest.raises(kubernetes_validate.ValidationError):
        check_jobs(found["spec"])
    found = manifest("jobset")["JobSet"]
    found["spec"]["failurePolicy"]["maxRestart"] = 1
    with pytest.raises(AssertionError):
        check_whole(models.JobsetV1alpha2JobSet, found)


@pytest.mark.parametrize("job", [JOB, "program: ./train\nno_python: true\nserver_num: 1\nworker_num: 1\nkubernetes: {image: a}\n"])
def test_a_jobset(manifest, job):
    found = manifest("jobset", job)
    check(found["NetworkPolicy"])
    check_whole(models.JobsetV1alpha2JobSet, found["JobSet"])
    check_jobs(found["JobSet"]["spec"])


def test_a_trainjob_and_its_runtime(manifest):
    found = manifest("trainer")
    check(found["NetworkPolicy"])
    check_whole(models.TrainerV1alpha1ClusterTrainingRuntime, found["ClusterTrainingRuntime"])
    check_whole(models.TrainerV1alpha1TrainJob, found["TrainJob"])
    check_jobs(found["ClusterTrainingRuntime"]["spec"]["template"]["spec"])


def test_a_paddlejob(manifest):
    found = manifest("paddlejob")
    check(found["NetworkPolicy"])
    spec = found["PaddleJob"]["spec"]
    assert found["PaddleJob"]["apiVersion"] == "batch.paddlepaddle.org/v1"
    assert set(spec) == PADDLEJOB and spec["cleanPodPolicy"] in POD_CLEANING and spec["intranet"] in INTRANETS
    for role in ("ps", "worker"):
        assert set(spec[role]) == {"replicas", "template"}
        check({"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": role}, "template": spec[role]["template"]})
