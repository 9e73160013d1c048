#include "argosy/ps/communicator/read_moments.h"

#include <gtest/gtest.h>

namespace argosy::ps {
namespace {

ReadMoments::Moment taken(ReadMoments& moments, std::vector<BatchId> batches) { return moments.take(batches); }

// Of several batches that are pushed together the oldest reading counts, server by server; 0 is no reading.
TEST(ReadMoments, TheOldestReadingOfMergedBatchesCounts) {
  ReadMoments moments;
  moments.received({7, 3});
  moments.begun(1);
  moments.pulled({5, 0});
  moments.computed(1);
  moments.received({9, 2});
  moments.begun(2);
  moments.pulled({4, 8});
  moments.pulled({6, 6});
  moments.computed(2);
  const auto read = taken(moments, {1, 2});
  EXPECT_EQ(read.rows, (ReadAt{4, 6}));
  EXPECT_EQ(read.dense, (ReadAt{7, 2}));
  EXPECT_EQ(taken(moments, {1, 2}).rows, ReadAt()) << "they are over";
}

// Rows belong to the batch that the pulling thread has begun, whichever thread computes it; dense parameters are as old as the
// step before of the thread that computes.
TEST(ReadMoments, BatchesThatAnotherThreadBeginsKeepTheirRows) {
  ReadMoments moments;
  moments.received({1});
  moments.begun(0);
  moments.pulled({1});
  std::thread([&] {
    moments.begun(1);
    moments.pulled({2});
  }).join();
  moments.computed(0);
  moments.step_done();
  moments.received({5});
  moments.computed(1);
  EXPECT_EQ(taken(moments, {0}).rows, ReadAt{1});
  const auto second = taken(moments, {1});
  EXPECT_EQ(second.rows, ReadAt{2});
  EXPECT_EQ(second.dense, ReadAt{1}) << "computed from what was there before the receive";
}

// Threads of one run compute batches that were all begun elsewhere, and pull for themselves.
TEST(ReadMoments, AThreadThatHasBegunNothingPullsForWhatItComputes) {
  ReadMoments moments;
  moments.received({4});
  for (const BatchId batch : {0, 1}) moments.begun(batch);
  std::thread([&] {
    moments.pulled({3});
    moments.computed(0);
  }).join();
  EXPECT_EQ(taken(moments, {0}).rows, ReadAt{3});
  EXPECT_EQ(taken(moments, {1}).rows, ReadAt());
}

TEST(ReadMoments, ForgottenBatchesAreNotKnown) {
  ReadMoments moments;
  moments.begun(0);
  moments.pulled({3});
  moments.forget_batches();
  moments.computed(0);
  EXPECT_EQ(taken(moments, {0}).rows, ReadAt());
}

}  // namespace
}  // namespace argosy::ps
