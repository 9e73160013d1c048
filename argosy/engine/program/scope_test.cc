#include "argosy/engine/program/scope.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <thread>

namespace argosy::engine {
namespace {

using ::testing::ElementsAre;

Value number(double value) { return {.tensor = at::full({1}, value)}; }

TEST(Scope, FindsAVariableHereOrInAnAncestor) {
  Scope root;
  root.var("a") = number(1);
  Scope& child = root.new_child();
  Scope& grandchild = child.new_child();
  child.var("b") = number(2);
  EXPECT_EQ(grandchild.find("a"), root.find("a"));
  EXPECT_EQ(grandchild.find("b"), child.find("b"));
  EXPECT_EQ(root.find("b"), nullptr);
  EXPECT_EQ(grandchild.find("c"), nullptr);
}

TEST(Scope, AVariableOfItsOwnHidesTheAncestors) {
  Scope root;
  root.var("a") = number(1);
  Scope& child = root.new_child();
  child.var("a") = number(2);
  EXPECT_EQ(child.find("a")->tensor.item<double>(), 2);
  EXPECT_EQ(root.find("a")->tensor.item<double>(), 1);
}

// Frames hold addresses: what is erased is emptied, and comes back at the same place.
TEST(Scope, AddressesAreStable) {
  Scope scope;
  Value* const place = &scope.var("a");
  *place = number(1);
  for (int i = 0; i < 1000; ++i) scope.var("other" + std::to_string(i));
  EXPECT_EQ(scope.find("a"), place);
  scope.erase("a");
  EXPECT_FALSE(place->defined());
  scope.var("a") = number(3);
  EXPECT_EQ(place->tensor.item<double>(), 3);
  scope.erase("nobody");
}

TEST(Scope, NamesAreThoseThatHoldSomething) {
  Scope scope;
  scope.var("b") = number(1);
  scope.var("a") = number(1);
  scope.var("empty");
  EXPECT_THAT(scope.names(), ElementsAre("a", "b"));
  scope.erase("a");
  EXPECT_THAT(scope.names(), ElementsAre("b"));
}

TEST(Scope, EachHasANumberOfItsOwn) {
  const Scope one, other;
  EXPECT_NE(one.id(), other.id());
}

TEST(Scope, DroppedChildrenAreGone) {
  Scope root;
  root.new_child().var("a") = number(1);
  root.drop_children();
  EXPECT_NE(root.new_child().id(), root.id());
  EXPECT_EQ(root.find("a"), nullptr);
}

// Threads that ask for the same names get the same values.
TEST(Scope, ThreadsShareWhatTheyAdd) {
  Scope scope;
  constexpr int kNames = 200;
  std::vector<std::vector<Value*>> found(4);
  {
    std::vector<std::jthread> threads;
    for (auto& mine : found) {
      threads.emplace_back([&scope, &mine] {
        for (int i = 0; i < kNames; ++i) mine.push_back(&scope.var("v" + std::to_string(i)));
      });
    }
  }
  for (const auto& mine : found) EXPECT_EQ(mine, found[0]);
}

// ---- Values.

TEST(LookupGradient, IsTheSumOfItsPieces) {
  LookupGradient rows{.height = 4, .width = 2, .scale = 0.5f};
  rows.pieces.push_back({.ids = at::tensor({1, 3, 1}, at::kLong), .gradient = at::ones({3, 2})});
  rows.pieces.push_back({.ids = at::tensor({0, 2, 3}, at::kLong),
                         .lod = std::make_shared<const Lod>(Lod{{0, 2, 2, 3}}),
                         .average = true,
                         .gradient = at::tensor({9.f, 4.f, 8.f, 9.f, 0.f, 0.f, 9.f, 2.f, 6.f}).reshape({3, 3}),
                         .column = 1,
                         .skip_id = 2});
  const at::Tensor expected = at::tensor({1.f, 2.f, 1.f, 1.f, 0.f, 0.f, 1.5f, 3.5f}).reshape({4, 2});
  EXPECT_TRUE(at::allclose(rows.to_dense(), expected)) << rows.to_dense();
  EXPECT_TRUE(at::equal(rows.on_cpu().to_dense(), rows.to_dense()));
}

TEST(LookupGradient, WithoutPiecesIsZero) {
  EXPECT_TRUE(at::equal(LookupGradient{.height = 3, .width = 2}.to_dense(), at::zeros({3, 2})));
}

TEST(Value, TypesOfTheWireAndOfTorchAreOneAnother) {
  for (const graph::DType type :
       {graph::DType::boolean, graph::DType::int16, graph::DType::int32, graph::DType::int64, graph::DType::float16,
        graph::DType::float32, graph::DType::float64, graph::DType::uint8, graph::DType::int8, graph::DType::bfloat16}) {
    EXPECT_EQ(dtype_of(at::empty({0}, scalar_type(type))), type) << graph::dtype_name(type);
  }
}

TEST(Value, IsDefinedByATensorRowsOrAList) {
  EXPECT_FALSE(Value{}.defined());
  EXPECT_TRUE(number(1).defined());
  EXPECT_TRUE(Value{.array = std::make_shared<const std::vector<Value>>()}.defined());
  EXPECT_TRUE(Value{.rows = std::make_shared<LookupGradient>()}.defined());
}

}  // namespace
}  // namespace argosy::engine
