#include "argosy/serve/http/json_tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "argosy/base/random.h"

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
  const std::vector<TensorInfo> number = {{.name = "n", .dtype = DType::float32, .shape = {-1, 1}}};
  EXPECT_NE(error(R"({"inputs": [1e39]})", number).find("does not fit"), std::string::npos) << "it would become infinite";
  EXPECT_NE(error(R"({"inputs": [-1e39]})", number).find("does not fit"), std::string::npos);
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

// Tensors of any shape, with sequences in sequences, as a request and read again: the same elements with the same boundaries.
TEST(JsonTensor, AnyInputsSurviveTheWay) {
  const uint64_t seed = 31;
  Random random(seed);
  for (int round = 0; round < 300; ++round) {
    const auto levels = static_cast<int32_t>(random.below(3));
    // From the innermost level outwards: how many parts each level has, and where they end in the one below.
    std::vector<std::vector<int64_t>> lod;
    auto count = static_cast<int64_t>(random.below(4));
    for (int32_t level = 0; level < levels; ++level) {
      std::vector<int64_t> offsets = {0};
      for (int64_t part = 0; part < count; ++part) offsets.push_back(offsets.back() + static_cast<int64_t>(random.below(4)));
      count = offsets.back();
      lod.push_back(std::move(offsets));
    }
    const std::vector<int64_t> row = random.below(2) == 0 ? std::vector<int64_t>{1} : std::vector<int64_t>{2, 3};
    std::vector<int64_t> shape = {count}, declared = {-1};
    shape.insert(shape.end(), row.begin(), row.end());
    declared.insert(declared.end(), row.begin(), row.end());
    std::vector<float> numbers(static_cast<size_t>(count) * (row.size() == 1 ? 1 : 6));
    for (float& number : numbers) number = static_cast<float>(random.normal());
    const std::vector<TensorInfo> infos = {{.name = "x \"quoted\"", .shape = declared, .lod_level = levels}};
    const Tensor given = Tensor::copy_of(numbers, shape, lod);
    const std::string text = format_request(infos, {{infos[0].name, given}});
    const auto read = parse_request(text, infos);
    ASSERT_TRUE(read.ok()) << read.status().message() << "\n" << text << "\nseed " << seed << ", round " << round;
    const Tensor& found = read->inputs.at(infos[0].name);
    EXPECT_EQ(found.shape, shape) << text;
    EXPECT_EQ(found.lod, lod) << text;
    EXPECT_EQ(values<float>(found), numbers) << text;
  }
}

// What was asked for by input is answered by output, and that is read back; nothing else is.
TEST(JsonTensor, AnswersAreReadBackByOutput) {
  const std::vector<TensorInfo> infos = {{.name = "p"}, {.name = "ids"}};
  const std::vector<Tensor> outputs = {Tensor::copy_of(std::vector<double>{0.25, -1e300}, {2, 1}),
                                       Tensor::copy_of(std::vector<int32_t>{7, 8, 9}, {3, 1}, {{0, 1, 3}})};
  const auto answer = parse_answer(*format_answer(infos, outputs, false));
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  ASSERT_EQ(answer->size(), 2u);
  for (const OutputValues& output : *answer) {
    const std::vector<double> expected = output.name == "p" ? std::vector<double>{0.25, -1e300} : std::vector<double>{7, 8, 9};
    EXPECT_EQ(output.values, expected) << output.name;
  }
  const auto only = parse_answer(R"({"outputs":[[1,null],[2.5,3]]})");
  ASSERT_TRUE(only.ok());
  EXPECT_EQ((*only)[0].name, "");
  EXPECT_TRUE(std::isnan((*only)[0].values[1]));
  for (const char* body : {"", "[]", "{}", R"({"error":"no"})", R"({"predictions":[[1]]})"})
    EXPECT_FALSE(parse_answer(body).ok()) << body;
}

TEST(JsonTensor, NamesOfSamplesStandBesideARequest) {
  EXPECT_EQ(parse_ids(R"({"inputs": [1], "ids": ["part-0:1", 7]})"), (std::vector<std::string>{"part-0:1", "7"}));
  for (const char* body : {R"({"inputs": [1]})", R"({"ids": 3})", "no JSON", ""}) EXPECT_TRUE(parse_ids(body).empty()) << body;
}

// Names come from models and bodies from strangers: what is written is JSON, whatever bytes they have.
TEST(JsonTensor, StringsAreQuoted) {
  EXPECT_EQ(json_string("a\"b\\c\n"), R"("a\"b\\c\n")");
  EXPECT_EQ(json_string("\xc3\xa9"), "\"\xc3\xa9\"");
  EXPECT_EQ(json_string("\xff").front(), '"');
  EXPECT_EQ(json_string("\xff").find('\xff'), std::string::npos) << "no byte that is no UTF-8";
}

}  // namespace
}  // namespace argosy::serve
