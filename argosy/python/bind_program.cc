#include <algorithm>

#include "argosy/graph/build.h"
#include "argosy/graph/print.h"
#include "argosy/graph/program.h"
#include "argosy/graph/wire.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"
#include "argosy/python/handles.h"

namespace argosy::python {

using graph::Block;
using graph::OpDesc;
using graph::Program;
using graph::SlotMap;
using graph::VarDesc;
using graph::Variable;

namespace {

std::vector<std::string> names_in(const SlotMap& slots, const std::string& slot) {
  const auto* names = slots.find(slot);
  return names == nullptr ? std::vector<std::string>() : *names;
}

std::vector<std::string> slot_names(const SlotMap& slots) {
  std::vector<std::string> names;
  for (const auto& [name, variables] : slots) names.push_back(name);
  return names;
}

std::string argument_name(py::handle value) {
  if (py::isinstance<py::str>(value)) return value.cast<std::string>();
  if (py::isinstance<Variable>(value)) return value.cast<const Variable&>().name();
  throw Error(Status::invalid_argument("an operator takes variables or their names; found {}", type_name(value)));
}

// {"X": x, "Y": [a, b]} -> slots.
SlotMap slots_from_python(const py::object& given) {
  SlotMap slots;
  if (given.is_none()) return slots;
  for (const auto& [slot, value] : given.cast<py::dict>()) {
    std::vector<std::string>& names = slots[slot.cast<std::string>()];
    if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)) {
      for (py::handle item : value) names.push_back(argument_name(item));
    } else if (!value.is_none()) {
      names.push_back(argument_name(value));
    }
  }
  return slots;
}

OpDesc op_from_python(std::string type, const py::object& inputs, const py::object& outputs, const py::object& attrs) {
  OpDesc op{.type = std::move(type), .inputs = slots_from_python(inputs), .outputs = slots_from_python(outputs)};
  if (attrs.is_none()) return op;
  for (const auto& [name, value] : attrs.cast<py::dict>()) {
    if (value.is_none()) continue;
    const auto key = name.cast<std::string>();
    op.attributes[key] = attribute_from_python(key, value);
  }
  return op;
}

OperatorHandle insert_op(const BlockHandle& b, size_t at, const std::string& type, const py::object& inputs,
                         const py::object& outputs, const py::object& attrs) {
  OpDesc* added = value_or_throw(b.block->insert_op(at, op_from_python(type, inputs, outputs, attrs)));
  return {b.program, b.block, added};
}

Variable find_var(const BlockHandle& b, const std::string& name, bool recursive) {
  for (Block* block = b.block;; block = &b.program->block(static_cast<size_t>(block->parent_index()))) {
    if (VarDesc* found = block->find_var(name)) return Variable(b.program, *block, *found);
    if (!recursive || block->parent_index() < 0) break;
  }
  throw Error(Status::invalid_argument("block {} has no variable '{}'", b.block->index(), name));
}

Variable create_var(const BlockHandle& b, const std::optional<std::string>& name, const py::object& shape,
                    const py::object& dtype, int32_t lod_level, bool persistable, bool stop_gradient, bool is_data,
                    const py::object& type) {
  VarDesc desc;
  desc.name = name ? *name : graph::unique_name("_generated_var");
  if (!shape.is_none()) desc.shape = shape_from_python(shape);
  if (!dtype.is_none()) desc.dtype = dtype_from_python(dtype);
  if (!type.is_none()) desc.kind = static_cast<graph::VarKind>(type.cast<int>());
  desc.lod_level = lod_level;
  desc.persistable = persistable;
  desc.stop_gradient = stop_gradient;
  desc.is_data = is_data;
  return Variable(b.program, *b.block, b.block->put_var(std::move(desc)));
}

std::vector<Variable> variables_of(const std::shared_ptr<Program>& program, Block& block, bool parameters_only) {
  std::vector<Variable> found;
  for (VarDesc* desc : block.vars()) {
    if (!parameters_only || desc->is_parameter()) found.emplace_back(program, block, *desc);
  }
  return found;
}

