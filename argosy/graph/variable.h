#pragma once

#include <memory>
#include <string>
#include <vector>

#include "argosy/graph/program.h"

namespace argosy::graph {

// A handle to a variable of a program: what layer functions take and return. Copies refer to the same variable; the handle
// keeps the program alive. Thread-compatible.
class Variable {
 public:
  Variable() = default;
  Variable(std::shared_ptr<Program> program, Block& block, VarDesc& desc)
      : program_(std::move(program)), block_(&block), desc_(&desc) {}

  explicit operator bool() const { return desc_ != nullptr; }
  const std::string& name() const { return desc_->name; }
  const std::vector<int64_t>& shape() const { return desc_->shape; }
  DType dtype() const { return desc_->dtype; }
  int32_t lod_level() const { return desc_->lod_level; }
  bool persistable() const { return desc_->persistable; }
  bool stop_gradient() const { return desc_->stop_gradient; }
  void set_persistable(bool value) { desc_->persistable = value, program_->touch(); }
  void set_stop_gradient(bool value) { desc_->stop_gradient = value, program_->touch(); }

  VarDesc& desc() const { return *desc_; }
  Block& block() const { return *block_; }
  const std::shared_ptr<Program>& program() const { return program_; }

 private:
  std::shared_ptr<Program> program_;
  Block* block_ = nullptr;
  VarDesc* desc_ = nullptr;
};

}  // namespace argosy::graph
