#include "argosy/graph/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "argosy/base/file.h"
#include "argosy/graph/framework.pb.h"

namespace argosy::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

std::string corpus(const std::string& name) {
  auto bytes = read_file(std::string(ARGOSY_SOURCE_DIR) + "/fuzz/corpus/program/" + name);
  EXPECT_TRUE(bytes.ok()) << bytes.status().to_string();
  return std::move(*bytes);
}

std::shared_ptr<Program> parse(const std::string& bytes) {
  auto program = parse_program(bytes);
  EXPECT_TRUE(program.ok()) << program.status().to_string();
  return program.ok() ? *program : nullptr;
}

std::string message_of(const std::string& bytes) { return parse_program(bytes).status().message(); }

std::vector<std::string> names_of(const std::vector<VarDesc*>& variables) {
  std::vector<std::string> names;
  for (const VarDesc* variable : variables) names.push_back(variable->name);
  return names;
}

VarDesc variable(std::string name, std::vector<int64_t> shape) {
  VarDesc desc;
  desc.name = std::move(name);
  desc.shape = std::move(shape);
  return desc;
}

TEST(Wire, EveryKindOfAttributeComesBack) {
  const auto program = Program::create();
  program->create_block(0);
  program->create_block(1);
  const AttributeMap attributes = {{"int", int32_t{-3}},
                                   {"float", 0.1f},
                                   {"string", std::string("a\0b", 3)},
                                   {"ints", std::vector<int32_t>{1, -2}},
                                   {"floats", std::vector<float>{0.5f, -1.5f}},
                                   {"strings", std::vector<std::string>{"", "x"}},
                                   {"bool", true},
                                   {"bools", std::vector<bool>{true, false, true}},
                                   {"block", BlockRef{2}},
                                   {"long", int64_t{1} << 40},
                                   {"blocks", std::vector<BlockRef>{{1}, {2}}},
                                   {"longs", std::vector<int64_t>{-1, int64_t{1} << 50}},
                                   {"double", 0.1},
                                   {"doubles", std::vector<double>{0.1, 1e300}},
                                   {"empty", std::vector<float>{}}};
  program->global_block().append_op_unchecked({.type = "anything", .attributes = attributes});
  const auto again = parse(serialize_program(*program));
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->global_block().ops()[0]->attributes, attributes);
}

TEST(Wire, VariablesComeBack) {
  const auto program = Program::create();
  Block& block = program->global_block();
  VarDesc x = variable("x", {-1, 3});
  x.dtype = DType::int64, x.lod_level = 1, x.is_data = true, x.stop_gradient = true;
  VarDesc w = variable("w", {3, 2});
  w.persistable = true, w.parameter = ParameterInfo{};
  VarDesc frozen = w;
  frozen.name = "frozen", frozen.stop_gradient = true, frozen.parameter->trainable = false;
  VarDesc rows = variable("w@GRAD", {3, 2});
  rows.kind = VarKind::selected_rows;
  VarDesc array = variable("array", {-1, 7});
  array.kind = VarKind::lod_tensor_array, array.dtype = DType::float64, array.lod_level = 2;
  VarDesc holder = variable("feed", {});
  holder.kind = VarKind::feed_minibatch, holder.persistable = true;
  const std::vector<VarDesc> all = {x, w, frozen, rows, array, holder};
  for (const VarDesc& desc : all) block.put_var(desc);

  const auto again = parse(serialize_program(*program));
  ASSERT_NE(again, nullptr);
  EXPECT_THAT(names_of(again->global_block().vars()), ElementsAre("x", "w", "frozen", "w@GRAD", "array", "feed"));
  for (const VarDesc& desc : all) {
    SCOPED_TRACE(desc.name);
    const VarDesc& found = *again->global_block().find_var(desc.name);
    EXPECT_EQ(found.kind, desc.kind);
    EXPECT_EQ(found.shape, desc.shape);
    EXPECT_EQ(found.dtype, desc.dtype);
    EXPECT_EQ(found.lod_level, desc.lod_level);
    EXPECT_EQ(found.persistable, desc.persistable);
    EXPECT_EQ(found.stop_gradient, desc.stop_gradient);
    EXPECT_EQ(found.is_data, desc.is_data);
    ASSERT_EQ(found.is_parameter(), desc.is_parameter());
    if (desc.is_parameter()) {
      EXPECT_EQ(found.parameter->trainable, desc.parameter->trainable);
    }
  }
}