std::vector<Variable> variables_of(const std::shared_ptr<Program>& program, bool parameters_only) {
  std::vector<Variable> found;
  for (size_t i = 0; i < program->block_count(); ++i) {
    const auto more = variables_of(program, program->block(i), parameters_only);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

void check_op_index(const BlockHandle& b, int64_t at, size_t limit) {
  if (at >= 0 && static_cast<size_t>(at) < limit) return;
  throw Error(
      Status::out_of_range("block {} has {} operators; there is no place {}", b.block->index(), b.block->ops().size(), at));
}

// What Python has hung on a program (its loaders, for one) goes with its copies.
py::object clone(const py::object& program, bool for_test) {
  py::object copy = py::cast(program.cast<const Program&>().clone(for_test));
  copy.attr("__dict__").attr("update")(program.attr("__dict__"));
  return copy;
}

BlockHandle block_at(const std::shared_ptr<Program>& program, int64_t index) {
  if (index < 0 || static_cast<size_t>(index) >= program->block_count()) {
    throw Error(Status::out_of_range("the program has {} blocks; there is no block {}", program->block_count(), index));
  }
  return {program, &program->block(static_cast<size_t>(index))};
}

// program.desc, of which scripts want the bytes.
struct ProgramBytes {
  std::shared_ptr<Program> program;
};

void bind_operator(py::module_& m) {
  py::class_<OperatorHandle>(m, "Operator", R"(An operator of a block.

    >>> _ = fluid.layers.relu(fluid.data("x", [None, 4]))
    >>> fluid.default_main_program().global_block().ops[-1].type
    'relu'
    )")
      .def_property_readonly("type", [](const OperatorHandle& o) { return o.get().type; })
      .def_property_readonly("idx", &OperatorHandle::index)
      .def_property_readonly("block", [](const OperatorHandle& o) { return BlockHandle{o.program, o.block}; })
      .def(
          "input", [](const OperatorHandle& o, const std::string& slot) { return names_in(o.get().inputs, slot); },
          py::arg("name"))
      .def(
          "output", [](const OperatorHandle& o, const std::string& slot) { return names_in(o.get().outputs, slot); },
          py::arg("name"))
      .def_property_readonly("input_names", [](const OperatorHandle& o) { return slot_names(o.get().inputs); })
      .def_property_readonly("output_names", [](const OperatorHandle& o) { return slot_names(o.get().outputs); })
      .def_property_readonly("input_arg_names", [](const OperatorHandle& o) { return o.get().input_names(); })
      .def_property_readonly("output_arg_names", [](const OperatorHandle& o) { return o.get().output_names(); })
      .def_property_readonly("attr_names", [](const OperatorHandle& o) { return py::list(o.get_attributes().attr("keys")()); })
      .def("all_attrs", &OperatorHandle::get_attributes)
      .def(
          "has_attr", [](const OperatorHandle& o, const std::string& name) { return o.get().attributes.contains(name); },
          py::arg("name"))
      .def(
          "attr",
          [](const OperatorHandle& o, const std::string& name) {
            const auto found = o.get().attributes.find(name);
            if (found != o.get().attributes.end()) return attribute_object(found->second);
            throw Error(Status::invalid_argument("operator '{}' has no attribute '{}'", o.get().type, name));
          },
          py::arg("name"))
      .def(
          "_set_attr",
          [](const OperatorHandle& o, const std::string& name, const py::object& value) {
            o.set_attribute(name, attribute_from_python(name, value));
          },
          py::arg("name"), py::arg("val"))
      .def(
          "_set_input",
          [](const OperatorHandle& o, const std::string& slot, std::vector<std::string> names) {
            o.get().inputs[slot] = std::move(names);
          },
          py::arg("slot"), py::arg("names"))
      .def(
          "to_string", [](const OperatorHandle& o, bool) { return graph::to_string(o.get()); }, py::arg("throw_on_error") = true)
      .def("__str__", [](const OperatorHandle& o) { return graph::to_string(o.get()); })
      .def(
          "__eq__", [](const OperatorHandle& a, const OperatorHandle& b) { return a.desc == b.desc; }, py::is_operator())
      .def("__hash__", [](const OperatorHandle& o) { return std::hash<const void*>()(o.desc); });
}

OperatorHandle append_op(const BlockHandle& b, const std::string& type, const py::object& inputs, const py::object& outputs,
                         const py::object& attrs) {
  return insert_op(b, b.block->ops().size(), type, inputs, outputs, attrs);
}

OperatorHandle insert_op_at(const BlockHandle& b, int64_t index, const std::string& type, const py::object& inputs,
                            const py::object& outputs, const py::object& attrs) {
  check_op_index(b, index, b.block->ops().size() + 1);
  return insert_op(b, static_cast<size_t>(index), type, inputs, outputs, attrs);
}

void bind_block(py::module_& m) {
  py::class_<BlockHandle>(m, "Block", R"(Variables by name and operators in order.

    >>> block = fluid.default_main_program().global_block()
    >>> _ = fluid.data("x", [None, 4])
    >>> block.var("x").shape
    (-1, 4)
    )")
      .def_property_readonly("idx", [](const BlockHandle& b) { return b.block->index(); })
      .def_property_readonly("parent_idx", [](const BlockHandle& b) { return b.block->parent_index(); })
      .def_property_readonly("program", [](const BlockHandle& b) { return b.program; })
      .def_property_readonly("vars",
                             [](const BlockHandle& b) {
                               py::dict vars;
                               for (const Variable& v : variables_of(b.program, *b.block, false)) vars[py::str(v.name())] = v;
                               return vars;
                             })
      .def_property_readonly("ops",
                             [](const BlockHandle& b) {
                               std::vector<OperatorHandle> ops;
                               for (const auto& op : b.block->ops()) ops.push_back({b.program, b.block, op.get()});
                               return ops;
                             })
      .def(
          "var", [](const BlockHandle& b, const std::string& name) { return find_var(b, name, false); }, py::arg("name"))
      .def(
          "_var_recursive", [](const BlockHandle& b, const std::string& name) { return find_var(b, name, true); },
          py::arg("name"))
      .def(
          "has_var", [](const BlockHandle& b, const std::string& name) { return b.block->find_var(name) != nullptr; },
          py::arg("name"))
      .def(
          "_has_var_recursive",
          [](const BlockHandle& b, const std::string& name) { return b.block->find_var_recursive(name) != nullptr; },
          py::arg("name"))
      .def("all_parameters", [](const BlockHandle& b) { return variables_of(b.program, *b.block, true); })
      .def("iter_parameters", [](const BlockHandle& b) { return py::iter(py::cast(variables_of(b.program, *b.block, true))); })
      .def("create_var", &create_var, py::arg("name") = py::none(), py::arg("shape") = py::none(), py::arg("dtype") = py::none(),
           py::arg("lod_level") = 0, py::arg("persistable") = false, py::arg("stop_gradient") = false, py::arg("is_data") = false,
           py::arg("type") = py::none(), "Adds a variable; one of that name takes the new description.")
      .def("append_op", &append_op, py::arg("type"), py::arg("inputs") = py::none(), py::arg("outputs") = py::none(),
           py::arg("attrs") = py::none(), "Adds an operator at the end and infers the shapes of its outputs.")
      .def("_insert_op", &insert_op_at, py::arg("index"), py::arg("type"), py::arg("inputs") = py::none(),
           py::arg("outputs") = py::none(), py::arg("attrs") = py::none())
      .def(
          "_remove_op",
          [](const BlockHandle& b, int64_t index) {
            check_op_index(b, index, b.block->ops().size());
            b.block->remove_op(static_cast<size_t>(index));
          },
          py::arg("index"))
      .def(
          "to_string", [](const BlockHandle& b, bool, bool) { return graph::to_string(*b.block); },
          py::arg("throw_on_error") = true, py::arg("with_details") = false)
      .def("__str__", [](const BlockHandle& b) { return graph::to_string(*b.block); })
      .def(
          "__eq__", [](const BlockHandle& a, const BlockHandle& b) { return a.block == b.block; }, py::is_operator())
      .def("__hash__", [](const BlockHandle& b) { return std::hash<const void*>()(b.block); });
}

}  // namespace

size_t OperatorHandle::index() const {
  const auto& ops = block->ops();
  const auto found = std::find_if(ops.begin(), ops.end(), [this](const auto& op) { return op.get() == desc; });
  if (found == ops.end())
    throw Error(Status::failed_precondition("this operator has been removed from block {}", block->index()));
  return static_cast<size_t>(found - ops.begin());
}

OpDesc& OperatorHandle::get() const { return *block->ops()[index()]; }

py::dict OperatorHandle::get_attributes() const {
  py::dict attributes;
  for (const auto& [name, value] : get().attributes) attributes[py::str(name)] = attribute_object(value);
  return attributes;
}

void OperatorHandle::set_attribute(const std::string& name, graph::Attribute value) const {
  const auto known = get().attributes.find(name);
  if (known != get().attributes.end() && !graph::convert_attribute(value, known->second)) {
    throw Error(Status::invalid_argument("attribute '{}' of operator '{}' is of kind {}; found {}", name, get().type,
                                         graph::attribute_kind(known->second), graph::attribute_to_string(value)));
  }
  get().attributes[name] = std::move(value);
  program->touch();
}

py::object kind_object(graph::VarKind kind) {
  return py::module_::import("argosy.fluid.var_type").attr("VarType")(static_cast<int>(kind));
}

void bind_program(py::module_& m) {
  bind_operator(m);
  bind_block(m);
  using Shared = std::shared_ptr<Program>;
  py::class_<ProgramBytes>(m, "ProgramDesc", "A program as the bytes of Paddle's wire format.")
      .def("serialize_to_string", [](const ProgramBytes& d) { return py::bytes(graph::serialize_program(*d.program)); })
      .def("num_blocks", [](const ProgramBytes& d) { return d.program->block_count(); });
  py::class_<Program, Shared>(m, "Program", py::dynamic_attr(), R"(What to compute: blocks of variables and operators.

    >>> program = fluid.Program()
    >>> with fluid.program_guard(program):
    ...     y = fluid.layers.relu(fluid.data("x", [None, 4]))
    >>> len(program.global_block().ops)
    1
    )")
      .def(py::init(&Program::create))
      .def("global_block", [](const Shared& p) { return BlockHandle{p, &p->global_block()}; })
      .def("current_block", [](const Shared& p) { return BlockHandle{p, &p->current_block()}; })
      .def("block", &block_at, py::arg("index"))
      .def_property_readonly("num_blocks", &Program::block_count)
      .def_property_readonly("blocks",
                             [](const Shared& p) {
                               std::vector<BlockHandle> blocks;
                               for (size_t i = 0; i < p->block_count(); ++i) blocks.push_back({p, &p->block(i)});
                               return blocks;
                             })
      .def_property(
          "random_seed", [](const Program& p) { return p.random_seed; },
          [](Program& p, int32_t seed) { p.random_seed = seed, p.touch(); },
          "0: random operators draw from the process's generator.")
      .def("clone", &clone, py::arg("for_test") = false,
           "A copy; for_test leaves out what only training needs and turns dropout and batch_norm to their test form.")
      .def(
          "list_vars", [](const Shared& p) { return py::iter(py::cast(variables_of(p, false))); },
          "Every variable of every block.")
      .def("all_parameters", [](const Shared& p) { return variables_of(p, true); })
      .def(
          "_prune",
          [](const Program& p, const std::vector<std::string>& feeds, const std::vector<std::string>& targets) {
            return value_or_throw(p.prune(feeds, targets));
          },
          py::arg("feeds"), py::arg("targets"))
      .def(
          "to_string", [](const Program& p, bool, bool) { return p.to_string(); }, py::arg("throw_on_error") = true,
          py::arg("with_details") = false)
      .def("__str__", &Program::to_string)
      .def("__repr__", &Program::to_string)
      .def_property_readonly("desc", [](const Shared& p) { return ProgramBytes{p}; })
      .def_static(
          "parse_from_string", [](const std::string& bytes) { return value_or_throw(graph::parse_program(bytes)); },
          py::arg("binary_str"), "The program in the bytes of a __model__ file.")
      .def_property_readonly("_version", &Program::version)
      .def_property_readonly("_id", &Program::id);
}

}  // namespace argosy::python
