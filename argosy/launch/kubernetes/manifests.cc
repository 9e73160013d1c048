#include "argosy/launch/kubernetes/manifests.h"

#include <fmt/format.h>

#include "argosy/base/text.h"
#include "argosy/launch/kubernetes/pods.h"

namespace argosy::launch {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

std::string field(const std::string& path) { return fmt::format("valueFrom:\n    fieldRef:\n      fieldPath: {}", path); }

// The names of the servers' pods, which a JobSet's service keeps whatever address a pod has. The JobSet's own name is not known
// before it is made: a TrainJob names its JobSet after itself.
std::string server_names(const KubernetesJob& job, const KubernetesSection& section) {
  std::vector<std::string> names;
  for (int i = 0; i < job.servers; ++i)
    names.push_back(fmt::format("$(JOBSET_NAME)-server-0-{}.$(JOBSET_NAME):{}", i, section["port"]));
  return join(names, ",");
}

Variables role_variables(const std::string& role, const KubernetesJob& job, const KubernetesSection& section) {
  const bool server = role == "server";
  const std::string index = field("metadata.annotations['batch.kubernetes.io/job-completion-index']");
  return {{"JOBSET_NAME", field("metadata.labels['jobset.sigs.k8s.io/jobset-name']")},
          {server ? "PADDLE_PSERVER_ID" : "PADDLE_TRAINER_ID", index},
          {"TRAINING_ROLE", server ? "value: PSERVER" : "value: TRAINER"},
          {"PADDLE_PSERVERS_IP_PORT_LIST", "value: " + yaml_text(server_names(job, section))},
          {"PADDLE_TRAINERS_NUM", "value: " + yaml_text(std::to_string(job.workers))}};
}

std::vector<std::string> server_command(const KubernetesJob& job, const KubernetesSection& section) {
  return {"argosy-server",
          "--address",
          "0.0.0.0:" + section["port"],
          "--server_index",
          "$(PADDLE_PSERVER_ID)",
          "--servers",
          std::to_string(job.servers),
          "--workers",
          std::to_string(job.workers)};
}

// One replicated job of a JobSet. Pods of an indexed job that fail are made again under their index, so that a role's restart
// leaves the others alone.
std::string replicated_job(const std::string& role, const std::string& container, const std::string& more,
                           const KubernetesJob& job, const KubernetesSection& section) {
  const bool server = role == "server";
  const Pod pod{.role = role,
                .container = container,
                .restart = "Never",
                .command = server ? server_command(job, section) : job.program,
                .port = server ? section["port"] : "",
                .variables = role_variables(role, job, section)};
  const std::string spec = pod_spec(pod, job, section);
  const int count = server ? job.servers : job.workers;
  return fmt::format(
      "- name: {}\n  replicas: 1\n{}  template:\n{}    spec:\n      completionMode: Indexed\n      completions: {}\n      "
      "parallelism: {}\n"
      "      backoffLimitPerIndex: {}\n      template:\n        spec:\n          {}\n",
      role, server ? "" : "  dependsOn:\n  - name: server\n    status: Ready\n", more, count, count, job.max_restarts,
      indented(spec, 10));
}

// Of a job that has failed as a whole, Kubernetes starts that role again, and the others are left alone.
std::string jobset_spec(const std::string& worker_container, const std::string& worker_labels, const KubernetesJob& job,
                        const KubernetesSection& section) {
  return fmt::format(
      "network:\n  enableDNSHostnames: true\n  publishNotReadyAddresses: true\nsuccessPolicy:\n  operator: All\n  "
      "targetReplicatedJobs: "
      "[worker]\nfailurePolicy:\n  maxRestarts: {}\n  rules:\n  - name: restartRole\n    action: "
      "RestartJob\nreplicatedJobs:\n{}{}",
      job.max_restarts, replicated_job("server", "server", "", job, section),
      replicated_job("worker", worker_container, worker_labels, job, section));
}

// Nobody but the job's own pods reaches its servers; anybody of the namespace reads the pages of metrics.
std::string network_policy(const std::string& label, const std::string& value, const KubernetesSection& section) {
  return fmt::format(
      "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: {}\n  namespace: {}\nspec:\n  podSelector:\n    "
      "matchLabels:\n      {}: {}\n  policyTypes: [Ingress]\n  ingress:\n  - from:\n    - podSelector:\n        matchLabels:\n   "
      "       "
      "{}: {}\n  - from:\n    - podSelector: {{}}\n    ports:\n    - port: {}\n",
      section["name"], section["namespace"], label, value, label, value, section["metrics_port"]);
}

std::string head(const std::string& api, const std::string& kind, const KubernetesSection& section, bool in_namespace = true) {
  const std::string space = in_namespace ? fmt::format("\n  namespace: {}", section["namespace"]) : "";
  return fmt::format("apiVersion: {}\nkind: {}\nmetadata:\n  name: {}{}\n", api, kind, section["name"], space);
}

std::string jobset(const KubernetesJob& job, const KubernetesSection& section) {
  return head("jobset.x-k8s.io/v1alpha2", "JobSet", section) + "spec:\n  " +
         indented(jobset_spec("worker", "", job, section), 2) + "\n---\n" +
         network_policy("jobset.sigs.k8s.io/jobset-name", section["name"], section);
}

// A trainer's job has the label by which the controller finds it, and a container of the name that it fills in.
std::string trainer(const KubernetesJob& job, const KubernetesSection& section) {
  const std::string label = "    metadata:\n      labels:\n        trainer.kubeflow.org/trainjob-ancestor-step: trainer\n";
  const std::string runtime = head("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime", section, false) +
                              fmt::format("spec:\n  mlPolicy:\n    numNodes: {}\n  template:\n    spec:\n      {}\n", job.workers,
                                          indented(jobset_spec("node", label, job, section), 6));
  const std::string run =
      head("trainer.kubeflow.org/v1alpha1", "TrainJob", section) +
      fmt::format("spec:\n  runtimeRef:\n    name: {}\n  trainer:\n    numNodes: {}\n", section["name"], job.workers);
  return runtime + "---\n" + run + "---\n" + network_policy("jobset.sigs.k8s.io/jobset-name", section["name"], section);
}

// The operator gives each container its role and the lists, and calls the job failed with the first pod: containers are started
// again where they are. Names of services stay the same where a pod comes back elsewhere.
std::string paddlejob(const KubernetesJob& job, const KubernetesSection& section) {
  const std::string owned = fmt::format("metadata:\n  labels:\n    argosy-job: {}\n", section["name"]);
  const auto role = [&](const char* name, int replicas) {
    std::vector<std::string> command = {"fleetrun"};
    if (job.max_restarts > 0) command.push_back(fmt::format("--max_restart={}", job.max_restarts));
    command.push_back("--no_python");
    command.insert(command.end(), job.program.begin(), job.program.end());
    const Pod pod{.role = name, .container = name, .restart = "OnFailure", .command = command, .port = "", .variables = {}};
    return fmt::format("replicas: {}\ntemplate:\n  {}\n  spec:\n    {}\n", replicas, indented(owned, 2),
                       indented(pod_spec(pod, job, section), 4));
  };
  return head("batch.paddlepaddle.org/v1", "PaddleJob", section) +
         fmt::format("spec:\n  cleanPodPolicy: Never\n  withGloo: 0\n  intranet: Service\n  ps:\n    {}\n  worker:\n    {}\n",
                     indented(role("server", job.servers), 4), indented(role("worker", job.workers), 4)) +
         "---\n" + network_policy("argosy-job", section["name"], section);
}

}  // namespace

Result<std::string> kubernetes_manifests(const std::string& kind, const KubernetesJob& job) {
  ASSIGN_OR_RETURN(const KubernetesSection section, KubernetesSection::of(job.section));
  const std::string secret = fmt::format(
      "# The token by which the job's processes know each other is a secret of its own:\n"
      "#   kubectl -n {} create secret generic {} --from-literal=token=\"$(openssl rand -hex 16)\"\n",
      section["namespace"], section["token_secret"]);
  if (kind == "jobset") return secret + jobset(job, section);
  if (kind == "trainer") return secret + trainer(job, section);
  if (kind == "paddlejob") return secret + paddlejob(job, section);
  return Status::invalid_argument("--to_kubernetes: found '{}', expected jobset, trainer or paddlejob", kind);
}

}  // namespace argosy::launch
