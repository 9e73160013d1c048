#include "argosy/ps/state/state_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "argosy/base/random.h"
#include "argosy/ps/server/server_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using testing::ElementsAre;
using testing::HasSubstr;

// Bytes at a multiple of 8, as payloads arrive.
class Payload {
 public:
  template <typename T>
  Payload& add(const std::vector<T>& values) {
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    return *this;
  }
  std::span<const std::byte> bytes() {
    words_.assign(bytes_.size() / 8 + 1, 0);
    std::memcpy(words_.data(), bytes_.data(), bytes_.size());
    return {reinterpret_cast<const std::byte*>(words_.data()), bytes_.size()};
  }

 private:
  std::string bytes_;
  std::vector<uint64_t> words_;
};

struct Named {
  uint32_t table = 0;
  uint64_t count = 0;
  bool statistics = false;
};

Sections sections(const std::vector<Named>& parts) {
  Sections made;
  for (const Named& part : parts) {
    wire::Section* section = made.Add();
    section->set_table(part.table);
    section->set_count(part.count);
    section->set_statistics(part.statistics);
  }
  return made;
}

// Of server 0 of two: rows, rows that count shows, and a dense table.
class TablesTest : public testing::Test {
 protected:
  TablesTest() {
    TableSpec counted = counting_rows("counted", 1);
    counted.show_click.enabled = true;
    tables_ =
        std::move(Tables::make(job(Mode::async, 1, {counting_rows("rows", 2), counted, counting_dense("w", 4)}), {.servers = 2}))
            .value();
    for (uint64_t key = 0; ours_.size() < 50; ++key) {
      if (server_of(key, 2) == 0) ours_.push_back(key);
      if (server_of(key, 2) == 1) theirs_.push_back(key);
    }
  }
  std::string refusal(const std::vector<Named>& parts, Payload payload) {
    const auto found = tables_->lay_out(sections(parts), payload.bytes());
    return found.ok() ? "" : found.status().message();
  }
  static std::vector<float> values_of(const Tables& tables) {
    std::vector<float> values(4);
    EXPECT_TRUE(tables.dense(2)->copy_out(values).ok());
    return values;
  }
  std::vector<uint64_t> keys(size_t count) const { return {ours_.begin(), ours_.begin() + static_cast<ptrdiff_t>(count)}; }

  std::unique_ptr<Tables> tables_;
  std::vector<uint64_t> ours_, theirs_;
};

TEST_F(TablesTest, APushIsLaidOutAsItsSectionsSay) {
  Payload payload;
  payload.add(keys(2)).add(keys(3)).add(std::vector<float>{1, 2, 3, 4}).add(std::vector<float>{5, 6, 7});
  payload.add(std::vector<float>{10, 20, 30}).add(std::vector<float>{1, 2, 3}).add(std::vector<float>{8, 9, 10, 11});
  const auto bytes = payload.bytes();
  const auto found = tables_->lay_out(sections({{0, 2}, {1, 3, true}, {2, 4}}), bytes);
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_EQ(found->size(), 3u);
  const auto& rows = (*found)[0];
  const auto& counted = (*found)[1];
  const auto& dense = (*found)[2];
  EXPECT_EQ(std::vector(rows.keys.begin(), rows.keys.end()), keys(2));
  EXPECT_THAT(std::vector(rows.values.begin(), rows.values.end()), ElementsAre(1, 2, 3, 4));
  EXPECT_TRUE(rows.shows.empty());
  EXPECT_THAT(std::vector(counted.values.begin(), counted.values.end()), ElementsAre(5, 6, 7));
  EXPECT_THAT(std::vector(counted.shows.begin(), counted.shows.end()), ElementsAre(10, 20, 30));
  EXPECT_THAT(std::vector(counted.clicks.begin(), counted.clicks.end()), ElementsAre(1, 2, 3));
  EXPECT_EQ(dense.table, 2u);
  EXPECT_THAT(std::vector(dense.values.begin(), dense.values.end()), ElementsAre(8, 9, 10, 11));
  EXPECT_EQ(static_cast<const void*>(rows.keys.data()), bytes.data()) << "over the memory that it arrived in";
}

