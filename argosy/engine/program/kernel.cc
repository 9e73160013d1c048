#include "argosy/engine/program/kernel.h"

#include <functional>
#include <map>

namespace argosy::engine {
namespace {

std::map<std::string, KernelInfo, std::less<>>& kernels() {
  static auto& map = *new std::map<std::string, KernelInfo, std::less<>>;
  return map;
}

}  // namespace

const KernelInfo* find_kernel(std::string_view type) {
  const auto found = kernels().find(type);
  return found == kernels().end() ? nullptr : &found->second;
}

KernelInfo& kernel_entry(const std::string& type) { return kernels()[type]; }

}  // namespace argosy::engine
