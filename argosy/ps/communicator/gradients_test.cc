#include "argosy/ps/communicator/gradients.h"

#include <gtest/gtest.h>

#include <thread>

#include "argosy/ps/client/cluster_test.h"
#include "argosy/ps/client/row_split.h"
#include "argosy/ps/communicator/thread_meeting.h"

namespace argosy::ps {
namespace {

JobSpec small_spec() { return {.mode = Mode::async, .workers = 1, .tables = {dense_table("w", 2), sparse_table("emb", 2)}}; }

TEST(MergedGradients, AddsEqualKeysAndStatistics) {
  const std::vector<float> dense{2, 4}, values_a{1, 2, 3, 4}, values_b{10, 20}, shows{5}, clicks{1};
  const std::vector<uint64_t> keys_a{7, 8}, keys_b{8};
  const DenseGradient dense_a{.table = 0, .values = dense};
  const RowGradients rows_a{.table = 1, .keys = keys_a, .values = values_a.data()};
  const RowGradients rows_b{
      .table = 1, .keys = keys_b, .values = values_b.data(), .shows = shows.data(), .clicks = clicks.data()};
  const StepGradients batches[] = {{.batch_id = 1, .dense = std::span(&dense_a, 1), .rows = std::span(&rows_a, 1)},
                                   {.batch_id = 2, .dense = {}, .rows = std::span(&rows_b, 1)}};
  MergedGradients merged;
  for (int again = 0; again < 2; ++again) {  // memory of the first merge is used by the second
    merged.merge(small_spec(), batches, 0.5f);
    ASSERT_EQ(merged.dense().size(), 1u);
    EXPECT_EQ(std::vector<float>(merged.dense()[0].values.begin(), merged.dense()[0].values.end()), (std::vector<float>{1, 2}));
    ASSERT_EQ(merged.rows().size(), 1u);
    const RowGradients& rows = merged.rows()[0];
    EXPECT_EQ(std::vector<uint64_t>(rows.keys.begin(), rows.keys.end()), keys_a);
    EXPECT_EQ(std::vector<float>(rows.values, rows.values + 4), (std::vector<float>{0.5, 1, 6.5, 12}));
    EXPECT_EQ(std::vector<float>(rows.shows, rows.shows + 2), (std::vector<float>{1, 6}))
        << "a batch without counts showed each key once";
    EXPECT_EQ(std::vector<float>(rows.clicks, rows.clicks + 2), (std::vector<float>{0, 1}));
    EXPECT_EQ(merged.batches().size(), 2u);
  }
  merged.merge(small_spec(), std::span(batches).subspan(1), 1);
  EXPECT_TRUE(merged.dense().empty()) << "a table that no batch has is left out";
}

TEST(MergedGradients, StatisticsAreAveragedAlsoWhereGradientsAreAdded) {
  JobSpec spec{.mode = Mode::async, .workers = 1, .tables = {dense_table("w", 1), dense_table("mean", 1)}};
  spec.tables[1].rule = optim::kRunningMean;
  const std::vector<float> two{2}, four{4};
  const DenseGradient first[] = {{.table = 0, .values = two}, {.table = 1, .values = two}};
  const DenseGradient second[] = {{.table = 0, .values = four}, {.table = 1, .values = four}};
  const StepGradients batches[] = {{.batch_id = 1, .dense = first, .rows = {}}, {.batch_id = 2, .dense = second, .rows = {}}};
  MergedGradients merged;
  merged.merge(spec, batches, 1);
  EXPECT_EQ(merged.dense()[0].values[0], 6);
  EXPECT_EQ(merged.dense()[1].values[0], 3);
}

TEST(GradientCopy, OutlivesWhatItCopied) {
  GradientCopy copy;
  {
    std::vector<float> dense{1, 2}, values{3, 4}, shows{9};
    std::vector<uint64_t> keys{11};
    const DenseGradient dense_gradient{.table = 0, .values = dense};
    const RowGradients rows{.table = 1, .keys = keys, .values = values.data(), .shows = shows.data()};
    copy.assign(small_spec(), {.batch_id = 5, .dense = std::span(&dense_gradient, 1), .rows = std::span(&rows, 1)});
  }
  copy.values(0)[0] = 10;
  const StepGradients view = copy.view();
  EXPECT_EQ(view.batch_id, 5u);
  EXPECT_EQ(view.dense[0].values[0], 10);
  EXPECT_EQ(view.rows[0].keys[0], 11u);
  EXPECT_EQ(view.rows[0].values[1], 4);
  EXPECT_EQ(view.rows[0].shows[0], 9);
  EXPECT_EQ(view.rows[0].clicks, nullptr);
}

// Whatever the number of servers, gather and scatter are each other's opposite and every key goes to its server.
TEST(RowSplit, EveryKeyGoesToItsServerAndComesBack) {
  const uint64_t seed = 4;
  SCOPED_TRACE(seed);
  Random random(seed);
  RowSplit split;
  for (int servers = 1; servers <= 6; ++servers) {
    std::vector<uint64_t> lists[3];
    std::vector<std::span<const uint64_t>> spans;
    for (auto& list : lists) {
      list.resize(random.below(200));
      for (uint64_t& key : list) key = random();
      spans.emplace_back(list);
    }
    split.assign(spans, servers);
    for (size_t list = 0; list < 3; ++list) {
      std::vector<float> rows(lists[list].size() * 3), back(rows.size(), -1);
      for (float& value : rows) value = static_cast<float>(random.uniform());
      size_t total = 0;
      for (int server = 0; server < servers; ++server) {
        const size_t count = split.count(server, list);
        std::vector<uint64_t> keys(count);
        std::vector<float> piece(count * 3);
        split.copy_keys(server, list, lists[list], keys.data());
        for (const uint64_t key : keys) ASSERT_EQ(server_of(key, servers), server);
        split.gather(server, list, rows.data(), 3, piece.data());
        split.scatter(server, list, piece.data(), 3, back.data());
        total += count;
      }
      ASSERT_EQ(total, lists[list].size());
      ASSERT_EQ(back, rows);
    }
  }
}

// Each step has all threads, batches in order; threads leave at any time, and the last one lets the others go.
TEST(ThreadMeeting, ActsOnceAStepForWhoeverIsLeft) {
  std::vector<size_t> sizes;
  ThreadMeeting meeting([&](std::span<const StepGradients> here) {
    for (size_t i = 1; i < here.size(); ++i) EXPECT_LT(here[i - 1].batch_id, here[i].batch_id);
    sizes.push_back(here.size());
    return Status();
  });
  meeting.open(3);
  std::atomic<uint64_t> batch = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&, thread] {
      for (int step = 0; step < 100 * (thread + 1); ++step) ASSERT_TRUE(meeting.arrive({.batch_id = batch++}, 20).ok());
      ASSERT_TRUE(meeting.leave().ok());
    });
  }
  for (auto& thread : threads) thread.join();
  ASSERT_EQ(sizes.size(), 300u);
  EXPECT_EQ(sizes[0], 3u);
  EXPECT_EQ(sizes[150], 2u);
  EXPECT_EQ(sizes[299], 1u);
}

TEST(ThreadMeeting, AllThreadsGetTheError) {
  ThreadMeeting meeting([](std::span<const StepGradients>) { return Status::internal("broken"); });
  meeting.open(2);
  std::thread other([&] { EXPECT_EQ(meeting.arrive({.batch_id = 1}, 20).message(), "broken"); });
  EXPECT_EQ(meeting.arrive({.batch_id = 2}, 20).message(), "broken");
  other.join();
}

}  // namespace
}  // namespace argosy::ps