TEST(Wire, BlocksAndSlotsComeBackInTheirOrder) {
  const auto program = Program::create();
  program->global_block().put_var(variable("a", {1}));
  Block& inner = program->create_block(0);
  inner.put_var(variable("b", {1}));
  inner.append_op_unchecked({.type = "copy", .inputs = {{"Z", {"a", "a"}}, {"A", {}}}, .outputs = {{"Out", {"b"}}}});
  program->rollback();

  const auto again = parse(serialize_program(*program));
  ASSERT_NE(again, nullptr);
  ASSERT_EQ(again->block_count(), 2u);
  EXPECT_EQ(again->current_block().index(), 0);
  EXPECT_EQ(again->block(1).parent_index(), 0);
  EXPECT_EQ(again->block(1).ops()[0]->inputs, (SlotMap{{"Z", {"a", "a"}}, {"A", {}}}));
  EXPECT_EQ(again->paddle_version, 1008005);
}

TEST(Wire, ReadsModelsOfPaddle) {
  const auto mlp = parse(corpus("paddle_1.8.5_mlp"));
  ASSERT_NE(mlp, nullptr);
  EXPECT_EQ(mlp->paddle_version, 1008005);
  EXPECT_THAT(names_of(mlp->parameters()), UnorderedElementsAre("fc_0.w_0", "fc_0.b_0", "fc_1.w_0", "fc_1.b_0"));
  EXPECT_THAT(names_of(mlp->persistables()), UnorderedElementsAre("fc_0.w_0", "fc_0.b_0", "fc_1.w_0", "fc_1.b_0"));
  const auto ctr = parse(corpus("paddle_2.6.2_ctr_dnn"));
  ASSERT_NE(ctr, nullptr);
  EXPECT_EQ(ctr->paddle_version, 2006002);
  EXPECT_EQ(ctr->global_block().find_var("C1")->lod_level, 1);
  EXPECT_TRUE(ctr->global_block().find_var("C1")->is_data);
  const auto loop = parse(corpus("paddle_1.8.5_while"));
  ASSERT_NE(loop, nullptr);
  EXPECT_EQ(loop->block_count(), 2u);
}

// Weights are parameters; batch_norm's running means, the learning rate and Adam's moments are not.
TEST(Wire, FindsTheParametersThatAFileDoesNotMark) {
  const auto program = parse(corpus("paddle_1.8.5_training"));
  ASSERT_NE(program, nullptr);
  EXPECT_THAT(names_of(program->parameters()),
              UnorderedElementsAre("fc_0.w_0", "fc_0.b_0", "batch_norm_0.w_0", "batch_norm_0.b_0"));
}

TEST(Wire, TakesTheMarksWhereAFileHasThem) {
  const auto program = parse(corpus("paddle_2.6.2_training"));
  ASSERT_NE(program, nullptr);
  EXPECT_THAT(names_of(program->parameters()), UnorderedElementsAre("fc_0.w_0", "fc_0.b_0"));
  EXPECT_TRUE(program->global_block().find_var("x")->stop_gradient);
}

