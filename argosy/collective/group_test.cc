#include "argosy/collective/group.h"

#include <signal.h>
#include <unistd.h>

#include "argosy/collective/ranks_test.h"

namespace argosy::collective {
namespace {

at::Tensor numbers(double value) { return at::full({2, 3}, value); }

TEST(Group, OfOneProcessIsThereWithoutAnybody) {
  auto group = value_or_throw(Group::join(RankInfo{}, Settings()));
  at::Tensor mine = numbers(7);
  EXPECT_TRUE(group->all_reduce(mine).ok());
  EXPECT_TRUE(group->barrier().ok());
  EXPECT_TRUE(mine.equal(numbers(7)));
  EXPECT_EQ(value_or_throw(group->all_gather(std::string("x"))), std::vector<std::string>{"x"});
}

TEST(Group, ReducesBroadcastsGathersAndScatters) {
  expect_ranks(3, [](const RankInfo& place) {
    auto group = join(place);
    const int rank = group->rank();
    for (const auto& [op, expected] : std::vector<std::pair<ReduceOp, double>>{
             {ReduceOp::sum, 6}, {ReduceOp::average, 2}, {ReduceOp::max, 3}, {ReduceOp::min, 1}, {ReduceOp::product, 6}}) {
      at::Tensor mine = numbers(rank + 1);
      throw_if_error(group->all_reduce(mine, op));
      require(mine.equal(numbers(expected)), "all_reduce");
    }
    at::Tensor part = at::arange(6).reshape({2, 3}).t();  // not contiguous
    throw_if_error(group->all_reduce(part));
    require(part.equal(3 * at::arange(6).reshape({2, 3}).t()), "all_reduce of a view");
    at::Tensor to_one = numbers(rank + 1);
    throw_if_error(group->reduce(to_one, 1));
    require(to_one.equal(numbers(rank == 1 ? 6 : rank + 1)), "reduce leaves the others as they are");
    at::Tensor from_two = numbers(rank);
    throw_if_error(group->broadcast(from_two, 2));
    require(from_two.equal(numbers(2)), "broadcast");
    const auto all = value_or_throw(group->all_gather(numbers(rank)));
    for (int other = 0; other < 3; ++other) require(all[other].equal(numbers(other)), "all_gather");
    const auto mine = value_or_throw(group->reduce_scatter({numbers(rank), numbers(10 + rank), numbers(20 + rank)}));
    require(mine.equal(numbers(3 + 30 * rank)), "reduce_scatter");
    const auto words = value_or_throw(group->all_gather(std::string(rank, 'x')));
    require(words == std::vector<std::string>{"", "x", "xx"}, "all_gather of bytes");
    require(value_or_throw(group->broadcast(rank == 1 ? "hello" : "", 1)) == "hello", "broadcast of bytes");
  });
}

TEST(Group, SendsAndReceives) {
  expect_ranks(2, [](const RankInfo& place) {
    auto group = join(place);
    at::Tensor tensor = numbers(group->rank());
    if (group->rank() == 0) {
      throw_if_error(group->send(numbers(5), 1));
      throw_if_error(group->recv(tensor, 1));
    } else {
      throw_if_error(group->recv(tensor, 0));
      throw_if_error(group->send(tensor * 2, 0));
    }
    require(tensor.equal(numbers(group->rank() == 0 ? 10 : 5)), "send and recv");
    require(!group->send(tensor, group->rank()).ok(), "to itself");
    require(!group->send(tensor, 9).ok(), "to nobody");
  });
}

TEST(Group, SubgroupsCountForThemselves) {
  expect_ranks(3, [](const RankInfo& place) {
    auto world = join(place);
    auto pair = value_or_throw(world->subgroup({2, 0}));
    require((pair != nullptr) == (place.rank != 1), "membership");
    if (pair) {
      require(pair->rank() == (place.rank == 2 ? 0 : 1), "rank in the subgroup");
      at::Tensor mine = numbers(place.rank + 1);
      throw_if_error(pair->all_reduce(mine));
      require(mine.equal(numbers(4)), "sum of ranks 0 and 2");
    }
    throw_if_error(world->barrier());
  });
}

TEST(Group, AverageOfIntegersIsRefused) {
  auto group = value_or_throw(Group::join(RankInfo{}, Settings()));
  at::Tensor whole = at::ones({2}, at::kLong);
  const Status status = group->all_reduce(whole, ReduceOp::average);
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_THAT(status.message(), ::testing::HasSubstr("Long"));
}

TEST(Group, CallsThatDifferAreToldWithBothRanks) {
  expect_ranks(2, [](const RankInfo& place) {
    auto group = join(place);
    at::Tensor mine = at::zeros({place.rank + 1});
    const Status shapes = group->all_reduce(mine);
    require(shapes.message().find("rank 0 is in all_reduce") != std::string::npos ||
                shapes.message().find("rank 1 is in all_reduce") != std::string::npos,
            "who did what: " + shapes.message());
    require(shapes.message().find("[1]") != std::string::npos && shapes.message().find("[2]") != std::string::npos,
            shapes.message());
    const Status orders = place.rank == 0 ? group->barrier() : group->broadcast(mine, 0);
    require(orders.code() == Code::failed_precondition && orders.message().find("barrier") != std::string::npos &&
                orders.message().find("broadcast") != std::string::npos,
            "operations: " + orders.message());
    throw_if_error(group->barrier());  // the group can still be used
  });
}

TEST(Group, AMemberThatDoesNotComeIsNamedWithWhatItDoes) {
  const auto ends = testing::run_ranks(
      2,
      [](const RankInfo& place) {
        auto group = join(place, {{"collective_seconds", "8"}, {"collective_check", "off"}});
        if (place.rank == 1) {
          group->doing("a long dream");
          for (;;) ::pause();
        }
        at::Tensor mine = numbers(1);
        throw_if_error(group->all_reduce(mine));
      },
      std::chrono::seconds(60), kill_when_the_first_has_ended);
  EXPECT_EQ(ends[0].status, 1);
  EXPECT_THAT(ends[0].output, ::testing::HasSubstr("rank 0 in all_reduce #1 of world"));
  // "lost" where a busy machine did not let it give a sign of life just then
  EXPECT_THAT(ends[0].output, ::testing::ContainsRegex("rank 1 is (in|lost: .*, last seen in) a long dream"));
}

TEST(Group, AKilledMemberIsNamedAtOnce) {
  const auto ends = testing::run_ranks(3, [](const RankInfo& place) {
    auto group = join(place);
    throw_if_error(group->barrier());
    if (place.rank == 2) ::raise(SIGKILL);
    at::Tensor mine = numbers(1);
    throw_if_error(group->all_reduce(mine));
  });
  EXPECT_EQ(ends[2].status, 128 + SIGKILL);
  for (const int rank : {0, 1}) {
    EXPECT_NE(ends[rank].status, 0);
    EXPECT_LT(ends[rank].time, std::chrono::seconds(30)) << "peer_seconds";
  }
  EXPECT_THAT(ends[0].output, ::testing::HasSubstr("rank 2 is lost"));
}

// Also those who wait for one that waits for another: nobody is left in a call until its deadline.
TEST(Group, ClosingEndsTheCallsOfAll) {
  const auto ends = testing::run_ranks(3, [](const RankInfo& place) {
    auto group = join(place, {{"collective_check", "off"}});
    throw_if_error(group->barrier());
    const auto begun = std::chrono::steady_clock::now();
    std::jthread closing;
    if (place.rank == 1) {
      closing = std::jthread([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the others wait meanwhile, and this one too
        group->close();
      });
    }
    at::Tensor mine = numbers(1);
    const Status status = place.rank == 2 ? group->recv(mine, 0) : group->barrier();
    require(!status.ok() && std::chrono::steady_clock::now() - begun < std::chrono::seconds(30), "ended: " + status.message());
  });
  for (const auto& end : ends) EXPECT_EQ(end.status, 0) << end.output;
}

TEST(Group, SurvivalNeedsALauncher) {
  expect_ranks(2, [](const RankInfo& place) {
    const auto alone = Group::join(place, settings_of({{"on_rank_loss", "survive"}}));
    require(alone.status().code() == Code::failed_precondition && alone.status().message().find("fleetrun") != std::string::npos,
            alone.status().message());
  });
}

// Gloo's writes to a dead peer would end the process by the signal, and nothing would be named.
TEST(Group, ABrokenPipeEndsNoMember) {
  expect_ranks(2, [](const RankInfo& place) {
    const auto action = [] {
      struct sigaction now{};
      ::sigaction(SIGPIPE, nullptr, &now);
      return now.sa_handler;
    };
    const auto own = place.rank == 0 ? SIG_DFL : +[](int) {};
    ::signal(SIGPIPE, own);
    auto group = join(place);
    require(action() == (place.rank == 0 ? SIG_IGN : own), "the handler after join");
    throw_if_error(group->barrier());  // nobody leaves while the other still connects
  });
}

TEST(Group, AStoppedMemberIsNamedAndTheOthersEnd) {
  const auto ends = testing::run_ranks(
      2,
      [](const RankInfo& place) {
        auto group = join(place, {{"peer_seconds", "6"}});
        throw_if_error(group->barrier());
        if (place.rank == 1) ::raise(SIGSTOP);
        throw_if_error(group->barrier());
      },
      std::chrono::seconds(60), kill_when_the_first_has_ended);
  EXPECT_EQ(ends[0].status, 75) << ends[0].output;
  EXPECT_THAT(ends[0].output, ::testing::HasSubstr("rank 1 gave no sign of life for 6 s"));
  EXPECT_EQ(ends[1].status, 128 + SIGKILL);
}

TEST(Group, AMeetingThatDoesNotHappenSaysWhoIsMissing) {
  RankInfo place{.rank = 1, .world_size = 2, .master_host = "127.0.0.1", .master_port = 1};
  const auto ends = testing::run_ranks(1, [&](const RankInfo&) { join(place, {{"collective_seconds", "1"}}); });
  EXPECT_EQ(ends[0].status, 1);
  EXPECT_THAT(ends[0].output, ::testing::HasSubstr("rank 1: no meeting at 127.0.0.1:1, where rank 0 must be"));
}

TEST(Group, TheStoreListensOnItsAddressAlone) {
  expect_ranks(1, [](const RankInfo& place) {
    RankInfo first = place, second = place;
    second.master_host = "127.0.0.2";  // the same port on another address
    auto one = join(first), two = join(second);
    throw_if_error(one->barrier());
  });
}

}  // namespace
}  // namespace argosy::collective
