// Tensors over the wire: what is sent is what the model gets, and bytes that do not fit their shape are told.
#include "argosy/serve/grpc/proto_tensor.h"

#include <gtest/gtest.h>

#include "argosy/serve/grpc/predict.pb.h"

namespace argosy::serve {
namespace {

v1::Tensor tensor(const std::string& name, const std::string& dtype, const std::vector<int64_t>& shape, const std::string& data) {
  v1::Tensor made;
  made.set_name(name);
  made.set_dtype(dtype);
  made.mutable_shape()->Add(shape.begin(), shape.end());
  made.set_data(data);
  return made;
}

std::string problem_of(const v1::Tensor& given) {
  v1::PredictRequest request;
  *request.add_inputs() = given;
  const auto inputs = take_inputs(request);
  return inputs.ok() ? "" : inputs.status().message();
}

TEST(ProtoTensor, ComesBackAsItWasSent) {
  const Tensor ids = Tensor::sequences<int64_t>({{1, 2}, {}, {19}});
  const Tensor x = Tensor::copy_of(std::vector<float>{0.5f, -1, 2}, {3, 1});
  v1::PredictRequest request;
  write_tensor("ids", ids, *request.add_inputs());
  write_tensor("x", x, *request.add_inputs());
  auto inputs = take_inputs(request);
  ASSERT_TRUE(inputs.ok()) << inputs.status().message();
  const Tensor& back = inputs->at("ids");
  EXPECT_EQ(back.shape, ids.shape);
  EXPECT_EQ(back.lod, ids.lod);
  EXPECT_TRUE(std::ranges::equal(back.values<int64_t>(), ids.values<int64_t>()));
  EXPECT_TRUE(std::ranges::equal(inputs->at("x").values<float>(), x.values<float>()));
}

TEST(ProtoTensor, NamesWhatDoesNotFit) {
  EXPECT_EQ(problem_of(tensor("x", "float32", {2, 3}, std::string(20, 'x'))),
            "input 'x': its data has 20 bytes, but float32 of shape [2, 3] has 24");
  EXPECT_EQ(problem_of(tensor("x", "float", {1}, "1234")),
            "input 'x': dtype 'float' is unknown; it is written as numpy does: float32, int64, …");
  EXPECT_EQ(problem_of(tensor("x", "float32", {-1}, "")), "input 'x': shape [-1] has a negative size, or is too large");
  EXPECT_EQ(problem_of(tensor("x", "int64", {1 << 30, 1 << 30, 1 << 30}, "")),
            "input 'x': shape [1073741824, 1073741824, 1073741824] has a negative size, or is too large");
  EXPECT_EQ(problem_of(tensor("b", "bool", {2}, std::string("\1\2", 2))),
            "input 'b': its data has bytes that are no bool, which is 0 or 1");
  EXPECT_EQ(problem_of(tensor("x", "float32", {0, 3}, "")), "");
}

TEST(ProtoTensor, AnInputIsGivenOnce) {
  v1::PredictRequest request;
  *request.add_inputs() = tensor("x", "uint8", {1}, "1");
  *request.add_inputs() = tensor("x", "uint8", {1}, "2");
  EXPECT_EQ(take_inputs(request).status().message(), "input 'x' is given twice");
}

}  // namespace
}  // namespace argosy::serve
