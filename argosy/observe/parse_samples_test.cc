// What a registry writes, it reads again, whatever is in the labels; what is no line of metrics is an error that shows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "argosy/base/random.h"
#include "argosy/observe/metrics.h"

namespace argosy::observe {
namespace {

using testing::HasSubstr;

// The one sample of `line`.
Sample sample_of(const std::string& line) {
  const auto samples = parse_samples(line);
  EXPECT_TRUE(samples.ok()) << samples.status().message();
  return samples.ok() && samples->size() == 1 ? (*samples)[0] : Sample{.name = "not one sample"};
}

std::string hostile_text(Random& random) {
  constexpr std::string_view kAll = "\\\"\n n,={}#x";
  std::string text;
  for (uint64_t i = 0, length = random.below(8); i < length; ++i) text += kAll[random.below(kAll.size())];
  return text;
}

// A path of Windows, a name with quotes, a text of two lines: whatever a label says is what is read.
TEST(ParseSamples, LabelsAreReadAsTheyWereWritten) {
  const uint64_t seed = 20;
  Random random(seed);
  for (int i = 0; i < 500; ++i) {
    Registry registry;
    const Labels labels = {{"path", hostile_text(random)}, {"what", hostile_text(random)}};
    const double value = static_cast<double>(random.below(1000)) / 8;
    registry.counter("bytes_total", "help", labels).add(value);
    const auto samples = parse_samples(registry.text());
    ASSERT_TRUE(samples.ok()) << samples.status().message();
    ASSERT_EQ(samples->size(), 1u);
    EXPECT_EQ((*samples)[0].labels, labels) << registry.text() << "seed " << seed << ", " << i;
    EXPECT_EQ((*samples)[0].value, value);
  }
}

TEST(ParseSamples, ABackslashBeforeAnNIsNoEndOfALine) {
  EXPECT_EQ(sample_of(R"(a{path="C:\\new"} 1)").label("path"), R"(C:\new)");
  EXPECT_EQ(sample_of(R"(a{path="C:\new"} 1)").label("path"), "C:\new");
  EXPECT_EQ(sample_of(R"(a{path="\\\n\""} 1)").label("path"), "\\\n\"");
}

TEST(ParseSamples, NumbersMayBeNoneOrWithoutEnd) {
  EXPECT_TRUE(std::isnan(sample_of("a NaN").value));
  EXPECT_EQ(sample_of("a{} +Inf").value, HUGE_VAL);
  EXPECT_EQ(sample_of("a -Inf").value, -HUGE_VAL);
  EXPECT_EQ(sample_of("a:b_1 -1.5e3").value, -1500);
  EXPECT_EQ(sample_of("a:b_1 -1.5e3").name, "a:b_1");
}

TEST(ParseSamples, CommentsAndEmptyLinesSayNothing) {
  const auto samples = parse_samples("# HELP a b\n\n# TYPE a counter\na 1\n\nb 2\n");
  ASSERT_TRUE(samples.ok());
  ASSERT_EQ(samples->size(), 2u);
  EXPECT_EQ((*samples)[1].name, "b");
  EXPECT_TRUE(parse_samples("")->empty());
}

TEST(ParseSamples, OtherLinesAreRefusedAndShown) {
  for (const char* line : {"a", "a ", "a{ 1", "a{x=1} 1", "a{x=\"1} 1", "a{x=\"1\"}1", "a{x=\"1\"y=\"2\"} 1", "a{=\"1\"} 1",
                           "a{x=\"1\\", "{x=\"1\"} 1", "a 1 2", "a one", "<html>"}) {
    const auto samples = parse_samples(std::string("ok 1\n") + line + "\n");
    ASSERT_FALSE(samples.ok()) << line;
    EXPECT_THAT(samples.status().message(), HasSubstr(std::string("'") + line + "' is no line of metrics"));
  }
  const std::string page(100'000, '<');
  EXPECT_LT(parse_samples(page).status().message().size(), 400u) << "of a long line, the beginning";
}

// Cut anywhere, a text is what stands before the cut where that is whole lines, or a number less of one; else an error.
TEST(ParseSamples, ATextMayEndAnywhere) {
  const std::string first = R"(a{x="1\\",y="\"\n"} 1)", text = first + "2\nb 3\n";
  for (size_t length = 0; length <= text.size(); ++length) {
    const std::string part = text.substr(0, length);
    const auto samples = parse_samples(part);
    const bool whole = length == 0 || (length >= first.size() && part.back() != 'b' && part.back() != ' ');
    EXPECT_EQ(samples.ok(), whole) << "'" << part << "'";
    if (length == 0 || !samples.ok()) continue;
    EXPECT_EQ(samples->size(), length < text.size() - 1 ? 1u : 2u) << part;
    EXPECT_EQ(samples->front().label("y"), "\"\n") << part;
    EXPECT_EQ(samples->front().value, length == first.size() ? 1 : 12);
  }
}

}  // namespace
}  // namespace argosy::observe
