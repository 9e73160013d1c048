#include "argosy/data/criteo.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "argosy/base/file.h"
#include "argosy/base/random.h"
#include "argosy/data/byte_stream.h"
#include "argosy/data/multislot.h"
#include "argosy/data/queue_dataset.h"
#include "argosy/data/scratch_files_test.h"

namespace argosy::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Lines of Criteo text and what the quick start's Python reader and the benchmark's Python reader make of them with a hash
// dimension of 1,000,001, taken from runs of those: all fields, none, and the odd ones (large, negative, not ASCII).
struct Golden {
  const char* line;
  const char* span;
  const char* log1p;
};
const Golden kGolden[] = {
    {"0\t1\t1\t5\t0\t1382\t4\t15\t2\t181\t1\t2\t\t2\t68fd1e64\t80e26c9b\tfb936136\t7b4723c4\t25c83c98\t7e0ccccf\tde7995b8\t1f89"
     "b562\ta73ee510\ta8cd5504\tb2cb9c98\t37c9c164\t2824a5f6\t1adce6ef\t8ba8b39a\t891b62e7\te5ba7672\tf54016b9\t21ddc"
     "dc9\tb1252a9d\t07b5194c\t\t3a171ecb\tc5c50484\te8b83407\t9727dd16",
     "13 0.05 0.006633499170812604 0.05 0.0 0.02159375 0.008 0.15 0.04 0.362 0.1 0.2 0.0 0.04 1 619721 1 1"
     "99038 1 236233 1 384477 1 154448 1 886158 1 630361 1 304536 1 468497 1 721096 1 677431 1 849574 1 31"
     "7643 1 481578 1 717809 1 154269 1 45350 1 101617 1 470230 1 883632 1 563955 1 535820 1 745847 1 6452"
     "15 1 481561 1 438677 1 0",
     "13 0.138629 0.138629 0.358352 0.000000 1.446402 0.321888 0.554518 0.219722 1.040801 0.138629 0.21972"
     "2 0.0 0.219722 1 836172 1 604505 1 941372 1 851342 1 701700 1 922043 1 654287 1 962016 1 55954 1 796"
     "863 1 285464 1 955434 1 25402 1 726380 1 591720 1 28106 1 413469 1 659796 1 300638 1 103684 1 393028"
     " 1 463004 1 242032 1 333985 1 115813 1 172674 1 0"},
    {"1\t\t-3\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t",
     "13 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 1 218644 1 92728 1 54552 1 744222 1 836179 1 "
     "369429 1 623760 1 448280 1 983353 1 706770 1 531260 1 37193 1 241945 1 912945 1 861983 1 184462 1 27"
     "8906 1 310013 1 778840 1 200363 1 452359 1 535820 1 400535 1 140581 1 607676 1 923174 1 1",
     "13 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 1 190158 1 720464 1 702369 1 478727 1 693655 "
     "1 625738 1 823859 1 576311 1 820088 1 261537 1 399555 1 200070 1 822354 1 311866 1 428347 1 630640 1"
     " 341096 1 260620 1 27057 1 192634 1 495417 1 463004 1 673484 1 887124 1 776714 1 146078 1 1"},
    {"1\t4095\t4096\t99999\t-2\t1000000007\t7\t3\t1\t1\t3\t9\t100000\t33\tünï\ta b\t-\t0\t25c83c98\t7e0ccccf\tde7995b8\t1f89b56"
     "2\ta73ee510\ta8cd5504\tb2cb9c98\t37c9c164\t2824a5f6\t1adce6ef\t8ba8b39a\t891b62e7\te5ba7672\tf54016b9\t21ddcdc9"
     "\tb1252a9d\t07b5194c\t\t3a171ecb\tc5c50484\te8b83407\t9727dd16",
     "13 204.75 6.797678275290216 999.99 -0.04 15625.000109375 0.014 0.03 0.02 0.002 0.3 0.9 10000.0 0.66 "
     "1 915888 1 962526 1 956290 1 527190 1 154448 1 886158 1 630361 1 304536 1 468497 1 721096 1 677431 1"
     " 849574 1 317643 1 481578 1 717809 1 154269 1 45350 1 101617 1 470230 1 883632 1 563955 1 535820 1 7"
     "45847 1 645215 1 481561 1 438677 1 1",
     "13 1.663553 1.663602 2.302585 0.0 4.144653 0.415888 0.277259 0.138629 0.138629 0.277259 0.460517 2.3"
     "02587 0.705272 1 620393 1 817071 1 305681 1 409417 1 701700 1 922043 1 654287 1 962016 1 55954 1 796"
     "863 1 285464 1 955434 1 25402 1 726380 1 591720 1 28106 1 413469 1 659796 1 300638 1 103684 1 393028"
     " 1 463004 1 242032 1 333985 1 115813 1 172674 1 1"},
};

