#include "argosy/engine/train/fetched_value.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

namespace argosy::engine {

Value copy_of(Frame& frame, const std::string& name) {
  Value value = frame.value(frame.program().find_value(name));
  if (value.tensor.defined()) value.tensor = value.tensor.detach().clone();
  return value;
}

Value on_cpu(Value value) {
  if (value.tensor.defined()) value.tensor = value.tensor.cpu();
  return value;
}

std::string value_text(const Value& value) {
  if (!value.tensor.defined()) return "(rows)";
  const at::Tensor flat = value.tensor.cpu().to(at::kDouble).flatten();
  if (flat.numel() == 1) return fmt::format("{:.6f}", flat.item<double>());
  const at::Tensor head = flat.narrow(0, 0, std::min<int64_t>(flat.numel(), 10)).contiguous();
  return fmt::format("{:.6f}{}", fmt::join(std::span(head.const_data_ptr<double>(), static_cast<size_t>(head.numel())), " "),
                     flat.numel() > 10 ? " …" : "");
}

}  // namespace argosy::engine
