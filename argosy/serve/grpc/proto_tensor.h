#pragma once

#include <string>

#include "argosy/base/status.h"
#include "argosy/serve/predict/predictor.h"

namespace argosy::serve {

namespace v1 {
class PredictRequest;
class Tensor;
class TensorInfo;
}  // namespace v1

// The inputs of a request, whose bytes they take over. Errors name the input; whether the model takes them, check_inputs() says.
Result<Inputs> take_inputs(v1::PredictRequest& request);

void write_tensor(const std::string& name, const Tensor& tensor, v1::Tensor& to);
void write_info(const TensorInfo& info, v1::TensorInfo& to);

}  // namespace argosy::serve
