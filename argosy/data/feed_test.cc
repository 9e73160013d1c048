#include "argosy/data/feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "argosy/data/scratch_files_test.h"

namespace argosy::data {
namespace {

using testing::HasSubstr;
using testing::Not;

// What the log has while a pipe command writes a line every 50 ms, as many as here, of which a block holds more. A caller that
// waits for lines is patient for 0.5 s.
std::string log_of_reading(const ScratchFiles& files, const std::string& command) {
  const DatasetOptions options{.slots = {{.name = "id", .type = SlotType::int64, .dense = false, .width = 1}},
                               .pipe_command = command,
                               .batch_size = 4,
                               .files = {files.write("part", "unused\n")}};
  const auto parser = make_parser(options);
  const auto parts = FileParts::list(options);
  EXPECT_TRUE(parser.ok() && parts.ok());
  testing::internal::CaptureStderr();
  {
    FileFeed feed(options, *parts, **parser, 1, 0.5);
    std::vector<TextPiece> pieces;
    uint64_t number = 0;
    int64_t lines = 0;
    for (;;) {
      const auto more = feed.next_lines(4, pieces, number);
      EXPECT_TRUE(more.ok()) << more.status().message();
      if (!more.ok() || !*more) break;
      for (const TextPiece& piece : pieces) lines += piece.lines;
    }
    EXPECT_GT(lines, 0);
  }
  return testing::internal::GetCapturedStderr();
}

// Short lines that come steadily fill a block only after minutes; that is no silence.
TEST(FileFeed, DoesNotCallShortLinesSilence) {
  const ScratchFiles files;
  EXPECT_THAT(
      log_of_reading(files, files.write_program("steady", "#!/bin/sh\nfor i in $(seq 40); do echo 1 $i; sleep 0.05; done\n")),
      Not(HasSubstr("no line came")));
}

TEST(FileFeed, SaysThatNoLineComes) {
  const ScratchFiles files;
  EXPECT_THAT(log_of_reading(files, files.write_program("slow", "#!/bin/sh\nsleep 1.3; echo 1 1\n")),
              HasSubstr("no line came from the pipe command"));
}

}  // namespace
}  // namespace argosy::data
