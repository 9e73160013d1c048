#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/serve/http/json_tensor.h"
#include "argosy/serve/predict/predictor.h"

namespace argosy::serve {

// What is known of a parameter: its values where the side is a model on disk, else a checksum of them.
struct ParameterFacts {
  std::string dtype;
  std::vector<int64_t> shape;
  uint64_t digest = 0;
  std::optional<Tensor> values;
};

// One of two things that should predict the same: a saved model, a served one, or predictions that somebody has recorded. What a
// side cannot show is empty, and is then not compared.
struct Side {
  std::string name;
  std::vector<TensorInfo> inputs = {}, outputs = {};
  std::optional<PredictorOptions> settings = {};
  const graph::Program* program = nullptr;  // owned by `predictor`
  std::optional<std::map<std::string, ParameterFacts>> parameters = {};
  std::optional<Inputs> samples = {};  // of recorded predictions: those that were asked
  std::vector<std::string> ids = {};   // of these samples, where they have some
  std::function<Result<std::vector<OutputValues>>(const Inputs&)> run = {};
  std::shared_ptr<const Predictor> predictor = {};  // of a saved model
};

// A saved model at a path.
Result<Side> open_model(const std::string& path, const PredictorOptions& options);

// A served one: http://host:port/v1/models/NAME.
Result<Side> open_served(const std::string& url);

// A file {"inputs": {…}, "outputs": {…}} with one request and its answer, as by_input requests and answers of json_tensor.h; its
// inputs are those of `model`, which it is compared with.
Result<Side> open_recorded(const std::string& file, const Side& model);

}  // namespace argosy::serve
