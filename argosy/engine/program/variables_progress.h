#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "argosy/base/progress.h"
#include "argosy/graph/var_desc.h"

namespace argosy::engine {

// How far the saving or loading of variables is, by their declared sizes. Thread-compatible.
class VariablesProgress {
 public:
  VariablesProgress(std::string what, const std::vector<const graph::VarDesc*>& variables) : progress_(std::move(what)) {
    for (const graph::VarDesc* variable : variables) all_ += elements_of(*variable);
  }
  // This one is done.
  void add(const graph::VarDesc& variable) {
    done_ += elements_of(variable);
    progress_.set(done_ / all_);
  }

 private:
  static double elements_of(const graph::VarDesc& variable) {
    double elements = 1;
    for (const int64_t size : variable.shape) elements *= static_cast<double>(std::max<int64_t>(size, 1));  // -1: any
    return elements;
  }

  Progress progress_;
  double all_ = 0, done_ = 0;
};

}  // namespace argosy::engine
