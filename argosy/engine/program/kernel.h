#pragma once

#include <string>
#include <string_view>

namespace argosy::engine {

class OpContext;

// What runs an operator. Kernels are known by the operator's type.
using Kernel = void (*)(const OpContext&);

struct KernelInfo {
  Kernel kernel = nullptr;
  bool differentiable = true;
  bool cpu_only = false;
};

const KernelInfo* find_kernel(std::string_view type);  // null: there is none

// The entry of `type`, made where it is missing. Before main only: see OpRegistration.
KernelInfo& kernel_entry(const std::string& type);

}  // namespace argosy::engine
