#include <algorithm>
#include <climits>
#include <set>

#include "argosy/graph/framework.pb.h"
#include "argosy/graph/wire.h"

namespace argosy::graph {
namespace {

constexpr std::string_view kNoVariable = "@EMPTY@";
constexpr int32_t kMaxLodLevel = 32;

template <typename T, typename Field>
std::vector<T> list_of(const Field& field) {
  return std::vector<T>(field.begin(), field.end());
}

std::optional<VarKind> kind_of(wire::VarType::Type type) {
  switch (type) {
    case wire::VarType::LOD_TENSOR:
    case wire::VarType::SELECTED_ROWS:
    case wire::VarType::FEED_MINIBATCH:
    case wire::VarType::FETCH_LIST:
    case wire::VarType::STEP_SCOPES:
    case wire::VarType::LOD_RANK_TABLE:
    case wire::VarType::LOD_TENSOR_ARRAY:
    case wire::VarType::PLACE_LIST:
    case wire::VarType::READER:
    case wire::VarType::RAW: return static_cast<VarKind>(type);
    default: return std::nullopt;
  }
}

Status read_tensor(const wire::VarType::TensorDesc& message, VarDesc& variable) {
  const auto dtype = dtype_from_number(message.data_type());
  if (!dtype) {
    return Status::unimplemented("its element type is {}, which is not supported", wire::VarType::Type_Name(message.data_type()));
  }
  variable.dtype = *dtype;
  variable.shape = list_of<int64_t>(message.dims());
  const auto bad = std::find_if(variable.shape.begin(), variable.shape.end(), [](int64_t size) { return size < -1; });
  if (bad == variable.shape.end()) return {};
  return Status::data_loss("its shape {} has the size {}; sizes are -1 (known only in a run) or more",
                           shape_to_string(variable.shape), *bad);
}

Status read_lod_tensor(const wire::VarType::LoDTensorDesc& message, VarDesc& variable) {
  variable.lod_level = message.lod_level();
  if (variable.lod_level < 0 || variable.lod_level > kMaxLodLevel) {
    return Status::data_loss("its LoD level is {}, expected 0 to {}", variable.lod_level, kMaxLodLevel);
  }
  return read_tensor(message.tensor(), variable);
}

Status read_type(const wire::VarType& message, VarDesc& variable) {
  const auto kind = kind_of(message.type());
  if (!kind) return Status::unimplemented("it holds {}, which is not supported", wire::VarType::Type_Name(message.type()));
  variable.kind = *kind;
  if (message.has_lod_tensor() && *kind == VarKind::lod_tensor) return read_lod_tensor(message.lod_tensor(), variable);
  if (message.has_tensor_array() && *kind == VarKind::lod_tensor_array) return read_lod_tensor(message.tensor_array(), variable);
  if (message.has_selected_rows() && *kind == VarKind::selected_rows) return read_tensor(message.selected_rows(), variable);
  return {};
}

Status read_variable(const wire::VarDesc& message, Block& block) {
  VarDesc variable;
  variable.name = message.name();
  if (variable.name.empty()) return Status::data_loss("a variable has no name");
  if (block.find_var(variable.name) != nullptr) return Status::data_loss("variable '{}' is there twice", variable.name);
  RETURN_IF_ERROR(read_type(message.type(), variable).with_context("variable '{}'", variable.name));
  variable.persistable = message.persistable();
  variable.is_data = message.need_check_feed();
  variable.stop_gradient = message.stop_gradient();
  if (message.is_parameter()) variable.parameter = ParameterInfo{.trainable = !variable.stop_gradient};
  block.put_var(std::move(variable));
  return {};
}

Result<Attribute> read_scalars(const google::protobuf::RepeatedPtrField<wire::Scalar>& scalars) {
  const auto all = [&](wire::Scalar::Type type) {
    return std::all_of(scalars.begin(), scalars.end(), [&](const wire::Scalar& scalar) { return scalar.type() == type; });
  };
  std::vector<bool> bools;
  std::vector<int64_t> longs;
  std::vector<double> doubles;
  for (const wire::Scalar& scalar : scalars) {
    if (scalar.type() == wire::Scalar::COMPLEX128) return Status::unimplemented("it is a complex number, which is not supported");
    bools.push_back(scalar.b());
    longs.push_back(scalar.i());
    doubles.push_back(scalar.type() == wire::Scalar::FLOAT64 ? scalar.r() : static_cast<double>(scalar.i()));
  }
  if (all(wire::Scalar::BOOLEAN) && !scalars.empty()) return Attribute(std::move(bools));
  if (all(wire::Scalar::LONG)) return Attribute(std::move(longs));
  return Attribute(std::move(doubles));
}

Result<Attribute> read_scalar(const wire::Scalar& scalar) {
  switch (scalar.type()) {
    case wire::Scalar::BOOLEAN: return Attribute(scalar.b());
    case wire::Scalar::LONG: return Attribute(int64_t{scalar.i()});
    case wire::Scalar::FLOAT64: return Attribute(scalar.r());
    case wire::Scalar::COMPLEX128: break;
  }
  return Status::unimplemented("it is a complex number, which is not supported");
}

Result<Attribute> read_attribute(const wire::OpDesc::Attr& message) {
  switch (message.type()) {
    case wire::INT: return Attribute(int32_t{message.i()});
    case wire::FLOAT: return Attribute(message.f());
    case wire::STRING: return Attribute(message.s());
    case wire::INTS: return Attribute(list_of<int32_t>(message.ints()));
    case wire::FLOATS: return Attribute(list_of<float>(message.floats()));
    case wire::STRINGS: return Attribute(list_of<std::string>(message.strings()));
    case wire::BOOLEAN: return Attribute(message.b());
    case wire::BOOLEANS: return Attribute(list_of<bool>(message.bools()));
    case wire::BLOCK: return Attribute(BlockRef{message.block_idx()});
    case wire::LONG: return Attribute(int64_t{message.l()});
    case wire::BLOCKS: {
      std::vector<BlockRef> blocks;
      for (const int32_t index : message.blocks_idx()) blocks.push_back({index});
      return Attribute(std::move(blocks));
    }
    case wire::LONGS: return Attribute(list_of<int64_t>(message.longs()));
    case wire::FLOAT64: return Attribute(message.float64());
    case wire::FLOAT64S: return Attribute(list_of<double>(message.float64s()));
    case wire::SCALAR: return read_scalar(message.scalar());
    case wire::SCALARS: return read_scalars(message.scalars());
    case wire::VAR:
    case wire::VARS: break;
  }
  return Status::unimplemented("its value is that of a variable, which is not supported");
}

Status check_sub_block(const Block& block, BlockRef ref) {
  if (ref.index > block.index() && static_cast<size_t>(ref.index) < block.program().block_count()) return {};
  return Status::data_loss("it names block {}, expected one after the operator's own and before {}", ref.index,
                           block.program().block_count());
}

Status check_sub_blocks(const Block& block, const Attribute& value) {
  if (const auto* one = std::get_if<BlockRef>(&value)) return check_sub_block(block, *one);
  if (const auto* many = std::get_if<std::vector<BlockRef>>(&value)) {
    for (const BlockRef ref : *many) RETURN_IF_ERROR(check_sub_block(block, ref));
  }
  return {};
}

Status read_slots(const google::protobuf::RepeatedPtrField<wire::OpDesc::Var>& messages, const Block& block, SlotMap& slots) {
  for (const wire::OpDesc::Var& message : messages) {
    if (slots.find(message.parameter()) != nullptr) return Status::data_loss("slot '{}' is there twice", message.parameter());
    std::vector<std::string>& variables = slots[message.parameter()];
    for (const std::string& name : message.arguments()) {
      if (name != kNoVariable && block.find_var_recursive(name) == nullptr) {
        return Status::data_loss("slot '{}' names variable '{}', which the program does not have", message.parameter(), name);
      }
      variables.push_back(name);
    }
  }
  return {};
}

Result<OpDesc> read_op(const wire::OpDesc& message, const Block& block) {
  OpDesc op;
  op.type = message.type();
  if (op.type.empty()) return Status::data_loss("it has no type");
  RETURN_IF_ERROR(read_slots(message.inputs(), block, op.inputs));
  RETURN_IF_ERROR(read_slots(message.outputs(), block, op.outputs));
  for (const wire::OpDesc::Attr& attribute : message.attrs()) {
    auto value = read_attribute(attribute);
    if (!value.ok()) return value.status().with_context("attribute '{}'", attribute.name());
    RETURN_IF_ERROR(check_sub_blocks(block, *value).with_context("attribute '{}'", attribute.name()));
    if (!op.attributes.emplace(attribute.name(), std::move(*value)).second) {
      return Status::data_loss("attribute '{}' is there twice", attribute.name());
    }
  }
  return op;
}

Status read_ops(const wire::BlockDesc& message, Block& block) {
  for (int i = 0; i < message.ops_size(); ++i) {
    auto op = read_op(message.ops(i), block);
    if (!op.ok()) return op.status().with_context("block {}: operator {} '{}'", block.index(), i, message.ops(i).type());
    block.append_op_unchecked(std::move(*op));
  }
  return {};
}

// Makes the blocks, empty, so that operators can be checked against all of them.
Status make_blocks(const wire::ProgramDesc& message, Program& program) {
  if (message.blocks_size() == 0) return Status::data_loss("it has no block");
  for (int i = 0; i < message.blocks_size(); ++i) {
    const wire::BlockDesc& block = message.blocks(i);
    if (block.idx() != i) return Status::data_loss("block {} says that it is block {}", i, block.idx());
    const bool good = i == 0 ? block.parent_idx() == -1 : block.parent_idx() >= 0 && block.parent_idx() < i;
    if (!good) {
      return Status::data_loss("block {} has block {} as its parent, expected {}", i, block.parent_idx(),
                               i == 0 ? "-1: none" : "one before it");
    }
    if (i > 0) program.create_block(block.parent_idx());
  }
  while (program.current_block().index() != 0) program.rollback();
  return {};
}

// See parse_program: what a file without marks has as its parameters.
void infer_parameters(Program& program) {
  std::set<std::string> read, written;
  for (size_t i = 0; i < program.block_count(); ++i) {
    for (const auto& op : program.block(i).ops()) {
      if ((op->role() & kRoleOptimize) != 0) continue;
      for (std::string& name : op->input_names()) read.insert(std::move(name));
      for (std::string& name : op->output_names()) written.insert(std::move(name));
    }
  }
  for (VarDesc* variable : program.global_block().vars()) {
    const bool weight = variable->persistable && variable->kind == VarKind::lod_tensor && is_floating(variable->dtype);
    if (weight && read.contains(variable->name) && !written.contains(variable->name)) variable->parameter = ParameterInfo{};
  }
}

Status parse_message(std::string_view bytes, wire::ProgramDesc& message) {
  if (bytes.size() > INT_MAX) return Status::data_loss("it has {} bytes; a program has at most 2 GiB", bytes.size());
  if (!message.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Status::data_loss("its {} bytes are not a ProgramDesc message, or they are cut short", bytes.size());
  }
  if (message.IsInitialized()) return {};
  return Status::data_loss("missing, or of an unknown kind: {}", message.InitializationErrorString());
}

}  // namespace

Result<std::shared_ptr<Program>> parse_program(std::string_view bytes) {
  const auto program = Program::create();
  wire::ProgramDesc message;
  const auto read = [&]() -> Status {
    RETURN_IF_ERROR(parse_message(bytes, message));
    RETURN_IF_ERROR(make_blocks(message, *program));
    for (const wire::BlockDesc& block : message.blocks()) {
      for (const wire::VarDesc& variable : block.vars()) {
        RETURN_IF_ERROR(
            read_variable(variable, program->block(static_cast<size_t>(block.idx()))).with_context("block {}", block.idx()));
      }
    }
    for (const wire::BlockDesc& block : message.blocks())
      RETURN_IF_ERROR(read_ops(block, program->block(static_cast<size_t>(block.idx()))));
    return {};
  };
  RETURN_IF_ERROR(read().with_context("not a usable program"));
  program->paddle_version = message.version().version();
  if (program->parameters().empty()) infer_parameters(*program);
  return program;
}

}  // namespace argosy::graph