TEST(Wire, ReadsTheNumbersOfAnyKindThat2xWrites) {
  wire::ProgramDesc message;
  wire::BlockDesc& block = *message.add_blocks();
  block.set_idx(0), block.set_parent_idx(-1);
  wire::OpDesc& op = *block.add_ops();
  op.set_type("full");
  const auto add = [&](const char* name, wire::AttrType type) {
    wire::OpDesc::Attr& attr = *op.add_attrs();
    attr.set_name(name), attr.set_type(type);
    return &attr;
  };
  const auto set = [](wire::Scalar* scalar, wire::Scalar::Type type, int64_t i, double r) {
    scalar->set_type(type), scalar->set_i(i), scalar->set_r(r), scalar->set_b(i != 0);
  };
  set(add("long", wire::SCALAR)->mutable_scalar(), wire::Scalar::LONG, 7, 0);
  set(add("double", wire::SCALAR)->mutable_scalar(), wire::Scalar::FLOAT64, 0, 0.5);
  wire::OpDesc::Attr* mixed = add("mixed", wire::SCALARS);
  set(mixed->add_scalars(), wire::Scalar::LONG, 2, 0);
  set(mixed->add_scalars(), wire::Scalar::FLOAT64, 0, 0.5);
  const auto program = parse(message.SerializeAsString());
  ASSERT_NE(program, nullptr);
  const OpDesc& read = *program->global_block().ops()[0];
  EXPECT_EQ(read.attribute_or<int64_t>("long", 0), 7);
  EXPECT_EQ(read.attribute_or<double>("double", 0), 0.5);
  EXPECT_THAT(read.attribute_or<std::vector<double>>("mixed", {}), ElementsAre(2.0, 0.5));

  set(add("complex", wire::SCALAR)->mutable_scalar(), wire::Scalar::COMPLEX128, 0, 0);
  EXPECT_THAT(message_of(message.SerializeAsString()), HasSubstr("attribute 'complex': it is a complex number"));
}

TEST(Wire, SkipsFieldsThatItDoesNotKnow) {
  const std::string field_15_of_three_bytes =
      "\x7a\x03"
      "abc";
  EXPECT_NE(parse(serialize_program(*Program::create()) + field_15_of_three_bytes), nullptr);
}

// A program of two blocks that each of the tests below spoils in one way.
class HostileWire : public ::testing::Test {
 protected:
  HostileWire() {
    for (int i = 0; i < 2; ++i) {
      wire::BlockDesc& block = *message_.add_blocks();
      block.set_idx(i), block.set_parent_idx(i - 1);
    }
    add_variable("x");
    wire::OpDesc& op = *message_.mutable_blocks(0)->add_ops();
    op.set_type("relu");
    wire::OpDesc::Var& slot = *op.add_inputs();
    slot.set_parameter("X"), slot.add_arguments("x");
  }

  wire::VarDesc& add_variable(const std::string& name) {
    wire::VarDesc& made = *message_.mutable_blocks(0)->add_vars();
    made.set_name(name);
    made.mutable_type()->set_type(wire::VarType::LOD_TENSOR);
    made.mutable_type()->mutable_lod_tensor()->mutable_tensor()->set_data_type(wire::VarType::FP32);
    return made;
  }
  wire::OpDesc& op() { return *message_.mutable_blocks(0)->mutable_ops(0); }
  wire::OpDesc::Attr& add_attribute(wire::AttrType type) {
    wire::OpDesc::Attr& attr = *op().add_attrs();
    attr.set_name("a"), attr.set_type(type);
    return attr;
  }
  wire::VarType& type() { return *message_.mutable_blocks(0)->mutable_vars(0)->mutable_type(); }
  std::string error() { return message_of(message_.SerializePartialAsString()); }

  wire::ProgramDesc message_;
};

TEST_F(HostileWire, IsFineBeforeItIsSpoiled) { EXPECT_EQ(error(), ""); }

TEST_F(HostileWire, NotAProgram) {
  EXPECT_EQ(message_of("hello, world"),
            "not a usable program: its 12 bytes are not a ProgramDesc message, or they are cut short");
  EXPECT_EQ(message_of(""), "not a usable program: it has no block");
}

TEST_F(HostileWire, MissingFields) {
  message_.mutable_blocks(0)->mutable_vars(0)->clear_name();
  EXPECT_EQ(error(), "not a usable program: missing, or of an unknown kind: blocks[0].vars[0].name");
}