TEST_F(TablesTest, SectionsThatDoNotFitAreRefusedByName) {
  EXPECT_THAT(refusal({{3, 0}}, {}), HasSubstr("there is no table 3; the job has 3"));
  EXPECT_THAT(refusal({{1, 0}, {0, 0}}, {}), HasSubstr("the section of table 0 comes after that of table 1"));
  EXPECT_THAT(refusal({{0, 0}, {0, 0}}, {}), HasSubstr("expected ascending tables"));
  EXPECT_THAT(refusal({{0, 1}}, Payload().add(keys(1)).add(std::vector<float>{1})), HasSubstr("shorter than its sections say"));
  EXPECT_THAT(refusal({{0, 1}}, Payload().add(keys(1)).add(std::vector<float>{1, 2, 3})),
              HasSubstr("4 more than its sections say"));
  EXPECT_THAT(refusal({{0, ~uint64_t{0}}}, Payload().add(keys(1))), HasSubstr("shorter than its sections say"));
  EXPECT_THAT(refusal({{0, 1, true}}, Payload().add(keys(1)).add(std::vector<float>{1, 2, 3, 4})),
              HasSubstr("table 'rows' keeps no shows and clicks"));
  EXPECT_THAT(refusal({{2, 3}}, Payload().add(std::vector<float>{1, 2, 3})),
              HasSubstr("table 'w': 3 elements arrived; this server holds 4 of them"));
  EXPECT_EQ(refusal({{2, 0}}, {}), "") << "a worker without a gradient of it";
}

// A worker that deals keys in another way, as one of another version, is found out at once.
TEST_F(TablesTest, KeysOfAnotherServerAreRefused) {
  const uint64_t stray = theirs_[0];
  EXPECT_THAT(refusal({{0, 1}}, Payload().add(std::vector<uint64_t>{stray}).add(std::vector<float>{1, 2})),
              HasSubstr(fmt::format("key {} of table 'rows' belongs to server 1 of 2; this is server 0", stray)));
  Payload pull;
  pull.add(std::vector<uint64_t>{stray});
  EXPECT_FALSE(tables_->lay_out_keys(sections({{0, 1}}), pull.bytes()).ok());
}

// A pull may name a table in several pieces and in any order, but not without end.
TEST_F(TablesTest, APullsKeysAreLaidOutPieceByPiece) {
  Payload payload;
  payload.add(keys(2)).add(keys(1)).add(keys(3));
  const auto bytes = payload.bytes();
  const auto found = tables_->lay_out_keys(sections({{1, 2}, {0, 1}, {1, 3}}), bytes);
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_EQ(found->size(), 3u);
  EXPECT_EQ((*found)[2].table, 1u);
  EXPECT_EQ((*found)[2].keys.size(), 3u);
  EXPECT_THAT(tables_->lay_out_keys(sections({{2, 0}}), {}).status().message(),
              HasSubstr("table 'w' is dense; expected a sparse one"));
  EXPECT_THAT(tables_->lay_out_keys(sections(std::vector<Named>(200, Named{0, 0})), {}).status().message(),
              HasSubstr("a pull has 200 sections; expected 192 at most, for 3 tables"));
}

// A push comes from the network: whatever sections and bytes it has, it is refused or lies within the bytes.
TEST_F(TablesTest, AnyPushIsRefusedOrLiesWithinItsBytes) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  int good = 0;
  for (int trial = 0; trial < 5000; ++trial) {
    std::vector<Named> parts;
    Payload payload;
    const bool fits = random.below(2) == 0;
    std::vector<float> floats;
    for (uint32_t table = 0; table < 3; ++table) {
      if (random.below(3) == 0) continue;
      const uint64_t count = table == 2 ? (random.below(2) == 0 ? 4 : random.below(6)) : random.below(8);
      const bool statistics = table == 1 && random.below(2) == 0;
      parts.push_back(
          {fits ? table : static_cast<uint32_t>(random.below(4)), random.below(50) == 0 ? random() : count, statistics});
      if (table < 2) payload.add(keys(count));
      floats.resize(floats.size() + count * (table == 0 ? 2 : 1) + (statistics ? 2 * count : 0), 1.0f);
    }
    payload.add(floats);
    const auto bytes = payload.bytes();
    const auto found = tables_->lay_out(sections(parts), bytes);
    if (!found.ok()) {
      ASSERT_EQ(found.status().code(), Code::invalid_argument);
      continue;
    }
    ++good;
    size_t used = 0;
    for (const TableGradient& gradient : *found) {
      used +=
          gradient.keys.size_bytes() + gradient.values.size_bytes() + gradient.shows.size_bytes() + gradient.clicks.size_bytes();
      for (const auto part : {std::as_bytes(gradient.keys), std::as_bytes(gradient.values), std::as_bytes(gradient.shows)}) {
        if (part.empty()) continue;
        ASSERT_GE(part.data(), bytes.data());
        ASSERT_LE(part.data() + part.size(), bytes.data() + bytes.size());
      }
    }
    ASSERT_EQ(used, bytes.size()) << "every byte means something";
  }
  EXPECT_GT(good, 500);
}

