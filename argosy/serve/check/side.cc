#include "argosy/serve/check/side.h"

#include <fmt/format.h>

#include <algorithm>

#include "argosy/base/file.h"
#include "argosy/serve/model/served_version.h"

namespace argosy::serve {
namespace {

template <typename T>
void append(const Tensor& tensor, std::vector<double>& out) {
  for (const T value : tensor.values<T>()) out.push_back(static_cast<double>(value));
}

Result<OutputValues> values_of(const std::string& name, const Tensor& tensor) {
  OutputValues found{.name = name, .values = {}};
  switch (tensor.dtype) {
    case graph::DType::float32: append<float>(tensor, found.values); return found;
    case graph::DType::float64: append<double>(tensor, found.values); return found;
    case graph::DType::int64: append<int64_t>(tensor, found.values); return found;
    case graph::DType::int32: append<int32_t>(tensor, found.values); return found;
    case graph::DType::int8: append<int8_t>(tensor, found.values); return found;
    case graph::DType::uint8: append<uint8_t>(tensor, found.values); return found;
    case graph::DType::boolean: append<bool>(tensor, found.values); return found;
    default: return Status::unimplemented("output '{}' is {}, which cannot be compared", name, graph::dtype_name(tensor.dtype));
  }
}

Result<std::vector<OutputValues>> run_model(const Predictor& predictor, const Inputs& inputs) {
  ASSIGN_OR_RETURN(const auto outputs, predictor.run(inputs));
  std::vector<OutputValues> found;
  for (size_t i = 0; i < outputs.size(); ++i) {
    ASSIGN_OR_RETURN(found.emplace_back(), values_of(predictor.outputs()[i].name, outputs[i]));
  }
  return found;
}

}  // namespace

Result<Side> open_model(const std::string& path, const PredictorOptions& options) {
  ASSIGN_OR_RETURN(Predictor opened, Predictor::open(std::filesystem::path(path), options));
  const auto predictor = std::make_shared<const Predictor>(std::move(opened));
  Side side{.name = path, .inputs = predictor->inputs(), .outputs = predictor->outputs(), .settings = predictor->options()};
  side.program = &predictor->program();
  side.parameters.emplace();
  ASSIGN_OR_RETURN(const auto parameters, predictor->parameters());
  for (const auto& [name, tensor] : parameters)
    side.parameters->emplace(name, ParameterFacts{.dtype = std::string(graph::dtype_name(tensor.dtype)),
                                                  .shape = tensor.shape,
                                                  .digest = digest_of(tensor),
                                                  .values = tensor});
  side.run = [predictor](const Inputs& inputs) { return run_model(*predictor, inputs); };
  side.predictor = predictor;
  return side;
}

Result<Side> open_recorded(const std::string& file, const Side& model) {
  ASSIGN_OR_RETURN(const std::string text, read_file(file));
  ASSIGN_OR_RETURN(PredictRequest request, parse_request(text, model.inputs));
  ASSIGN_OR_RETURN(const auto answer, parse_answer(text));
  Side side{.name = file, .inputs = model.inputs};
  for (size_t i = 0; i < answer.size(); ++i) side.outputs.push_back({.name = answer[i].name, .shape = {}});
  side.samples = std::move(request.inputs);
  side.ids = parse_ids(text);
  side.run = [answer](const Inputs&) -> Result<std::vector<OutputValues>> { return answer; };
  return side;
}

}  // namespace argosy::serve
