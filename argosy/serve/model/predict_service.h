#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/serve/model/batcher.h"
#include "argosy/serve/model/counters.h"
#include "argosy/serve/model/serve_limits.h"
#include "argosy/serve/model/served_model.h"

namespace argosy::serve {

struct Prediction {
  std::shared_ptr<const ServedVersion> version;  // that the outputs are of
  std::vector<Tensor> outputs;
};

// A served model as every protocol asks it: its name, whether it is ready, and what happens to a request between its bytes and
// its answer's. A protocol adds how a request and an answer are written, and nothing else.
//
// Thread-safe. REQUIRES: what it is given outlives it.
class PredictService {
 public:
  PredictService(std::string name, const ServeLimits& limits, const ServedModel& model, Batcher& batcher,
                 ServeCounters& counters);

  const std::string& name() const { return name_; }
  const ServeLimits& limits() const { return limits_; }
  const ServedModel& model() const { return model_; }
  ServeCounters& counters() { return counters_; }

  Status check_name(const std::string& asked) const;  // not_found, with the name of the model that is served

  // Whether predictions can be expected: unavailable once close() was called, and while the source of the parameters is away.
  Status ready() const;
  void close() { closed_ = true; }

  // Makes the inputs by `parse` for the version that serves now, checks them, and predicts, in a batch with others. `wait` is the
  // caller's patience, where it said; the limit's deadline holds in any case.
  using Parse = std::function<Result<Inputs>(const ServedVersion&)>;
  Result<Prediction> predict(std::optional<std::chrono::nanoseconds> wait, const Parse& parse);

 private:
  const std::string name_;
  const ServeLimits limits_;
  const ServedModel& model_;
  Batcher& batcher_;
  ServeCounters& counters_;
  std::atomic<bool> closed_ = false;
};

}  // namespace argosy::serve
