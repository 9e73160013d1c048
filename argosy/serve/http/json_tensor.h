#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/serve/predict/predictor.h"

namespace argosy::serve {

// A request for predictions, as KServe's v1 protocol and TensorFlow Serving have it:
//   {"instances": [{"x": [1, 2, 3], "ids": [4, 9]}, …]}     sample by sample; with one input also [[1, 2, 3], …]
//   {"inputs": {"x": [[1, 2, 3], …], "ids": [[4, 9], …]}}   input by input; with one input also [[1, 2, 3], …]
// A sequence is a list of its elements. Where a sample, or an element of a sequence, is one number, it may stand without a list.
struct PredictRequest {
  Inputs inputs;
  bool by_sample = true;  // "instances"
};

// The request in `body`, in the element types of the model's inputs. Errors name the input, the sample and what is wrong.
Result<PredictRequest> parse_request(std::string_view body, const std::vector<TensorInfo>& inputs);

// The answer to it: {"predictions": [...]} by sample, {"outputs": ...} by output; the name of a model's only output is left out.
// A number that is not finite becomes null. An output that has no value for each sample cannot be given by sample: an error.
Result<std::string> format_answer(const std::vector<TensorInfo>& infos, const std::vector<Tensor>& outputs, bool by_sample);

// An answer by output read back: the values of each output, for the other side of a comparison.
struct OutputValues {
  std::string name;            // empty: the model's only output
  std::vector<double> values;  // flat; NaN for null
};
Result<std::vector<OutputValues>> parse_answer(std::string_view body);

// The samples' names that stand beside a request, {"ids": ["part-0:1", 7, …]}; empty where there are none.
std::vector<std::string> parse_ids(std::string_view body);

// `inputs` as a request by input.
std::string format_request(const std::vector<TensorInfo>& infos, const Inputs& inputs);

std::string json_string(std::string_view text);  // quoted; bytes that are no UTF-8 are replaced

}  // namespace argosy::serve
