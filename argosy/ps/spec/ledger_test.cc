#include "argosy/ps/spec/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "argosy/base/random.h"

namespace argosy::ps {
namespace {

using testing::HasSubstr;
using testing::Not;

// Whether a text is one JSON value: strings, numbers, true, false, lists and objects.
class JsonReader {
 public:
  static bool reads(std::string_view text) {
    JsonReader reader(text);
    return reader.value() && (reader.space(), reader.rest_.empty());
  }

 private:
  explicit JsonReader(std::string_view text) : rest_(text) {}

  void space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) rest_.remove_prefix(1);
  }
  bool take(std::string_view word) {
    space();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool value() {
    space();
    if (rest_.starts_with('"')) return string();
    if (take("{")) return members('}', true);
    if (take("[")) return members(']', false);
    if (take("true") || take("false")) return true;
    const size_t size = std::min(rest_.find_first_not_of("+-.0123456789e"), rest_.size());
    rest_.remove_prefix(size);
    return size > 0;
  }
  bool string() {
    rest_.remove_prefix(1);
    while (!rest_.empty() && rest_[0] != '"') {
      if (static_cast<unsigned char>(rest_[0]) < 0x20) return false;
      const size_t size = rest_[0] != '\\' ? 1 : rest_.starts_with("\\u") ? 6 : 2;
      if (rest_.size() < size) return false;
      rest_.remove_prefix(size);
    }
    return take("\"");
  }
  bool members(char end, bool named) {
    if (take(std::string_view(&end, 1))) return true;
    do {
      space();
      if (named && !(rest_.starts_with('"') && string() && take(":"))) return false;
      if (!value()) return false;
    } while (take(","));
    return take(std::string_view(&end, 1));
  }

  std::string_view rest_;
};

PassSummary clean() {
  PassSummary pass;
  pass.batches = 10, pass.samples = 1000, pass.workers = 2;
  return pass;
}

TEST(PassSummary, SaysWhatWasReadAppliedAndLost) {
  EXPECT_EQ(clean().text(), "1,000 samples read, 1,000 applied once, 0 lost, 0 bad lines skipped");
  PassSummary one;
  one.batches = one.samples = one.bad_lines = 1;
  EXPECT_EQ(one.text(), "1 sample read, 1 applied once, 0 lost, 1 bad line skipped");
}

// A line that says nothing is lost must be true: each way to lose something has words of its own.
TEST(PassSummary, EachLossHasItsWords) {
  const auto said = [](const auto& change) {
    PassSummary pass = clean();
    change(pass);
    return pass.text();
  };
  EXPECT_EQ(said([](auto& p) { p.given_up_batches = 2, p.given_up_samples = 150; }),
            "1,000 samples read, 850 applied once, 150 lost, 0 bad lines skipped; given up by choice "
            "(on_worker_loss=shrink, durability=snapshot): 2 batches");
  EXPECT_THAT(said([](auto& p) { p.failed_runs = 1; }), HasSubstr("; 1 run ended with an error, counted nothing"));
  EXPECT_THAT(said([](auto& p) { p.lines_of_lost = 1200; }), HasSubstr("; 1,200 lines of lost workers' files counted for those"));
  EXPECT_THAT(said([](auto& p) { p.lines_in_parts = 30; }), HasSubstr("; 30 of these are on some servers only"));
  EXPECT_THAT(said([](auto& p) { p.unsent = 0.5; }), HasSubstr("; geo: differences of 0.5 in sum are not sent yet"));
  EXPECT_THAT(said([](auto& p) { p.given_up_differences = 0.25; }), HasSubstr("at most 0.25 in sum were given up after errors"));
}

// What a worker held back at its restart is unknown, unless the process that went on began again by itself.
TEST(PassSummary, ARestartLosesWhatWasHeldBack) {
  for (const bool holds_back : {false, true}) {
    for (uint32_t restarts = 0; restarts < 4; ++restarts) {
      for (uint32_t begun_again = 0; begun_again <= restarts; ++begun_again) {
        PassSummary pass = clean();
        pass.holds_back = holds_back, pass.restarts = restarts, pass.begun_again = begun_again;
        EXPECT_EQ(pass.unknown_differences(), holds_back && restarts > begun_again);
        EXPECT_EQ(pass.text().ends_with(": unknown"), pass.unknown_differences());
      }
    }
  }
}

TEST(PassSummary, ScriptsThatFeedThemselvesCountRuns) {
  PassSummary pass;
  pass.fed = true, pass.batches = 12, pass.given_up_batches = 2;
  EXPECT_THAT(pass.text(), HasSubstr("12 runs, 10 applied once, 2 lost"));
  pass.samples = 5;
  EXPECT_THAT(pass.text(), HasSubstr("5 samples read")) << "some worker has counted them";
}

// More is never given up than was read: servers that know of no pass say nothing of what they lack.
TEST(PassSummary, NothingIsAppliedLessThanNoTimes) {
  PassSummary pass = clean();
  pass.given_up_samples = pass.given_up_batches = 5000;
  EXPECT_EQ(pass.applied_samples(), 0u);
  EXPECT_EQ(pass.applied_batches(), 0u);
}

PassSummary random_pass(Random& random) {
  PassSummary pass;
  pass.workers = static_cast<int>(random.below(5));
  pass.batches = random.below(100), pass.samples = random.below(10'000), pass.lines = random.below(100);
  pass.bad_lines = random.below(10), pass.files = random.below(10);
  pass.given_up_batches = random.below(3), pass.given_up_samples = random.below(3), pass.failed_runs = random.below(3);
  pass.restarts = static_cast<uint32_t>(random.below(3)), pass.begun_again = static_cast<uint32_t>(random.below(2));
  pass.unsent = static_cast<double>(random.below(8)) / 4, pass.given_up_differences = static_cast<double>(random.below(8)) / 4;
  pass.fed = random.below(4) == 0, pass.holds_back = random.below(4) == 0;
  pass.lines_of_lost = random.below(3), pass.lines_in_parts = random.below(3);
  return pass;
}

bool same(const PassSummary& a, const PassSummary& b) {
  const auto numbers = [](const PassSummary& p) {
    return std::tuple(p.workers, p.batches, p.samples, p.lines, p.bad_lines, p.files, p.given_up_batches, p.given_up_samples,
                      p.failed_runs, p.restarts, p.unsent, p.fed, p.lines_of_lost, p.lines_in_parts, p.holds_back);
  };
  return numbers(a) == numbers(b) && a.begun_again == b.begun_again && a.given_up_differences == b.given_up_differences;
}

// The total does not depend on who is added first, nor on how passes are put together.
TEST(PassSummary, AddsUpInAnyOrder) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int trial = 0; trial < 200; ++trial) {
    const PassSummary a = random_pass(random), b = random_pass(random), c = random_pass(random);
    PassSummary ab, ba, a_bc, bc = b;
    ab.add(a), ab.add(b);
    ba.add(b), ba.add(a);
    ASSERT_TRUE(same(ab, ba));
    bc.add(c), a_bc.add(a), a_bc.add(bc), ab.add(c);
    ASSERT_TRUE(same(ab, a_bc));
    PassSummary none;
    none.add(a);
    ASSERT_TRUE(same(none, a)) << "every field is added";
    ASSERT_EQ(ab.samples, a.samples + b.samples + c.samples);
  }
}

