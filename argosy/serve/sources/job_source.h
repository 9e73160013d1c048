#pragma once

#include <memory>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/serve/predict/parameter_source.h"

namespace argosy::serve {

struct JobSourceOptions {
  // Of all servers of a job, or of a follower of each, in any order: "host:port", or "host:port+host:port" of a server with two
  // processes (replicas=1), of which the one that leads is read.
  std::vector<std::string> endpoints;
  std::string token = {};              // of the job; empty: ARGOSY_TOKEN. TLS files are those of the environment (ARGOSY_TLS…)
  double connect_seconds = 60;  // for an endpoint that is away when the predictor is opened, or a follower that has not caught up
  double wait_seconds = 2;  // the same, later: the deadline of a read
};

// The tables of a running job as a predictor's parameters, from its servers or from followers of them (docs/followers.md). An
// endpoint that goes away fails the reads of its rows by the deadline; when it is back, reads go on. One that comes back as
// another run's is refused by name.
Result<std::shared_ptr<ParameterSource>> connect_job_source(const JobSourceOptions& options);

// Whether an endpoint is written as one of these.
Status check_job_endpoint(const std::string& endpoint);

}  // namespace argosy::serve
