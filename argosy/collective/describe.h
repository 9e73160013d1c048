#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace argosy::collective {

std::string describe(const at::Tensor& tensor);  // "Float [3, 4]", "Long [2] sparse"

}  // namespace argosy::collective
