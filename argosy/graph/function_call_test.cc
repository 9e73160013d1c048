#include "argosy/graph/function_call.h"

#include <gmock/gmock.h>

#include "argosy/graph/add_function.h"
#include "argosy/graph/function_text.h"
#include "argosy/graph/ops_test.h"

namespace argosy::graph {
namespace {

using ::testing::HasSubstr;

// An operator with one of each kind of argument.
OpSchema& shifted() {
  static OpSchema& op = [&]() -> OpSchema& {
    OpSchema schema{.type = "test_shifted", .doc = "x moved by a distance."};
    schema.inputs = {{.name = "X", .doc = "any shape"}, {.name = "By", .doc = "the distance as a variable", .optional = true}};
    schema.outputs = {{.name = "Out", .doc = "like X"}, {.name = "Moved", .doc = "by how much", .optional = true}};
    schema.attributes = {{.name = "step", .doc = "the distance", .value = 1.0f},
                         {.name = "axis", .doc = "the axis", .value = 0},
                         {.name = "by", .doc = "the same as step", .value = 0.0f}};
    schema.infer_shape = [](ShapeContext& context) {
      context.set_output_like("Out", context.input("X"));
      context.set_output_like("Moved", context.input("X"));
      return Status();
    };
    OpSchema& kept = OpSchemas::instance().add(std::move(schema));
    add_function(kept, {.signature = "shifted(x, distance=2.5, axis=None, out=None, both=False, old=1, name=None)",
                        .targets = {{"distance", "step|By"}, {"both", "+Moved"}, {"old", "-"}},
                        .returns = {"Out:value", "Moved"},
                        .makes = {"Moved", "Out"},
                        .layer = "shift",
                        .options = "ShiftedOptions",
                        .result = "Shifted"});
    add_function(kept, {.signature = "shifted_by(x, by)", .targets = {{"by", "by|By"}}});
    return kept;
  }();
  return op;
}

class FunctionCallTest : public GraphTest {
 protected:
  void SetUp() override {
    GraphTest::SetUp();
    shifted();
    x_ = data("x", {-1, 4}, DType::float32);
  }
  const OpDesc& last() const { return *main_->global_block().ops().back(); }
  Variable x_;
};

TEST_F(FunctionCallTest, DefaultsAreTheFunctionsAndThenTheOperators) {
  const auto made = call("shifted", {x_});
  EXPECT_EQ(last().attribute_or<float>("step", 0), 2.5f);
  EXPECT_EQ(last().attribute_or<int32_t>("axis", 7), 0);
  EXPECT_EQ(made[0].name(), "shift_0.tmp_1");  // Moved is made first, as FunctionSchema::makes has it
  EXPECT_EQ(made[1].name(), "shift_0.tmp_0");
  EXPECT_EQ(made[0].shape(), (std::vector<int64_t>{-1, 4}));
}

TEST_F(FunctionCallTest, AVariableTakesAnAttributesPlace) {
  const Variable by = data("by", {1}, DType::float32);
  call("shifted", {x_, by});
  EXPECT_EQ(*last().inputs.find("By"), std::vector<std::string>{"by"});
}

// An attribute and a slot whose names differ in case only, as k and K of top_k: a number is the attribute's.
TEST_F(FunctionCallTest, AnAttributeIsToldFromASlotOfItsLetters) {
  call("shifted_by", {x_, Attribute(3.0f)});
  EXPECT_EQ(last().attribute_or<float>("by", 0), 3.0f);
  EXPECT_EQ(last().inputs.find("By"), nullptr);
  call("shifted_by", {x_, x_});
  EXPECT_NE(last().inputs.find("By"), nullptr);
}

TEST_F(FunctionCallTest, AnOutputThatIsGivenIsWrittenTo) {
  const Variable out = data("out", {-1, 4}, DType::float32);
  EXPECT_EQ(call("shifted", {x_, {}, {}, out})[0].name(), "out");
}

TEST_F(FunctionCallTest, MessagesNameFunctionAndArgument) {
  EXPECT_EQ(error_of([] { call("shifted", {}); }), "shifted: argument 'x' must be a variable (any shape)");
  EXPECT_THAT(error_of([&] { call("shifted", {x_, Attribute(std::string("far"))}); }),
              HasSubstr("shifted: argument 'distance' must be"));
  EXPECT_THAT(error_of([&] { call("shifted", {x_, {}, x_}); }), HasSubstr("argument 'axis' must be a number, not a variable"));
  EXPECT_EQ(error_of([] { call("shifter", {}); }), "there is no function 'shifter'");
}

TEST_F(FunctionCallTest, TextsComeFromTheSchema) {
  const auto function = OpSchemas::instance().find_function("shifted");
  EXPECT_THAT(python_doc(*function.function),
              HasSubstr("shifted(x, distance=2.5, axis=None, out=None, both=False, old=1, name=None)\n--\n\nx moved"));
  EXPECT_THAT(python_doc(*function.function), HasSubstr(">>> x = fluid.data('x', [None, 4])\n>>> y = fluid.layers.shifted(x)\n"));
  EXPECT_THAT(
      python_stub({function}),
      HasSubstr(
          "def shifted(x: Variable, distance: float | Variable = 2.5, axis: int | None = None, out: Variable | None = None, "
          "both: bool = False, old: object = 1, name: str | None = None) -> Variable | tuple[Variable, ...]:"));
  EXPECT_THAT(reference_page({function}), HasSubstr("| `distance` | the distance |"));
  const std::string header = cpp_header({function});
  EXPECT_THAT(header, HasSubstr("struct ShiftedOptions {\n  Real distance = 2.5f;  // the distance\n  int32_t axis = 0;"));
  EXPECT_THAT(header, HasSubstr("struct Shifted {\n  Variable value, moved;\n};"));
  EXPECT_THAT(header, HasSubstr("inline Shifted shifted(const Variable& x, const ShiftedOptions& options = {}) {"));
}

}  // namespace
}  // namespace argosy::graph
