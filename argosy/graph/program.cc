#include "argosy/graph/program.h"

#include <atomic>

#include "argosy/base/text.h"
#include "argosy/graph/op_schema.h"

namespace argosy::graph {
namespace {

uint64_t next_id() {
  static std::atomic<uint64_t> counter{1};
  return counter++;
}

}  // namespace

std::string shape_to_string(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += fmt::format("{}{}", i > 0 ? ", " : "", shape[i]);
  return text + "]";
}

bool shape_fits(std::span<const int64_t> declared, std::span<const int64_t> found) {
  return std::equal(declared.begin(), declared.end(), found.begin(), found.end(),
                    [](int64_t wanted, int64_t size) { return wanted < 0 || wanted == size; });
}

VarDesc* Block::find_var(std::string_view name) const {
  const auto found = vars_.find(name);
  return found == vars_.end() ? nullptr : found->second.get();
}

VarDesc* Block::find_var_recursive(std::string_view name) const {
  for (const Block* block = this;; block = &program_.block(static_cast<size_t>(block->parent_))) {
    if (VarDesc* found = block->find_var(name)) return found;
    if (block->parent_ < 0) return nullptr;
  }
}

VarDesc& Block::put_var(VarDesc variable) {
  program_.touch();
  if (VarDesc* known = find_var(variable.name)) return *known = std::move(variable);
  auto made = std::make_unique<VarDesc>(std::move(variable));
  order_.push_back(made.get());
  return *(vars_[made->name] = std::move(made));
}

void Block::remove_var(std::string_view name) {
  const auto found = vars_.find(name);
  if (found == vars_.end()) return;
  std::erase(order_, found->second.get());
  vars_.erase(found);
  program_.touch();
}

std::vector<VarDesc*> Block::vars() const { return order_; }

Result<std::unique_ptr<OpDesc>> Block::prepare(OpDesc op) {
  const OpSchema* schema = OpSchemas::instance().find(op.type);
  if (schema == nullptr) {
    const auto near = nearest_name(op.type, OpSchemas::instance().types());
    return Status::unimplemented("there is no operator '{}'{}", op.type, near ? fmt::format("; did you mean '{}'?", *near) : "");
  }
  RETURN_IF_ERROR(check_and_complete(op, *schema));
  op.attributes.try_emplace(std::string(kRoleAttribute), current_op_role());
  for (const auto& names : {op.input_names(), op.output_names()}) {
    for (const std::string& name : names) {
      if (find_var_recursive(name) == nullptr) {
        return Status::not_found("operator '{}' names variable '{}', which the program does not have", op.type, name);
      }
    }
  }
  auto made = std::make_unique<OpDesc>(std::move(op));
  if (schema->infer_shape) {
    ShapeContext context(*made, [this](const std::string& name) { return find_var_recursive(name); });
    RETURN_IF_ERROR(schema->infer_shape(context).with_context("operator '{}'", made->type));
  }
  return made;
}

Result<OpDesc*> Block::append_op(OpDesc op) { return insert_op(ops_.size(), std::move(op)); }

Result<OpDesc*> Block::insert_op(size_t at, OpDesc op) {
  ASSIGN_OR_RETURN(auto made, prepare(std::move(op)));
  return &insert(at, std::move(made));
}

OpDesc& Block::append_op_unchecked(OpDesc op) { return insert_op_unchecked(ops_.size(), std::move(op)); }
OpDesc& Block::insert_op_unchecked(size_t at, OpDesc op) { return insert(at, std::make_unique<OpDesc>(std::move(op))); }

OpDesc& Block::insert(size_t at, std::unique_ptr<OpDesc> op) {
  program_.touch();
  return **ops_.insert(ops_.begin() + static_cast<std::ptrdiff_t>(at), std::move(op));
}

void Block::remove_op(size_t at) {
  ops_.erase(ops_.begin() + static_cast<std::ptrdiff_t>(at));
  program_.touch();
}

Program::Program() : id_(next_id()) { blocks_.push_back(std::make_unique<Block>(*this, 0, -1)); }

std::shared_ptr<Program> Program::create() { return std::shared_ptr<Program>(new Program); }

Block& Program::create_block(int parent) {
  blocks_.push_back(std::make_unique<Block>(*this, static_cast<int>(blocks_.size()), parent));
  current_ = blocks_.size() - 1;
  touch();
  return *blocks_.back();
}

void Program::rollback() {
  const int parent = current_block().parent_index();
  ARGOSY_CHECK(parent >= 0, "the global block has no parent");
  current_ = static_cast<size_t>(parent);
}

std::vector<VarDesc*> Program::parameters() const {
  std::vector<VarDesc*> found;
  for (const auto& block : blocks_) {
    for (VarDesc* variable : block->vars()) {
      if (variable->is_parameter()) found.push_back(variable);
    }
  }
  return found;
}

std::vector<VarDesc*> Program::persistables() const {
  std::vector<VarDesc*> found;
  for (const auto& block : blocks_) {
    for (VarDesc* variable : block->vars()) {
      const bool holder = variable->kind == VarKind::feed_minibatch || variable->kind == VarKind::fetch_list ||
                          variable->kind == VarKind::reader || variable->kind == VarKind::raw;
      if (variable->persistable && !holder) found.push_back(variable);
    }
  }
  return found;
}

}  // namespace argosy::graph
