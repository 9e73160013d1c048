#pragma once

#include <map>
#include <string>
#include <vector>

namespace argosy::launch {

// What the manifests are made of. A plain value.
struct KubernetesJob {
  int servers = 2, workers = 2;
  int max_restarts = 0;                            // of each role's pods
  std::vector<std::string> program;                // of a worker: its container's command
  std::map<std::string, std::string> environment;  // of every container, ARGOSY_* settings among it
  // The section `kubernetes` of a job file: `image` must be there; docs/kubernetes.md has all keys with their defaults.
  std::map<std::string, std::string> section;
};

}  // namespace argosy::launch
