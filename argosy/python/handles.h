#pragma once

#include <memory>
#include <string>

#include "argosy/graph/program.h"
#include "argosy/python/casters.h"

// What Python holds of a program's parts. Each handle keeps its program alive. Confined to the threads that hold the GIL.
namespace argosy::python {

struct BlockHandle {
  std::shared_ptr<graph::Program> program;
  graph::Block* block = nullptr;
};

// An operator of a block. One that has been removed since is an error on use.
struct OperatorHandle {
  std::shared_ptr<graph::Program> program;
  graph::Block* block = nullptr;
  const graph::OpDesc* desc = nullptr;

  size_t index() const;  // its place in the block
  graph::OpDesc& get() const;
  py::dict get_attributes() const;
  void set_attribute(const std::string& name, graph::Attribute value) const;  // of the kind that it had
};

py::object kind_object(graph::VarKind kind);  // argosy.fluid.var_type's VarType

}  // namespace argosy::python
