#pragma once

#include <memory>
#include <string>

#include "argosy/base/status.h"
#include "argosy/serve/predict/parameter_source.h"

namespace argosy::serve {

struct RedisSourceOptions {
  std::string redis;        // "host:port"
  std::string name;         // that argosy publish was given, or the job's
  double wait_seconds = 2;  // the deadline of a read
};

// What `argosy publish` has put into Redis as a predictor's parameters. Each read is of one version. Rows that were not published
// are read as the values that they would begin with.
Result<std::shared_ptr<ParameterSource>> connect_redis_source(const RedisSourceOptions& options);

// The same by "redis://host:port/NAME".
Result<RedisSourceOptions> parse_redis_url(const std::string& url);

}  // namespace argosy::serve
