#include "argosy/graph/tensor_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "argosy/base/file.h"

namespace argosy::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string corpus(const std::string& name) {
  auto bytes = read_file(std::string(ARGOSY_SOURCE_DIR) + "/fuzz/corpus/tensor_file/" + name);
  EXPECT_TRUE(bytes.ok()) << bytes.status().to_string();
  return std::move(*bytes);
}

template <typename T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return bytes;
}

std::string message_of(std::string_view file) { return decode_tensor(file).status().message(); }

const std::vector<float> kSix = {0, 1, 2, 3, 4, 5};
const std::vector<int64_t> kFive = {0, 1, 2, 3, 4};

TensorFile six() { return {.dtype = DType::float32, .shape = {2, 3}, .lod = {}, .bytes = bytes_of(kSix)}; }
TensorFile five() { return {.dtype = DType::int64, .shape = {5, 1}, .lod = {{0, 2, 5}}, .bytes = bytes_of(kFive)}; }

std::string file_of(const TensorFile& tensor) {
  std::string file;
  append_tensor(tensor, file);
  return file;
}

template <typename T>
std::string with(std::string file, size_t at, T value) {
  std::memcpy(file.data() + at, &value, sizeof value);
  return file;
}

// The worked example of docs/formats.md.
TEST(TensorFile, IsTheBytesOfTheDocument) {
  const std::vector<float> values = {1.0f, -2.0f};
  EXPECT_EQ(file_of({.dtype = DType::float32, .shape = {2, 1}, .lod = {{0, 1, 2}}, .bytes = bytes_of(values)}),
            from_hex("00000000"                                           // version of the LoD
                     "0100000000000000"                                   // levels
                     "1800000000000000"                                   // bytes of the level
                     "000000000000000001000000000000000200000000000000"   // 0 1 2
                     "00000000"                                           // version of the tensor
                     "06000000"                                           // bytes of the description
                     "080510021001"                                       // float32, 2, 1
                     "0000803f000000c0"));                                // 1.0 -2.0
}

TEST(TensorFile, WritesWhatPaddleWrites) {
  EXPECT_EQ(file_of(six()), corpus("paddle_1.8.5_float32"));
  EXPECT_EQ(file_of(five()), corpus("paddle_1.8.5_lod"));
  const std::vector<float> values(kFive.begin(), kFive.end());
  EXPECT_EQ(file_of({.shape = {5, 1}, .lod = {{0, 1, 2}, {0, 2, 5}}, .bytes = bytes_of(values)}), corpus("paddle_1.8.5_lod2"));
  const std::vector<int8_t> small = {0, 1, 2};
  EXPECT_EQ(file_of({.dtype = DType::int8, .shape = {3}, .lod = {}, .bytes = bytes_of(small)}), corpus("paddle_1.8.5_int8"));
}

TEST(TensorFile, ReadsWhatPaddleWrites) {
  const std::string file = corpus("paddle_1.8.5_lod");
  const auto tensor = decode_tensor(file);
  ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
  EXPECT_EQ(tensor->dtype, DType::int64);
  EXPECT_THAT(tensor->shape, ElementsAre(5, 1));
  EXPECT_THAT(tensor->lod, ElementsAre(ElementsAre(0, 2, 5)));
  EXPECT_EQ(tensor->bytes, bytes_of(kFive));
}

// A large file must not be copied to be read: the elements are where the file's are.
TEST(TensorFile, IsReadInPlace) {
  const std::string file = file_of(six());
  const auto tensor = decode_tensor(file);
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->bytes.data(), file.data() + file.size() - sizeof(float) * 6);
}

TEST(TensorFile, HasEveryElementTypeAndEmptyShapes) {
  for (const int number : {0, 1, 2, 3, 4, 5, 6, 20, 21, 22}) {
    const DType dtype = *dtype_from_number(number);
    const std::string elements(3 * dtype_size(dtype), 'x');
    const std::string file = file_of({.dtype = dtype, .shape = {3}, .lod = {}, .bytes = elements});
    const auto tensor = decode_tensor(file);
    ASSERT_TRUE(tensor.ok()) << dtype_name(dtype);
    EXPECT_EQ(tensor->dtype, dtype);
    EXPECT_EQ(tensor->bytes, elements);
  }
  const std::string none = file_of({.shape = {0, 4}, .lod = {}, .bytes = ""});
  EXPECT_THAT(decode_tensor(none)->shape, ElementsAre(0, 4));
  const std::string scalar = file_of({.dtype = DType::int8, .shape = {}, .lod = {}, .bytes = "7"});
  EXPECT_EQ(decode_tensor(scalar)->bytes, "7");
}

TEST(TensorFileReader, TakesTensorsOneAfterTheOther) {
  std::string file = file_of(six());
  const size_t second = file.size();
  append_tensor(five(), file);
  TensorFileReader reader(file);
  EXPECT_THAT(reader.next()->shape, ElementsAre(2, 3));
  EXPECT_EQ(reader.offset(), second);
  EXPECT_THAT(reader.next()->shape, ElementsAre(5, 1));
  EXPECT_TRUE(reader.done());
}

