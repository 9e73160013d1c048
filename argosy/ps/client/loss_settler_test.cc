#include "argosy/ps/client/loss_settler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "argosy/base/random.h"

namespace argosy::ps {
namespace {

using Phase = wire::SettleLossRequest::Phase;
constexpr Phase kAsk = wire::SettleLossRequest::ASK, kKeep = wire::SettleLossRequest::KEEP, kDrop = wire::SettleLossRequest::DROP;

wire::UnsettledLoss loss(uint32_t worker, uint64_t batch = 1) {
  wire::UnsettledLoss made;
  made.set_worker(worker);
  made.set_process_id(1000 + worker);
  made.add_batches(batch);
  return made;
}

wire::HeartbeatReply listing(const std::vector<wire::UnsettledLoss>& losses) {
  wire::HeartbeatReply reply;
  for (const auto& one : losses) *reply.add_unsettled() = one;
  return reply;
}

wire::SettleLossReply has(bool it_has) {
  wire::SettleLossReply reply;
  reply.set_has(it_has);
  return reply;
}

// Which servers are sent this phase.
std::vector<int> sent(const std::vector<LossSettler::Call>& calls, Phase phase) {
  std::vector<int> servers;
  for (const auto& call : calls) {
    if (call.request.phase() == phase) servers.push_back(call.server);
  }
  return servers;
}

const std::vector<int> kAll = {0, 1, 2}, kNone = {};

TEST(LossSettler, WithoutLossesSaysNothing) {
  LossSettler settler(3);
  EXPECT_TRUE(settler.due().empty());
  settler.heard(listing({}));
  EXPECT_TRUE(settler.due().empty());
}

// What all servers have counts; what one lacks is dropped everywhere: a batch is never on some of the servers only.
TEST(LossSettler, KeepsWhatAllHaveAndDropsTheRest) {
  for (const int lacks : {-1, 0, 1, 2}) {
    LossSettler settler(3);
    settler.heard(listing({loss(4)}));
    EXPECT_EQ(sent(settler.due(), kAsk), kAll);
    for (int server = 0; server < 3; ++server) settler.answered(server, loss(4), has(server != lacks));
    const auto calls = settler.due();
    EXPECT_EQ(sent(calls, kKeep), lacks < 0 ? kAll : kNone);
    EXPECT_EQ(sent(calls, kDrop), lacks < 0 ? kNone : kAll);
    EXPECT_EQ(sent(calls, kAsk), kNone);
    for (const auto& call : calls) EXPECT_EQ(call.request.loss().SerializeAsString(), loss(4).SerializeAsString());
    EXPECT_TRUE(settler.due().empty()) << "a decision is said once";
  }
}

// An answer that never comes is asked for again, and nothing is decided without it.
TEST(LossSettler, AsksAgainWhoHasNotAnswered) {
  LossSettler settler(3);
  settler.heard(listing({loss(4)}));
  settler.due();
  settler.answered(0, loss(4), has(true));
  settler.answered(2, loss(4), has(false));
  for (int beats = 0; beats < 5; ++beats) {
    const auto calls = settler.due();
    EXPECT_EQ(sent(calls, kAsk), std::vector<int>{1});
    EXPECT_EQ(calls.size(), 1u);
    settler.heard(listing({loss(4)}));  // servers go on listing it; what is known of it stays
  }
  settler.answered(1, loss(4), has(true));
  EXPECT_EQ(sent(settler.due(), kDrop), kAll);
}

// Where the decision did not arrive the server lists the loss again, and all begins anew.
TEST(LossSettler, AListedDecisionBeginsAnew) {
  LossSettler settler(2);
  settler.heard(listing({loss(4)}));
  for (const int server : {0, 1}) settler.answered(server, loss(4), has(true));
  EXPECT_EQ(settler.due().size(), 2u);
  settler.heard(listing({loss(4)}));
  EXPECT_EQ(sent(settler.due(), kAsk), (std::vector<int>{0, 1}));
}

// A worker that was started again settles its pushes itself.
TEST(LossSettler, ASupersededLossIsForgotten) {
  LossSettler settler(3);
  settler.heard(listing({loss(4), loss(5)}));
  wire::SettleLossReply superseded;
  superseded.set_superseded(true);
  settler.answered(1, loss(4), superseded);
  for (const auto& call : settler.due()) EXPECT_EQ(call.request.loss().worker(), 5u);
  settler.answered(0, loss(4), has(true));
  EXPECT_EQ(settler.due().size(), 3u) << "a late answer does not bring it back";
}

// Two losses of one worker, of different batches or processes, are two.
TEST(LossSettler, LossesAreToldApartByAllThatTheySay) {
  LossSettler settler(2);
  wire::UnsettledLoss other = loss(4);
  other.set_process_id(77);
  settler.heard(listing({loss(4, 1), loss(4, 2), other, loss(4, 1)}));
  EXPECT_EQ(settler.due().size(), 2u * 3);
  for (const int server : {0, 1}) settler.answered(server, loss(4, 2), has(true));
  const auto calls = settler.due();
  EXPECT_EQ(sent(calls, kKeep), (std::vector<int>{0, 1}));
  EXPECT_EQ(sent(calls, kAsk).size(), 4u);
  for (const auto& call : calls) {
    if (call.request.phase() == kKeep) {
      EXPECT_EQ(call.request.loss().batches(0), 2u);
    }
  }
}

// Several workers settle side by side over a network that loses calls and answers: whatever is lost, all decide the same for each
// loss, and it is what the servers have.
TEST(LossSettler, WorkersSideBySideDecideAlike) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int trial = 0; trial < 100; ++trial) {
    const int servers = 1 + static_cast<int>(random.below(4));
    const uint32_t losses = 1 + static_cast<uint32_t>(random.below(3));
    std::vector<std::vector<bool>> there(losses, std::vector<bool>(static_cast<size_t>(servers)));
    std::vector<bool> expected(losses, true);
    for (uint32_t i = 0; i < losses; ++i) {
      for (int server = 0; server < servers; ++server) {
        there[i][static_cast<size_t>(server)] = random.below(4) != 0;
        expected[i] = expected[i] && there[i][static_cast<size_t>(server)];
      }
    }
    std::vector<std::set<uint32_t>> listed(static_cast<size_t>(servers));
    for (auto& list : listed) {
      for (uint32_t i = 0; i < losses; ++i) list.insert(i);
    }
    std::vector<std::unique_ptr<LossSettler>> workers;
    for (int i = 0; i < 3; ++i) workers.push_back(std::make_unique<LossSettler>(servers));
    int beats = 0;
    for (; beats < 2000 && std::ranges::any_of(listed, [](const auto& list) { return !list.empty(); }); ++beats) {
      LossSettler& worker = *workers[random.below(workers.size())];
      for (const auto& list : listed) {
        if (random.below(3) == 0) continue;  // its answer to the heartbeat is lost
        std::vector<wire::UnsettledLoss> unsettled;
        for (const uint32_t i : list) unsettled.push_back(loss(i));
        worker.heard(listing(unsettled));
      }
      for (const auto& call : worker.due()) {
        const uint32_t which = call.request.loss().worker();
        const auto server = static_cast<size_t>(call.server);
        if (random.below(3) == 0) continue;  // the call is lost
        if (call.request.phase() != kAsk) {
          ASSERT_EQ(call.request.phase() == kKeep, expected[which]);
          listed[server].erase(which);
        }
        if (random.below(3) != 0) worker.answered(call.server, call.request.loss(), has(there[which][server]));
      }
    }
    ASSERT_LT(beats, 2000) << "never settled";
  }
}

}  // namespace
}  // namespace argosy::ps
