#pragma once

#include <string>

#include "argosy/base/status.h"
#include "argosy/launch/kubernetes/kubernetes_job.h"

// A job with parameter servers as what Kubernetes is given, in YAML. Nothing of a cluster is asked or changed: `kubectl apply -f`
// does that with the text.
namespace argosy::launch {

// "jobset": a JobSet. "trainer": Kubeflow Trainer v2's ClusterTrainingRuntime and a TrainJob of it. "paddlejob":
// paddle-operator's PaddleJob, whose containers run fleetrun in the roles that the operator gives them. With each of them a
// NetworkPolicy; the token comes from a Secret that the text says how to make. Unknown kinds and keys, and values that cannot be,
// are errors that name them.
Result<std::string> kubernetes_manifests(const std::string& kind, const KubernetesJob& job);

}  // namespace argosy::launch