TEST_F(TablesTest, ADenseTableHasAValueBeforeItIsTrained) {
  Payload payload;
  payload.add(std::vector<float>{1, 1, 1, 1});
  const auto gradients = *tables_->lay_out(sections({{2, 4}}), payload.bytes());
  EXPECT_THAT(tables_->uninitialised(), ElementsAre(2));
  const Status early = tables_->check_initialised(gradients);
  EXPECT_EQ(early.code(), Code::failed_precondition);
  EXPECT_THAT(early.message(), HasSubstr("dense table 'w' has no value yet"));
  ASSERT_TRUE(tables_->dense(2)->set(std::vector<float>{5, 5, 5, 5}).ok());
  EXPECT_TRUE(tables_->uninitialised().empty());
  ASSERT_TRUE(tables_->check_initialised(gradients).ok());
  ASSERT_TRUE(tables_->apply(gradients, 0, 0, 0).ok());
  EXPECT_EQ(values_of(*tables_)[0], 4);
}

TEST_F(TablesTest, ARateThatIsSetWinsOverTheSchedule) {
  JobSpec spec = job(Mode::async, 1, {counting_rows("a", 2), counting_rows("b", 2)});
  spec.tables[0].schedule = optim::exponential_decay(1.0, 10, 0.5, true);
  spec.tables[0].rate_factor = 2;
  const auto tables = std::move(Tables::make(spec, {})).value();
  EXPECT_FLOAT_EQ(tables->rate(0, 0), 2);
  EXPECT_FLOAT_EQ(tables->rate(0, 10), 1);
  tables->set_rate(0, 0.25f);
  EXPECT_FLOAT_EQ(tables->rate(0, 10), 0.5f) << "times the table's factor";
  EXPECT_EQ(tables->set_rate_of(0), 0.25f);
  EXPECT_EQ(tables->set_rate_of(1), std::nullopt);
  tables->set_rate(0, 0.0f);
  EXPECT_FLOAT_EQ(tables->rate(0, 10), 0) << "0 is a rate";
  tables->set_rate(0, std::nullopt);
  EXPECT_FLOAT_EQ(tables->rate(0, 20), 0.5f) << "by the schedule again";
}

// A load fills tables beside those in use and takes some of them: the others stay, and what was in use is in the filled ones.
TEST_F(TablesTest, OnlyTheTablesThatAreNamedAreAdopted) {
  const auto filled = std::move(tables_->make_empty()).value();
  const std::vector<float> two = {1, 2}, one = {7}, old = {9, 9, 9, 9}, fresh = {3, 3, 3, 3};
  ASSERT_TRUE(filled->sparse(0).set_rows(keys(1), two).ok());
  ASSERT_TRUE(filled->sparse(1).set_rows(keys(1), one).ok());
  ASSERT_TRUE(filled->dense(2)->set(fresh).ok());
  ASSERT_TRUE(tables_->dense(2)->set(old).ok());
  ASSERT_TRUE(tables_->adopt(*filled, {0, 2}).ok());
  EXPECT_EQ(tables_->sparse(0).size().rows, 1u);
  EXPECT_EQ(tables_->sparse(1).size().rows, 0u);
  EXPECT_EQ(values_of(*tables_), fresh);
  EXPECT_EQ(values_of(*filled), old);
  ASSERT_TRUE(tables_->adopt(*filled, {0, 2}).ok());
  EXPECT_EQ(values_of(*tables_), old) << "and back";
}

TEST_F(TablesTest, GradientsThatWereLeftOutAreCountedByTable) {
  Sections pushed = sections({{0, 1}, {2, 4}});
  pushed.at(0).set_nonfinite(3);
  tables_->count_left_out(pushed);
  tables_->count_left_out(pushed);
  tables_->count_refused(0, 5);
  EXPECT_EQ(tables_->left_out(0), 6u);
  EXPECT_EQ(tables_->nonfinite(0), 11u) << "those that were refused are not part of the state";
  EXPECT_EQ(tables_->nonfinite(2), 0u);
  tables_->set_left_out(0, 1);
  EXPECT_EQ(tables_->nonfinite(0), 6u);
}

}  // namespace
}  // namespace argosy::ps