class CriteoTest : public testing::Test {
 protected:
  // What criteo_to_multislot makes of the text.
  Result<std::string> rendered(const std::string& text, const CriteoOptions& options, int64_t max_bad_lines = 0) {
    const Fd in(::open(files_.write("in", text).c_str(), O_RDONLY));
    const Fd out(::open(files_.path("out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
    RETURN_IF_ERROR(criteo_to_multislot(in.get(), out.get(), options, max_bad_lines));
    return read_file(files_.path("out"));
  }

  Result<Batch> parsed(const std::string& text, const std::vector<SlotSpec>& slots, std::optional<CriteoOptions> options) {
    QueueDataset dataset({.slots = slots, .batch_size = 1 << 20, .files = {files_.write("text", text)}, .criteo = options});
    RETURN_IF_ERROR(dataset.start(1));
    Batch batch;
    ASSIGN_OR_RETURN(const bool some, dataset.next(0, batch));
    if (!some) return Status::not_found("no samples");
    return batch;
  }

  ScratchFiles files_;
};

void expect_equal(const Batch& found, const Batch& expected) {
  ASSERT_EQ(found.size, expected.size);
  for (size_t i = 0; i < expected.columns.size(); ++i) {
    SCOPED_TRACE(fmt::format("column {}", i));
    EXPECT_EQ(offsets_of(found.columns[i]), offsets_of(expected.columns[i]));
    if (expected.columns[i].type() == SlotType::float32) {
      EXPECT_EQ(floats_of(found.columns[i]), floats_of(expected.columns[i]));
    } else {
      EXPECT_EQ(ints_of(found.columns[i]), ints_of(expected.columns[i]));
    }
  }
}

TEST_F(CriteoTest, WritesTheTextOfThePythonReaders) {
  for (const Golden& golden : kGolden) {
    EXPECT_EQ(*rendered(std::string(golden.line) + "\n", {}), std::string(golden.span) + "\n");
    EXPECT_EQ(*rendered(std::string(golden.line) + "\r\n", {.scheme = CriteoScheme::log1p}), std::string(golden.log1p) + "\n");
  }
}

TEST_F(CriteoTest, LeavesOutAsManyBadLinesAsAllowed) {
  const std::string good(kGolden[0].line), expected = std::string(kGolden[0].span) + "\n";
  const std::string text = "bad\n" + good + "\n\n" + good + "\nlast without end";
  EXPECT_EQ(*rendered(text, {}, 3), expected + expected);
  const auto too_many = rendered(text, {}, 2);
  ASSERT_FALSE(too_many.ok());
  EXPECT_NE(too_many.status().message().find("criteo:5:"), std::string::npos) << too_many.status().message();
}

TEST_F(CriteoTest, ParsesToTheValuesOfThePythonReaders) {
  for (const Golden& golden : kGolden) {
    const auto span = parsed(golden.line, criteo_slots(), CriteoOptions{});
    ASSERT_TRUE(span.ok()) << span.status().message();
    expect_equal(*span, *parsed(golden.span, criteo_slots(), std::nullopt));
    expect_equal(*parsed(golden.line, criteo_slots(), CriteoOptions{.scheme = CriteoScheme::log1p}),
                 *parsed(golden.log1p, criteo_slots(), std::nullopt));
  }
}

// In process or through text, the floats must be the same bits, or a run changes with how its data is read.
TEST_F(CriteoTest, ParsingAndRenderingAgreeOnRandomLines) {
  const uint64_t seed = fresh_seed();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Random random(seed);
  std::string text;
  for (int line = 0; line < 3000; ++line) {
    text += fmt::format("{}", random.below(2));
    for (int i = 0; i < kCriteoDense; ++i) {
      text += random.below(8) == 0 ? "\t" : fmt::format("\t{}", static_cast<int64_t>(random() >> (24 + random.below(40))) - 3);
    }
    for (int i = 0; i < kCriteoCategories; ++i) text += random.below(20) == 0 ? "\t" : fmt::format("\t{:08x}", random() >> 32);
    text += '\n';
  }
  for (const CriteoScheme scheme : {CriteoScheme::span, CriteoScheme::log1p}) {
    const CriteoOptions options{.hash_dim = 4093, .scheme = scheme};
    expect_equal(*parsed(text, criteo_slots(), options), *parsed(*rendered(text, options), criteo_slots(), std::nullopt));
  }
}

TEST_F(CriteoTest, FillsSomeSlotsInAnyOrder) {
  const std::vector<SlotSpec> slots = {{.name = "label", .type = SlotType::float32, .dense = true, .width = 1},
                                       {.name = "C26", .type = SlotType::int64, .dense = true, .width = 1},
                                       {.name = "dense_input", .type = SlotType::float32, .dense = false, .width = 1}};
  const auto batch = parsed(std::string(kGolden[2].line) + "\n" + kGolden[1].line, slots, CriteoOptions{});
  ASSERT_TRUE(batch.ok()) << batch.status().message();
  EXPECT_THAT(floats_of(batch->columns[0]), testing::ElementsAre(1, 1));
  EXPECT_THAT(ints_of(batch->columns[1]), testing::ElementsAre(438677, 923174));
  EXPECT_THAT(offsets_of(batch->columns[2]), testing::ElementsAre(0, 13, 26));
}

TEST_F(CriteoTest, RefusesSlotsThatTheTextDoesNotHave) {
  const auto refused = [](SlotSpec slot) { return CriteoParser::make(std::vector{slot}, {}).status().message(); };
  EXPECT_THAT(refused({.name = "dense_inputs", .type = SlotType::float32, .dense = true, .width = 13}),
              HasSubstr("did you mean 'dense_input'?"));
  EXPECT_THAT(refused({.name = "C27", .type = SlotType::int64}), HasSubstr("'C27' is not in Criteo text"));
  EXPECT_THAT(refused({.name = "C1", .type = SlotType::float32}), HasSubstr("'C1' is float32"));
  EXPECT_THAT(refused({.name = "dense_input", .type = SlotType::float32, .dense = true, .width = 12}), HasSubstr("width 12"));
  EXPECT_THAT(CriteoParser::make(criteo_slots(), {.hash_dim = 0}).status().message(), HasSubstr("hash_dim is 0"));
}

TEST_F(CriteoTest, SaysWhereAndWhyALineIsBad) {
  const std::string good = kGolden[0].line;
  const struct {
    std::string line;
    const char* what;
  } cases[] = {{"", ":2:1: Criteo field 1 of 40: found the end of the line, expected the label"},
               {fmt::format("x{}", good.substr(1)), ":2:1: Criteo field 1 of 40: found 'x'"},
               {"0\t1\t1", ":2:6: Criteo field 4 of 40: found the end of the line, expected 40 fields"},
               {fmt::format("0\t1x{}", good.substr(3)), ":2:3: Criteo field 2 of 40: found '1x', expected a number"},
               {good.substr(0, good.rfind('\t')), "Criteo field 40 of 40"}};
  for (const auto& [line, what] : cases) {
    const std::string text = good + "\n" + line + "\n";
    EXPECT_THAT(parsed(text, criteo_slots(), CriteoOptions{}).status().message(), HasSubstr(what)) << line;
    EXPECT_THAT(rendered(text, {}).status().message(), HasSubstr(what)) << line;
  }
}

}  // namespace
}  // namespace argosy::data