TEST(OpenPass, SaysWhatAWorkerHasLeftUnfinished) {
  OpenPass open{.worker = 1, .state = "live", .round = 2, .batches = 1, .samples = 100};
  EXPECT_EQ(open.text(), "pass 2 of worker 1, which is live, is not finished: 1 batch of it (100 samples) applied");
  EXPECT_FALSE(open.unknown_given_up()) << "it may still come back";
  open.state = "lost", open.lost = true;
  EXPECT_THAT(open.text(), HasSubstr("unknown (the rest of worker 1's pass, and its later ones)"));
  open.dropped_batches = 1, open.dropped_samples = 10;
  EXPECT_THAT(open.text(), HasSubstr("; 1 batch more (10 samples), not on all servers, dropped"));
  open.files_handed_on = 3;
  EXPECT_FALSE(open.unknown_given_up()) << "others go on where it was";
  EXPECT_THAT(open.text(), testing::AllOf(HasSubstr("other workers have 3 of its files"), Not(HasSubstr("unknown"))));
  open.files_left = 1;
  EXPECT_THAT(open.text(),
              testing::AllOf(HasSubstr("nobody has asked for 1 of its files"), HasSubstr("(the rest of worker 1's files)")));
  open.files_twice = 2;
  EXPECT_THAT(open.text(), HasSubstr("2 of its files are read again from the beginning"));
}

TEST(JobLedger, OfAJobWithoutPassesIsJson) {
  const std::string json = JobLedger().to_json();
  EXPECT_TRUE(JsonReader::reads(json)) << json;
  EXPECT_THAT(json, HasSubstr("\"passes\": ["));
}

// Whatever a ledger holds, and whatever a script calls its variables, it is JSON; numbers that JSON does not have are -1.
TEST(JobLedger, IsJsonWhateverItHolds) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int trial = 0; trial < 100; ++trial) {
    JobLedger ledger;
    for (uint64_t passes = random.below(4); passes > 0; --passes) {
      ledger.passes.push_back(random_pass(random));
      ledger.total.add(ledger.passes.back());
    }
    if (random.below(2) == 0) ledger.total.unsent = std::numeric_limits<double>::infinity();
    if (random.below(2) == 0) ledger.total.given_up_differences = std::nan("");
    for (uint64_t open = random.below(3); open > 0; --open)
      ledger.open.push_back({.worker = 1, .state = "lost", .round = 3, .lost = random.below(2) == 0});
    for (uint64_t tables = random.below(4); tables > 0; --tables) {
      std::string name;
      for (uint64_t size = random.below(8); size > 0; --size) name += "a\"\\\n\t\x01/_ {}"[random.below(12)];
      ledger.nonfinite[name] = random();
    }
    const std::string json = ledger.to_json();
    ASSERT_TRUE(JsonReader::reads(json)) << json;
    ASSERT_THAT(json, Not(HasSubstr("nan")));
    if (std::isinf(ledger.total.unsent)) {
      ASSERT_THAT(json, HasSubstr("\"unsent\": -1"));
    }
  }
}

TEST(JobLedger, SaysUnknownWhereNobodyKnows) {
  JobLedger ledger;
  ledger.passes.push_back(clean());
  ledger.passes[0].holds_back = true, ledger.passes[0].restarts = 1;
  ledger.open.push_back({.worker = 0, .state = "lost", .lost = true});
  const std::string json = ledger.to_json();
  EXPECT_THAT(json, HasSubstr("\"differences_given_up\": \"unknown\""));
  EXPECT_THAT(json, HasSubstr("\"given_up\": \"unknown\""));
}

}  // namespace
}  // namespace argosy::ps
