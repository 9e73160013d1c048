#include "argosy/serve/http/json_tensor.h"

#include <gtest/gtest.h>

#include <limits>

namespace argosy::serve {
namespace {

using graph::DType;

const std::vector<TensorInfo> kBoth = {{.name = "x", .shape = {-1, 3}},
                                       {.name = "ids", .dtype = DType::int64, .shape = {-1, 1}, .lod_level = 1}};
const std::vector<TensorInfo> kOne = {{.name = "x", .shape = {-1, 2}}};

template <typename T>
std::vector<T> values(const Tensor& tensor) {
  const auto found = tensor.values<T>();
  return {found.begin(), found.end()};
}

TEST(JsonTensor, BothFormsOfARequestSayTheSame) {
  for (const char* body : {R"({"instances": [{"x": [1, 2, 3], "ids": [4, 9]}, {"ids": [], "x": [4, 5.5, 6]}]})",
                           R"({"inputs": {"x": [[1, 2, 3], [4, 5.5, 6]], "ids": [[[4], [9]], []]}})"}) {
    const auto request = parse_request(body, kBoth);
    ASSERT_TRUE(request.ok()) << request.status().message();
    const Tensor &x = request->inputs.at("x"), &ids = request->inputs.at("ids");
    EXPECT_EQ(x.shape, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(values<float>(x), (std::vector<float>{1, 2, 3, 4, 5.5, 6}));
    EXPECT_EQ(ids.shape, (std::vector<int64_t>{2, 1}));
    EXPECT_EQ(ids.lod, (std::vector<std::vector<int64_t>>{{0, 2, 2}}));
    EXPECT_EQ(values<int64_t>(ids), (std::vector<int64_t>{4, 9}));
    EXPECT_TRUE(check_inputs(kBoth, request->inputs).ok());
  }
}

TEST(JsonTensor, TheNameOfAnOnlyInputMayBeLeftOut) {
  for (const char* body :
       {R"({"instances": [[1, 2], [3, 4]]})", R"({"inputs": [[1, 2], [3, 4]]})", R"({"instances": [{"x": [1, 2]}, [3, 4]]})"}) {
    const auto request = parse_request(body, kOne);
    ASSERT_TRUE(request.ok()) << request.status().message();
    EXPECT_EQ(values<float>(request->inputs.at("x")), (std::vector<float>{1, 2, 3, 4}));
  }
}

// Hashed ids use all 64 bits; a double would lose the last ones.
TEST(JsonTensor, IdsKeepAllTheirBits) {
  const std::vector<TensorInfo> infos = {{.name = "id", .dtype = DType::int64, .shape = {-1, 1}}};
  const auto request = parse_request(R"({"inputs": [9007199254740993, 18446744073709551615, -3]})", infos);
  ASSERT_TRUE(request.ok()) << request.status().message();
  EXPECT_EQ(values<int64_t>(request->inputs.at("id")), (std::vector<int64_t>{9007199254740993, -1, -3}));
}

TEST(JsonTensor, WrongRequestsAreNamed) {
  const auto error = [](const char* body, const std::vector<TensorInfo>& infos) {
    const auto request = parse_request(body, infos);
    return request.ok() ? "no error" : request.status().message();
  };
  const std::pair<const char*, const char*> cases[] = {
      {"{", "the request is no JSON"},
      {"[]", "with exactly one of the two"},
      {R"({"instances": [], "inputs": {}})", "with exactly one of the two"},
      {R"({"instances": 3})", "'instances' must be a list"},
      {R"({"instances": [3]})", "instance 0: got 3, expected an object with the inputs x, ids"},
      {R"({"instances": [{"x": [1, 2, 3]}]})", "instance 0 lacks input 'ids'"},
      {R"({"instances": [{"x": [1, 2, 3], "ids": [], "y": 1}]})",
       "instance 0: the model has no input 'y'; its inputs are x, ids"},
      {R"({"instances": [{"x": [1, 2], "ids": []}]})", "input 'x', sample 0: got a list of 2, expected 3"},
      {R"({"instances": [{"x": 1, "ids": []}]})", "input 'x', sample 0: got 1, expected a list of 3"},
      {R"({"instances": [{"x": [1, "a", 3], "ids": []}]})", "input 'x', sample 0: got \"a\", expected a number"},
      {R"({"instances": [{"x": [1, 2, 3], "ids": [1.5]}]})", "input 'ids', sample 0: got 1.5, expected an integer"},
      {R"({"instances": [{"x": [1, 2, 3], "ids": 4}]})", "input 'ids', sample 0: got 4, expected a list: a sequence"},
      {R"({"inputs": {"x": [[1, 2, 3]]}})", "'inputs' lacks input 'ids'"},
      {R"({"inputs": {"x": 1, "ids": []}})", "input 'x': got 1, expected a list with one entry per sample"},
      {R"({"inputs": [1]})", "'inputs' must be an object with the inputs x, ids"},
  };
  for (const auto& [body, part] : cases)
    EXPECT_NE(error(body, kBoth).find(part), std::string::npos) << body << ": " << error(body, kBoth);
  // Nested a million times: refused, and no stack is needed for it.
  const std::string deep = "{\"instances\": [" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "]}";
  EXPECT_NE(error(deep.c_str(), kBoth).find("instance 0: got a list of 1, expected an object"), std::string::npos);
  EXPECT_NE(error(deep.c_str(), kOne).find("input 'x', sample 0: got a list of 1, expected 2"), std::string::npos);
  const std::vector<TensorInfo> small = {{.name = "n", .dtype = DType::int8, .shape = {-1, 1}}};
  EXPECT_NE(error(R"({"inputs": [300]})", small).find("does not fit"), std::string::npos);
}

TEST(JsonTensor, AnswersAreGivenBySampleAndByOutput) {
  const std::vector<TensorInfo> infos = {{.name = "p"}, {.name = "top"}};
  const std::vector<Tensor> outputs = {
      Tensor::copy_of(std::vector<float>{0.1f, 0.9f, 0.5f, std::numeric_limits<float>::infinity()}, {2, 2}),
      Tensor::copy_of(std::vector<int64_t>{7, 8, 9}, {3, 1}, {{0, 1, 3}})};
  EXPECT_EQ(*format_answer(infos, outputs, true),
            R"({"predictions":[{"p":[0.1,0.9],"top":[[7]]},{"p":[0.5,null],"top":[[8],[9]]}]})");
  EXPECT_EQ(*format_answer(infos, outputs, false), R"({"outputs":{"p":[[0.1,0.9],[0.5,null]],"top":[[[7]],[[8],[9]]]}})");
  EXPECT_EQ(*format_answer({infos[0]}, {outputs[0]}, true), R"({"predictions":[[0.1,0.9],[0.5,null]]})");
  EXPECT_EQ(*format_answer({infos[0]}, {outputs[0]}, false), R"({"outputs":[[0.1,0.9],[0.5,null]]})");
  const Tensor mean = Tensor::copy_of(std::vector<float>{1}, {1});
  EXPECT_FALSE(format_answer(infos, {outputs[0], mean}, true).ok());
}

// A float goes through JSON and comes back as the same float.
TEST(JsonTensor, NumbersSurviveTheWay) {
  const std::vector<float> x = {0.1f, 1.0f / 3, 1e-38f, 3.4e38f, -0.0f, 16777217.0f};
  const Inputs inputs = {{"x", Tensor::copy_of(x, {3, 2})}};
  const auto request = parse_request(format_request(kOne, inputs), kOne);
  ASSERT_TRUE(request.ok()) << request.status().message();
  EXPECT_EQ(values<float>(request->inputs.at("x")), x);
  const auto answer = parse_answer(*format_answer(kOne, {inputs.at("x")}, false));
  ASSERT_TRUE(answer.ok());
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(static_cast<float>((*answer)[0].values[i]), x[i]);
}

}  // namespace
}  // namespace argosy::serve