// The variables are in the order of their names: embedding_0.w_0, fc_0.b_0, fc_0.w_0.
TEST(TensorFileReader, ReadsACombinedFileOfPaddle) {
  const std::string file = corpus("paddle_1.8.5_combined");
  TensorFileReader reader(file);
  EXPECT_THAT(reader.next()->shape, ElementsAre(5, 3));
  EXPECT_THAT(reader.next()->shape, ElementsAre(2));
  EXPECT_THAT(reader.next()->shape, ElementsAre(7, 2));
  EXPECT_TRUE(reader.done());
}

TEST(TensorFileReader, StaysAtTheTensorThatItCannotRead) {
  std::string file = file_of(six());
  const size_t second = file.size();
  file += "garbage!";
  TensorFileReader reader(file);
  ASSERT_TRUE(reader.next().ok());
  EXPECT_THAT(reader.next().status().message(), HasSubstr("at byte 50: the version of the LoD is"));
  EXPECT_EQ(reader.offset(), second);
}

TEST(TensorFileErrors, EveryCutIsNoticed) {
  const std::string file = file_of(five());
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_EQ(decode_tensor(std::string_view(file).substr(0, size)).status().code(), Code::data_loss) << size;
  }
  EXPECT_EQ(message_of(""), "at byte 0: the version of the LoD takes 4 bytes, but the file ends after 0");
  EXPECT_EQ(message_of(file.substr(0, file.size() - 1)),
            "at byte 58: the elements of a int64 tensor of shape [5, 1] takes 40 bytes, but the file ends after 39");
}

TEST(TensorFileErrors, NameTheOffsetAndWhatWasExpected) {
  const std::string plain = file_of(six()), lod = file_of(five());
  EXPECT_THAT(message_of(plain + "x"), HasSubstr("at byte 50: 1 bytes follow the tensor, expected the end of the file"));
  EXPECT_THAT(message_of(with<uint32_t>(plain, 0, 1)), HasSubstr("the version of the LoD is 1, expected 0"));
  EXPECT_THAT(message_of(with<uint64_t>(plain, 4, UINT64_MAX)),
              HasSubstr("at byte 4: the number of LoD levels is 18446744073709551615"));
  EXPECT_THAT(message_of(with<uint32_t>(plain, 12, 9)), HasSubstr("at byte 12: the version of the tensor is 9"));
  EXPECT_THAT(message_of(with<int32_t>(plain, 16, -6)), HasSubstr("at byte 16: the size of the description is -6"));
  EXPECT_THAT(message_of(with<int32_t>(plain, 16, 1 << 30)),
              HasSubstr("the description takes 1073741824 bytes, but the file ends after 30"));
  EXPECT_THAT(message_of(with<uint8_t>(plain, 20, 0xff)),
              HasSubstr("at byte 20: the 6 bytes of the description are not a TensorDesc"));
  EXPECT_THAT(message_of(with<uint8_t>(plain, 21, 23)), HasSubstr("the element type is COMPLEX64, which is not supported"));
  EXPECT_THAT(message_of(with<uint8_t>(plain, 23, 200)), HasSubstr("not a TensorDesc"));
  EXPECT_THAT(message_of(with<uint64_t>(lod, 12, 23)),
              HasSubstr("at byte 12: LoD level 0 has 23 bytes, expected a multiple of 8"));
  EXPECT_THAT(message_of(with<uint64_t>(lod, 12, uint64_t{1} << 63)), HasSubstr("a LoD level takes 9223372036854775808 bytes"));
  EXPECT_THAT(message_of(with<int64_t>(lod, 20, 1)), HasSubstr("LoD level 0 starts with 1, expected 0"));
  EXPECT_THAT(message_of(with<int64_t>(lod, 28, 6)), HasSubstr("LoD level 0 falls from 6 to 5 at offset 2"));
  EXPECT_THAT(message_of(with<int64_t>(lod, 36, 9)), HasSubstr("LoD level 0 ends at 9, but there are 5 rows below it"));
}

TEST(TensorFileErrors, ShapesThatNoMachineHolds) {
  const auto with_shape = [](const std::string& dims) {
    std::string file(22, '\0');  // no LoD, and a description that starts with float32
    file[16] = static_cast<char>(2 + dims.size());
    file[20] = 8, file[21] = 5;
    return file.append(dims);
  };
  const std::string huge = "\x10\x80\x80\x80\x80\x80\x80\x80\x80\x40";  // 2^62
  EXPECT_THAT(message_of(with_shape(huge + huge)),
              HasSubstr("no tensor has the shape [4611686018427387904, 4611686018427387904]"));
  EXPECT_THAT(message_of(with_shape("\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")), HasSubstr("no tensor has the shape [-1]"));
}

}  // namespace
}  // namespace argosy::graph