TEST_F(HostileWire, Blocks) {
  message_.mutable_blocks(1)->set_parent_idx(1);
  EXPECT_THAT(error(), HasSubstr("block 1 has block 1 as its parent, expected one before it"));
  message_.mutable_blocks(1)->set_parent_idx(-1);
  EXPECT_THAT(error(), HasSubstr("block 1 has block -1 as its parent"));
  message_.mutable_blocks(1)->set_idx(7);
  EXPECT_THAT(error(), HasSubstr("block 1 says that it is block 7"));
  message_.mutable_blocks(0)->set_parent_idx(0);
  EXPECT_THAT(error(), HasSubstr("block 0 has block 0 as its parent, expected -1: none"));
}

TEST_F(HostileWire, Variables) {
  add_variable("x");
  EXPECT_THAT(error(), HasSubstr("block 0: variable 'x' is there twice"));
  message_.mutable_blocks(0)->mutable_vars(1)->set_name("");
  EXPECT_THAT(error(), HasSubstr("a variable has no name"));
  type().mutable_lod_tensor()->mutable_tensor()->add_dims(-5);
  EXPECT_THAT(error(), HasSubstr("variable 'x': its shape [-5] has the size -5"));
  type().mutable_lod_tensor()->mutable_tensor()->set_data_type(wire::VarType::COMPLEX64);
  EXPECT_THAT(error(), HasSubstr("variable 'x': its element type is COMPLEX64, which is not supported"));
  type().mutable_lod_tensor()->set_lod_level(INT32_MAX);
  EXPECT_THAT(error(), HasSubstr("its LoD level is 2147483647, expected 0 to 32"));
  type().set_type(wire::VarType::VOCAB);
  EXPECT_THAT(error(), HasSubstr("variable 'x': it holds VOCAB, which is not supported"));
}

TEST_F(HostileWire, Slots) {
  op().mutable_inputs(0)->add_arguments("@EMPTY@");
  EXPECT_EQ(error(), "");
  op().mutable_inputs(0)->add_arguments("y");
  EXPECT_THAT(error(), HasSubstr("block 0: operator 0 'relu': slot 'X' names variable 'y', which the program does not have"));
  op().mutable_inputs(0)->mutable_arguments()->RemoveLast();
  op().add_inputs()->set_parameter("X");
  EXPECT_THAT(error(), HasSubstr("slot 'X' is there twice"));
  op().set_type("");
  EXPECT_THAT(error(), HasSubstr("operator 0 '': it has no type"));
}

TEST_F(HostileWire, Attributes) {
  add_attribute(wire::INT);
  add_attribute(wire::FLOAT);
  EXPECT_THAT(error(), HasSubstr("operator 0 'relu': attribute 'a' is there twice"));
  op().clear_attrs();
  add_attribute(wire::VAR);
  EXPECT_THAT(error(), HasSubstr("attribute 'a': its value is that of a variable, which is not supported"));
}

TEST_F(HostileWire, SubBlocks) {
  for (const int index : {0, -1, 2, INT32_MAX}) {
    op().clear_attrs();
    add_attribute(wire::BLOCK).set_block_idx(index);
    EXPECT_THAT(error(), HasSubstr("attribute 'a': it names block " + std::to_string(index))) << index;
    op().clear_attrs();
    add_attribute(wire::BLOCKS).add_blocks_idx(index);
    EXPECT_THAT(error(), HasSubstr("attribute 'a': it names block " + std::to_string(index))) << index;
  }
  op().clear_attrs();
  add_attribute(wire::BLOCK).set_block_idx(1);
  EXPECT_EQ(error(), "");
}

TEST_F(HostileWire, AnyCutAndAnyFlippedBytesAreAnErrorOrAProgram) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const std::string bytes = corpus("paddle_1.8.5_while");
  for (size_t size = 0; size < bytes.size(); size += 7) (void)parse_program(std::string_view(bytes).substr(0, size));
  for (int i = 0; i < 2000; ++i) {
    std::string spoiled = bytes;
    for (int flips = 0; flips < 3; ++flips) spoiled[random() % spoiled.size()] = static_cast<char>(random());
    if (const auto program = parse_program(spoiled); program.ok()) {
      EXPECT_TRUE(parse_program(serialize_program(**program)).ok());
    }
  }
}

}  // namespace
}  // namespace argosy::graph
