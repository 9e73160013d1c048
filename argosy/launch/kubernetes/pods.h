#pragma once

#include <map>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/launch/kubernetes/kubernetes_job.h"

namespace argosy::launch {

// The section `kubernetes` of a job file with its defaults, checked.
class KubernetesSection {
 public:
  static Result<KubernetesSection> of(const std::map<std::string, std::string>& given);
  const std::string& operator[](const std::string& key) const { return values_.at(key); }

 private:
  std::map<std::string, std::string> values_;
};

// As a scalar of YAML that is this text, whatever is in it.
std::string yaml_text(const std::string& text);
// The lines of `text`, each `spaces` further in; the first one, which stands behind something, is left alone.
std::string indented(const std::string& text, int spaces);

// The PodSpec of one role, "server" or "worker", from its first column on. Its container is named `container`, runs `command`,
// and has `variables` (a name, and the text of YAML behind it: "value: x") besides those of the job. `restart`: its restart
// policy.
struct Pod {
  std::string role, container, restart;
  std::vector<std::string> command;
  std::string port;  // that it is reached at; empty: none, or the controller says it
  std::vector<std::pair<std::string, std::string>> variables;
};
std::string pod_spec(const Pod& pod, const KubernetesJob& job, const KubernetesSection& section);

}  // namespace argosy::launch
