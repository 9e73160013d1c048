#include "argosy/data/json_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "argosy/data/queue_dataset.h"
#include "argosy/data/scratch_files_test.h"

namespace argosy::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<SlotSpec> kSlots = {{.name = "ids", .type = SlotType::int64, .dense = false, .width = 1},
                                      {.name = "x", .type = SlotType::float32, .dense = true, .width = 2},
                                      {.name = "label", .type = SlotType::int64, .dense = true, .width = 1}};

Result<Batch> parsed(const std::string& text, const ColumnOptions& options = {}, int64_t max_bad_lines = 0) {
  const ScratchFiles files;
  DatasetOptions dataset{
      .slots = kSlots, .batch_size = 10'000, .files = {files.write("part", text)}, .max_bad_lines = max_bad_lines};
  dataset.format = FileFormat::json;
  dataset.columns = options;
  QueueDataset source(std::move(dataset));
  RETURN_IF_ERROR(source.start(1));
  Batch batch;
  ASSIGN_OR_RETURN(const bool more, source.next(0, batch));
  EXPECT_TRUE(more);
  return batch;
}

std::string refusal(const std::string& line) {
  const auto batch = parsed(line + "\n");
  return batch.ok() ? "" : batch.status().message();
}

TEST(JsonLines, MembersOfTheSlotsNamesInAnyOrderAndOthersBesides) {
  const auto batch = parsed(
      "{\"ids\": [3, -7], \"x\": [0.5, 1e-2], \"label\": 1}\n"
      " { \"label\" : true, \"note\": {\"ids\": [\"a\\\"]}\", {}]}, \"x\":[1,2.25] ,\"ids\":9 } \r\n"
      "{\"x\":[3,4],\"who\":\"b}\",\"label\":0,\"ids\":[]}\n"
      "{\"x\":[5,6],\"label\":0}\n"
      "{\"x\":[7,8],\"label\":0,\"ids\":[null, 4]}\n");
  ASSERT_TRUE(batch.ok()) << batch.status().message();
  EXPECT_EQ(batch->size, 5);
  EXPECT_THAT(ints_of(batch->columns[0]), ElementsAre(3, -7, 9, 4));
  EXPECT_THAT(offsets_of(batch->columns[0]), ElementsAre(0, 2, 3, 3, 3, 4));
  EXPECT_THAT(floats_of(batch->columns[1]), ElementsAre(0.5, 0.01f, 1, 2.25, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(ints_of(batch->columns[2]), ElementsAre(1, 1, 0, 0, 0));
}

TEST(JsonLines, DefaultsStandForWhatIsMissing) {
  const auto batch = parsed("{\"ids\":null,\"x\":[1,null]}\n{\"label\":5}\n",
                            {.columns = {}, .defaults = {{"ids", int64_t{7}}, {"x", -0.5}, {"label", int64_t{2}}}});
  ASSERT_TRUE(batch.ok()) << batch.status().message();
  EXPECT_THAT(ints_of(batch->columns[0]), ElementsAre(7, 7));
  EXPECT_THAT(floats_of(batch->columns[1]), ElementsAre(1, -0.5, -0.5, -0.5));
  EXPECT_THAT(ints_of(batch->columns[2]), ElementsAre(2, 5));
}

TEST(JsonLines, ALongListGrowsItsColumn) {
  std::string text = "{\"x\":[1,2],\"label\":1,\"ids\":[0";
  for (int i = 1; i < 5000; ++i) text += fmt::format(",{}", i);
  const auto batch = parsed(text + "]}\n");
  ASSERT_TRUE(batch.ok()) << batch.status().message();
  ASSERT_EQ(batch->columns[0].count(), 5000);
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(batch->columns[0].ints()[i], i);
}

TEST(JsonLines, BadLinesAreNamed) {
  EXPECT_THAT(refusal("1 2 3"), HasSubstr("part:1:1: found '1', expected a JSON object"));
  EXPECT_THAT(refusal("{\"label\":1}"), HasSubstr("slot 'x' is not there, and it is dense"));
  EXPECT_THAT(refusal("{\"x\":null,\"label\":1}"), HasSubstr("slot 'x' is null"));
  EXPECT_THAT(refusal("{\"x\":[1,2,3],\"label\":1}"), HasSubstr("part:1:6: slot 'x' has 3 values, expected 2"));
  EXPECT_THAT(refusal("{\"x\":[1,2],\"label\":1.5}"),
              HasSubstr("slot 'label', value 1: found '1.5', expected an integer of 64 bits"));
  EXPECT_THAT(refusal("{\"x\":[1,\"2\"],\"label\":1}"), HasSubstr("slot 'x', value 2: found '\"2\"', expected a number"));
  EXPECT_THAT(refusal("{\"x\":[1,2],\"label\":1,\"label\":1}"), HasSubstr("slot 'label' is there twice"));
  EXPECT_THAT(refusal("{\"x\":[1,2],\"label\":1} {"), HasSubstr("behind the object, expected the end of the line"));
  EXPECT_THAT(refusal("{\"x\":[1,2],\"label\":1,}"), HasSubstr("expected ',' and another member, or '}'"));
  EXPECT_THAT(refusal("{\"note\":[1"), HasSubstr("the object does not end in its line"));
  EXPECT_THAT(refusal("{\"x\":[1,2,]"), HasSubstr("found ']' behind ','"));
  const auto batch = parsed("{\"x\":[1,2],\"label\":1}\nnot json\n{\"x\":[3],\"label\":1}\n{\"x\":[3,4],\"label\":2}\n", {}, 2);
  ASSERT_TRUE(batch.ok()) << batch.status().message();
  EXPECT_THAT(floats_of(batch->columns[1]), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(ints_of(batch->columns[2]), ElementsAre(1, 2));
}

// Lines of random pieces end with an error or a sample, and never behind their block.
TEST(JsonLines, RandomLinesAreErrorsOrSamples) {
  const std::vector<std::string> pieces = {"{",       "}",         "[", "]", ",",   ":",    "\"",   "\\", "\"x\"",
                                           "\"ids\"", "\"label\"", "1", "-", "0.5", "null", "true", " ",  "e"};
  const uint64_t seed = fresh_seed();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  std::string text = "{\"x\":[1,2],\"label\":1}\n";
  for (int line = 0; line < 5000; ++line) {
    if (line % 2 == 0) text += "{\"x\":[1,2],";
    for (uint64_t i = random() % 12; i > 0; --i) text += pieces[random() % pieces.size()];
    text += '\n';
  }
  const auto batch = parsed(text, {}, 5000);
  ASSERT_TRUE(batch.ok()) << batch.status().message();
}

}  // namespace
}  // namespace argosy::data
