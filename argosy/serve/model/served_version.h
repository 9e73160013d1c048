#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/serve/predict/predictor.h"

namespace argosy::serve {

// One version of a model as the server uses it. Immutable once it serves; `run` and `parameters` may be called by any thread.
struct ServedVersion {
  std::string version;  // the number of its folder, or how many were opened so far
  std::vector<TensorInfo> inputs, outputs;
  PredictorOptions options;
  std::function<Result<std::vector<Tensor>>(const Inputs&)> run;
  std::function<Result<std::map<std::string, Tensor>>(uint64_t most_rows_bytes)> parameters;  // Predictor::parameters
  std::function<Status()> ready = [] { return Status(); };  // an error where `run` would fail whatever it is asked
  std::function<std::vector<ParameterSource::Origin>()> origins = [] { return std::vector<ParameterSource::Origin>(); };
};

// A checksum of a tensor's bytes: equal values have equal ones.
uint64_t digest_of(const Tensor& tensor);

}  // namespace argosy::serve
