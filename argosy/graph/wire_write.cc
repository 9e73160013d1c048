#include <climits>

#include "argosy/base/error.h"
#include "argosy/graph/framework.pb.h"
#include "argosy/graph/wire.h"
#include "argosy/graph/wire_message.h"

namespace argosy::graph {
namespace {

void set_tensor(const VarDesc& variable, wire::VarType::TensorDesc& tensor) {
  tensor.set_data_type(static_cast<wire::VarType::Type>(variable.dtype));
  for (const int64_t size : variable.shape) tensor.add_dims(size);
}

void set_lod_tensor(const VarDesc& variable, wire::VarType::LoDTensorDesc& tensor) {
  set_tensor(variable, *tensor.mutable_tensor());
  if (variable.lod_level != 0 || !variable.persistable) tensor.set_lod_level(variable.lod_level);
}

void set_slots(const SlotMap& slots, google::protobuf::RepeatedPtrField<wire::OpDesc::Var>& messages) {
  for (const auto& [slot, variables] : slots) {
    wire::OpDesc::Var& message = *messages.Add();
    message.set_parameter(slot);
    for (const std::string& name : variables) message.add_arguments(name);
  }
}

// One overload an alternative of Attribute.
class AttributeWriter {
 public:
  explicit AttributeWriter(wire::OpDesc::Attr& message) : to_(message) {}

  void operator()(int32_t value) { kind(wire::INT), to_.set_i(value); }
  void operator()(float value) { kind(wire::FLOAT), to_.set_f(value); }
  void operator()(const std::string& value) { kind(wire::STRING), to_.set_s(value); }
  void operator()(const std::vector<int32_t>& value) { kind(wire::INTS), to_.mutable_ints()->Add(value.begin(), value.end()); }
  void operator()(const std::vector<float>& value) { kind(wire::FLOATS), to_.mutable_floats()->Add(value.begin(), value.end()); }
  void operator()(const std::vector<std::string>& value) {
    kind(wire::STRINGS), to_.mutable_strings()->Add(value.begin(), value.end());
  }
  void operator()(bool value) { kind(wire::BOOLEAN), to_.set_b(value); }
  void operator()(const std::vector<bool>& value) { kind(wire::BOOLEANS), to_.mutable_bools()->Add(value.begin(), value.end()); }
  void operator()(BlockRef value) { kind(wire::BLOCK), to_.set_block_idx(value.index); }
  void operator()(int64_t value) { kind(wire::LONG), to_.set_l(value); }
  void operator()(const std::vector<BlockRef>& value) {
    kind(wire::BLOCKS);
    for (const BlockRef block : value) to_.add_blocks_idx(block.index);
  }
  void operator()(const std::vector<int64_t>& value) { kind(wire::LONGS), to_.mutable_longs()->Add(value.begin(), value.end()); }
  void operator()(double value) { kind(wire::FLOAT64), to_.set_float64(value); }
  void operator()(const std::vector<double>& value) {
    kind(wire::FLOAT64S), to_.mutable_float64s()->Add(value.begin(), value.end());
  }

 private:
  void kind(wire::AttrType type) { to_.set_type(type); }

  wire::OpDesc::Attr& to_;
};

}  // namespace

void to_message(const VarDesc& variable, Marks marks, wire::VarDesc& message) {
  message.set_name(variable.name);
  wire::VarType& type = *message.mutable_type();
  type.set_type(static_cast<wire::VarType::Type>(variable.kind));
  if (variable.kind == VarKind::lod_tensor) set_lod_tensor(variable, *type.mutable_lod_tensor());
  if (variable.kind == VarKind::selected_rows) set_tensor(variable, *type.mutable_selected_rows());
  if (variable.kind == VarKind::lod_tensor_array) set_lod_tensor(variable, *type.mutable_tensor_array());
  message.set_persistable(variable.persistable);
  if (marks == Marks::without) return;
  if (variable.is_data) message.set_need_check_feed(true);
  if (variable.is_parameter()) message.set_is_parameter(true);
  if (variable.stop_gradient) message.set_stop_gradient(true);
}

void to_message(const OpDesc& op, wire::OpDesc& message) {
  message.set_type(op.type);
  set_slots(op.inputs, *message.mutable_inputs());
  set_slots(op.outputs, *message.mutable_outputs());
  for (const auto& [name, value] : op.attributes) {
    wire::OpDesc::Attr& attribute = *message.add_attrs();
    attribute.set_name(name);
    std::visit(AttributeWriter(attribute), value);
  }
}

void to_message(const Block& block, Marks marks, wire::BlockDesc& message) {
  message.set_idx(block.index());
  message.set_parent_idx(block.parent_index());
  for (const VarDesc* variable : block.vars()) to_message(*variable, marks, *message.add_vars());
  for (const auto& op : block.ops()) to_message(*op, *message.add_ops());
}

void to_message(const Program& program, Marks marks, wire::ProgramDesc& message) {
  for (size_t i = 0; i < program.block_count(); ++i) to_message(program.block(i), marks, *message.add_blocks());
  message.mutable_version()->set_version(program.paddle_version);
}

std::string serialize_program(const Program& program) {
  wire::ProgramDesc message;
  to_message(program, Marks::with, message);
  std::string bytes;
  if (message.ByteSizeLong() > INT_MAX || !message.SerializeToString(&bytes)) {
    throw Error(Status::resource_exhausted(
        "the program takes {} bytes, and its file format holds at most 2 GiB; keep large values in parameters, not in attributes",
        message.ByteSizeLong()));
  }
  return bytes;
}

}  // namespace argosy::graph
