#include "argosy/launch/collective/rounds.h"

#include <gmock/gmock.h>

#include "argosy/base/random.h"
#include "argosy/base/text.h"

namespace argosy::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The decisions of a meeting place, with time and members made up. Member 0 is the first node.
class RoundsTest : public testing::Test {
 protected:
  void open(RoundsOptions options) { rounds_.emplace(std::move(options), now_); }

  void join(int member, int rank = -1, std::map<std::string, std::string> more = {}) {
    more.insert({{"job", ""}, {"rank", std::to_string(rank)}, {"endpoints", fmt::format("n{}:1,n{}:2", member, member)}});
    rounds_->hear(member, {.kind = "join", .fields = more}, member == 0, now_);
  }
  void say(int member, const std::string& kind, int round, int code = 0) {
    rounds_->hear(
        member,
        {.kind = kind, .fields = {{"round", std::to_string(round)}, {"code", std::to_string(code)}, {"why", "rank 1: exit"}}},
        member == 0, now_);
  }
  // A word of a rank, by way of its node.
  void rank_says(int member, const std::string& kind, int rank, int generation = 1, const std::string& address = "") {
    rounds_->hear(member,
                  {.kind = kind,
                   .fields = {{"round", "1"},
                              {"rank", std::to_string(rank)},
                              {"generation", std::to_string(generation)},
                              {"address", address}}},
                  member == 0, now_);
  }
  void rank_fails(int member, int rank, int round = 1) {
    rounds_->hear(member,
                  {.kind = "failed",
                   .fields = {{"round", std::to_string(round)},
                              {"code", "137"},
                              {"why", fmt::format("rank {}: killed by signal 9", rank)},
                              {"rank", std::to_string(rank)}}},
                  member == 0, now_);
  }
  // Two nodes with two ranks each, all of which have the model.
  void open_ready(int max_restarts) {
    open({.least = 2, .most = 2, .max_restarts = max_restarts});
    join(0, 0);
    join(1, 1);
    for (int rank = 0; rank < 4; ++rank) rank_says(rank / 2, "ready", rank);
    rounds_->take();
  }
  void wait(double seconds) {
    now_ += std::chrono::milliseconds(static_cast<int>(seconds * 1000));
    rounds_->tick(now_);
  }
  // What is said, without what is for the user: "0 start 1 as 0 of n0:1,n0:2 from ''", "1 stop 1", "0 end 7".
  std::vector<std::string> heard() {
    std::vector<std::string> lines;
    for (const auto& [member, message] : rounds_->take()) {
      why_ = message.text("why");
      cause_ = message.text("cause");
      if (message.kind == "start")
        lines.push_back(fmt::format("{} start {} as {} of {} from '{}'", member, message.text("round"), message.text("node"),
                                    message.text("nodes"), message.text("resume")));
      if (message.kind == "stop") lines.push_back(fmt::format("{} stop {}", member, message.text("round")));
      if (message.kind == "regroup")
        lines.push_back(fmt::format("{} regroup {} at {} again {}", member, message.text("generation"), message.text("host"),
                                    message.text("again")));
      if (message.kind == "meet") lines.push_back(fmt::format("{} meet {}", member, message.text("address")));
      if (message.kind == "over") lines.push_back(fmt::format("{} over", member));
      if (message.kind == "end") lines.push_back(fmt::format("{} end {}", member, message.text("code")));
    }
    return lines;
  }

  Rounds::Time now_;
  std::optional<Rounds> rounds_;
  std::string why_, cause_;
};

TEST_F(RoundsTest, OneNodeStartsAtOnceAndEndsWell) {
  open({});
  join(0);
  EXPECT_THAT(heard(), ElementsAre("0 start 1 as 0 of n0:1,n0:2 from ''"));
  say(0, "done", 1);
  EXPECT_THAT(heard(), ElementsAre("0 end 0"));
  EXPECT_TRUE(rounds_->over());
}

TEST_F(RoundsTest, AllNodesStartTogetherInTheOrderOfTheirRanks) {
  open({.least = 3, .most = 3});
  join(5, 2);
  join(0, 0);
  wait(100);
  EXPECT_THAT(heard(), IsEmpty());
  join(3, 1);
  const std::string nodes = "n0:1,n0:2;n3:1,n3:2;n5:1,n5:2";
  EXPECT_THAT(heard(), ElementsAre("0 start 1 as 0 of " + nodes + " from ''", "3 start 1 as 1 of " + nodes + " from ''",
                                   "5 start 1 as 2 of " + nodes + " from ''"));
  say(3, "done", 1);
  say(0, "done", 1);
  rounds_->lose(3, "is gone", now_);  // it is done: nothing is lost
  EXPECT_THAT(heard(), IsEmpty());
  say(5, "done", 1);
  EXPECT_THAT(heard(), ElementsAre("0 end 0", "5 end 0"));
}

TEST_F(RoundsTest, TheFirstFailureEndsTheJobEverywhereWithItsCode) {
  open({.least = 2, .most = 2});
  join(0);
  join(1);
  heard();
  say(1, "failed", 1, 7);
  EXPECT_THAT(heard(), ElementsAre("0 end 7", "1 end 7"));
  EXPECT_EQ(why_, "rank 1: exit of node n1");
  say(0, "failed", 1, 9);  // because of the other
  EXPECT_THAT(heard(), IsEmpty());
}

TEST_F(RoundsTest, TheWholeGroupStartsAgainFromTheLastCheckpoint) {
  std::string noted;
  open({.least = 2, .most = 2, .max_restarts = 1, .checkpoint = [&] { return noted; }});
  join(0);
  join(1);
  heard();
  noted = "/data/epoch1";
  say(1, "done", 1);  // that one of two is done does not help it
  say(0, "failed", 1, 7);
  EXPECT_THAT(heard(), ElementsAre("0 stop 1", "1 stop 1"));
  EXPECT_THAT(why_, HasSubstr("the whole group starts again (1 of 1)"));
  say(1, "failed", 1, 9);  // because of the other: not counted
  say(1, "stopped", 1);
  EXPECT_THAT(heard(), IsEmpty());
  say(0, "stopped", 1);
  EXPECT_THAT(heard(), ElementsAre("0 start 2 as 0 of n0:1,n0:2;n1:1,n1:2 from '/data/epoch1'",
                                   "1 start 2 as 1 of n0:1,n0:2;n1:1,n1:2 from '/data/epoch1'"));
  say(0, "failed", 1, 7);  // late, of the round before
  EXPECT_THAT(heard(), IsEmpty());
  say(0, "failed", 2, 8);
  EXPECT_THAT(heard(), ElementsAre("0 end 8", "1 end 8"));
}

TEST_F(RoundsTest, ANodeThatMustBeThereAndIsLostEndsTheJobOrIsWaitedFor) {
  open({.least = 2, .most = 2});
  join(0);
  join(1);
  heard();
  rounds_->lose(1, "is silent", now_);
  EXPECT_THAT(heard(), ElementsAre("0 end 1"));
  EXPECT_EQ(why_, "node n1 is silent");

  open({.least = 2, .most = 2, .max_restarts = 1, .join_seconds = 60});
  join(0);
  join(1);
  heard();
  rounds_->lose(1, "is silent", now_);
  EXPECT_THAT(heard(), ElementsAre("0 stop 1"));
  say(0, "stopped", 1);
  wait(59);
  EXPECT_THAT(heard(), IsEmpty());
  join(2);
  EXPECT_THAT(heard(),
              ElementsAre("0 start 2 as 0 of n0:1,n0:2;n2:1,n2:2 from ''", "2 start 2 as 1 of n0:1,n0:2;n2:1,n2:2 from ''"));
}

TEST_F(RoundsTest, WhoDoesNotComeIsNamed) {
  open({.least = 3, .most = 3, .join_seconds = 60});
  join(0, 0);
  join(1, 2);
  wait(60);
  EXPECT_THAT(heard(), ElementsAre("0 end 1", "1 end 1"));
  EXPECT_THAT(why_, HasSubstr("2 of 3 nodes came in 60 s; here: n0, n1, missing: node 1; start the launcher on the others"));
}

// --nnodes 1:3
TEST_F(RoundsTest, NodesComeAndGoInAnElasticJob) {
  open({.least = 1, .most = 3, .last_call_seconds = 2});
  join(0);
  wait(1.9);
  EXPECT_THAT(heard(), IsEmpty());  // others may be about to come
  wait(0.2);
  EXPECT_THAT(heard(), ElementsAre("0 start 1 as 0 of n0:1,n0:2 from ''"));
  join(1);
  EXPECT_THAT(heard(), ElementsAre("0 stop 1"));
  say(0, "stopped", 1);
  join(2);  // all there may be
  EXPECT_THAT(heard(), ElementsAre("0 start 2 as 0 of n0:1,n0:2;n1:1,n1:2;n2:1,n2:2 from ''", HasSubstr("1 start 2 as 1"),
                                   HasSubstr("2 start 2 as 2")));
  join(3);
  EXPECT_THAT(heard(), ElementsAre("3 end 1"));
  EXPECT_EQ(why_, "the job has its 3 nodes already");
  say(1, "leave", 2, 143);
  EXPECT_THAT(heard(), ElementsAre("0 stop 2", "2 stop 2"));
  say(0, "stopped", 2);
  say(2, "stopped", 2);
  wait(2);
  EXPECT_THAT(heard(), ElementsAre("0 start 3 as 0 of n0:1,n0:2;n2:1,n2:2 from ''", HasSubstr("2 start 3 as 1")));
  say(0, "leave", 3, 130);
  EXPECT_THAT(heard(), ElementsAre("2 end 130"));
}

TEST_F(RoundsTest, ANodeThatDoesNotStopIsLeftBehind) {
  open({.least = 1, .most = 3, .last_call_seconds = 0, .stop_seconds = 30});
  join(0);
  heard();
  join(1);
  say(0, "stopped", 1);
  heard();
  say(0, "failed", 2, 7);  // no restart is left
  EXPECT_THAT(heard(), ElementsAre("0 end 7", "1 end 7"));

  open({.least = 1, .most = 2, .last_call_seconds = 0, .stop_seconds = 30});
  join(1);
  join(0);
  heard();
  rounds_->lose(1, "is silent", now_);
  say(0, "stopped", 1);
  EXPECT_THAT(heard(), ElementsAre("0 stop 1", HasSubstr("0 start 2")));
  join(2);
  wait(30);  // the first node itself hangs
  EXPECT_THAT(heard(), ElementsAre("0 stop 2", "0 end 1", "2 end 1"));
}

TEST_F(RoundsTest, StrangersAreRefused) {
  open({.least = 2, .most = 2, .job = "ctr"});
  rounds_->hear(1, {.kind = "done"}, false, now_);
  EXPECT_THAT(heard(), ElementsAre("1 end 1"));
  EXPECT_EQ(why_, "a launcher says 'join' first; found 'done'");
  join(1, -1, {{"job", "ads"}});
  EXPECT_THAT(heard(), ElementsAre("1 end 1"));
  EXPECT_EQ(why_, "this is the meeting place of job 'ctr', not of 'ads'");
  const std::map<std::string, std::string> good = {{"job", "ctr"}};
  const auto refused = [&](int member, int rank, std::map<std::string, std::string> more) {
    more.insert(good.begin(), good.end());
    join(member, rank, more);
    heard();
    EXPECT_FALSE(rounds_->knows(member));
    return why_;
  };
  EXPECT_THAT(refused(1, 2, {}), HasSubstr("node rank 2: the job has at most 2 nodes"));
  EXPECT_THAT(refused(1, 0, {{"endpoints", ""}}), HasSubstr("at least one process"));
  EXPECT_THAT(refused(1, 0, {{"endpoints", "a:1,b"}}), HasSubstr("'b' is not host:port"));
  join(0, 0, good);
  EXPECT_THAT(refused(1, 0, {}), "node rank 0 is that of n0 already");
  EXPECT_THAT(refused(1, 1, {{"endpoints", "n0:1"}}), HasSubstr("endpoint n0:1 is another process's already"));
}

// Whatever comes in whatever order: no crash, one end, nothing after it but refusals, and no member starts twice in a round.
TEST_F(RoundsTest, AnyOrderOfMessagesKeepsTheRules) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    open({.least = 1 + static_cast<int>(random.below(3)),
          .most = 3,
          .max_restarts = 2,
          .last_call_seconds = 1,
          .join_seconds = 20});
    const std::vector<std::string> kinds = {"done", "failed", "stopped", "leave", "start", "x"};
    std::map<int, int> started;
    for (int step = 0; step < 200; ++step) {
      const int member = static_cast<int>(random.below(5));
      const size_t what = random.below(10);
      if (what < 3) {
        if (!rounds_->knows(member)) join(member, static_cast<int>(random.below(4)) - 1);
      } else if (what < 8) {
        say(member, kinds[random.below(kinds.size())], static_cast<int>(random.below(6)), static_cast<int>(random.below(3)));
      } else if (what == 8) {
        rounds_->lose(member, "is gone", now_);
      } else {
        wait(1.5);
      }
      for (const std::string& line : heard()) {
        const auto words = split(line, ' ');
        const int to = static_cast<int>(*parse_integer(words[0]));
        if (words[1] != "start") continue;
        EXPECT_LT(started[to], static_cast<int>(*parse_integer(words[2]))) << line;
        started[to] = static_cast<int>(*parse_integer(words[2]));
        EXPECT_FALSE(rounds_->over());
      }
    }
  }
}

// Ranks that lost their connection to one that failed often end before it does.
TEST_F(RoundsTest, TheFailureThatCausedTheOthersIsTheJobs) {
  open({.least = 2, .most = 2});
  for (int member : {0, 1}) join(member);
  heard();
  const auto fail = [this](int member, const std::string& why, int code, const std::string& consequence) {
    rounds_->hear(member,
                  {.kind = "failed",
                   .fields = {{"round", "1"}, {"code", std::to_string(code)}, {"why", why}, {"consequence", consequence}}},
                  member == 0, now_);
  };
  fail(0, "rank 0: exit status 1", 1, "yes");
  wait(2);
  EXPECT_THAT(heard(), IsEmpty());
  fail(1, "rank 1: exit status 7", 7, "");
  EXPECT_THAT(heard(), ElementsAre("0 end 7", "1 end 7"));
  EXPECT_EQ(why_, "rank 1: exit status 7 of node n1");

  rounds_.reset();
  open({.least = 2, .most = 2});
  for (int member : {0, 1}) join(member);
  heard();
  fail(1, "rank 1: exit status 1", 1, "yes");
  fail(0, "rank 0: exit status 2", 2, "yes");
  wait(4);
  EXPECT_THAT(heard(), IsEmpty());
  wait(2);  // nobody is found to blame
  EXPECT_THAT(heard(), ElementsAre("0 end 1", "1 end 1"));
  EXPECT_EQ(cause_, "");
}

// A rank whose script ends too early closes its connections as one that dies does, and nobody fails before those that wait for
// it.
TEST_F(RoundsTest, ProcessesThatHadEndedWellAreTheCauseOfWhatOthersLost) {
  open({.least = 2, .most = 2});
  for (int member : {0, 1}) join(member);
  heard();
  rounds_->hear(1, {.kind = "left", .fields = {{"round", "1"}, {"who", "rank 3"}}}, false, now_);
  rounds_->hear(
      0, {.kind = "failed", .fields = {{"round", "1"}, {"code", "1"}, {"why", "rank 0: exit status 1"}, {"consequence", "yes"}}},
      true, now_);
  EXPECT_THAT(heard(), IsEmpty());
  wait(6);
  EXPECT_THAT(heard(), ElementsAre("0 end 1", "1 end 1"));
  EXPECT_THAT(cause_, HasSubstr("rank 3 left with status 0 while the others went on"));
  EXPECT_EQ(why_, "rank 0: exit status 1 of node n0");
}

TEST_F(RoundsTest, ARankThatIsLostStartsAgainAloneAndAllMeetAtOneThatHasTheModel) {
  open_ready(2);
  rank_fails(0, 0);
  EXPECT_THAT(heard(), ElementsAre("0 regroup 2 at 1 again 0", "1 regroup 2 at 1 again 0"));
  EXPECT_THAT(why_,
              HasSubstr("rank 0: killed by signal 9 of node n0; it starts again alone, and the others go on with it (1 of 2)"));
  rank_says(0, "host", 1, 2, "h:7");
  EXPECT_THAT(heard(), ElementsAre("0 meet h:7", "1 meet h:7"));
}

// The newcomer has no model until it says so: it must not be the one that the others copy.
TEST_F(RoundsTest, TheLossOfAnotherWhileTheyMeetIsANewGeneration) {
  open_ready(9);
  rank_fails(0, 0);
  rank_fails(0, 1);
  EXPECT_THAT(heard(), ElementsAre("0 regroup 2 at 1 again 0", "1 regroup 2 at 1 again 0", "0 regroup 3 at 2 again 1",
                                   "1 regroup 3 at 2 again 1"));
  rank_says(0, "host", 1, 2, "h:7");  // crossed on the wire
  EXPECT_THAT(heard(), IsEmpty());
  rank_says(0, "ready", 0);
  rank_fails(1, 2);
  EXPECT_THAT(heard(), ElementsAre("0 regroup 4 at 0 again 2", "1 regroup 4 at 0 again 2"));
}

TEST_F(RoundsTest, WithoutARankThatHasTheModelAllStartAgain) {
  open_ready(9);
  for (const int rank : {0, 1, 2}) rank_fails(rank / 2, rank);
  heard();
  rank_fails(1, 3);
  EXPECT_THAT(heard(), ElementsAre("0 stop 1", "1 stop 1"));
  EXPECT_THAT(why_, HasSubstr("no rank is left that has the model; the whole group starts again (4 of 9)"));
}

TEST_F(RoundsTest, BeforeAllHaveTheModelALossStartsAllAgain) {
  open({.least = 2, .most = 2, .max_restarts = 1});
  join(0, 0);
  join(1, 1);
  for (const int rank : {0, 1, 2}) rank_says(rank / 2, "ready", rank);
  heard();
  rank_fails(0, 0);
  EXPECT_THAT(heard(), ElementsAre("0 stop 1", "1 stop 1"));
}

TEST_F(RoundsTest, SurvivingCountsAsARestartAndEndsWhenNoneIsLeft) {
  open_ready(1);
  rank_fails(0, 0);
  heard();
  rank_says(0, "ready", 0);
  rank_fails(1, 3);
  EXPECT_THAT(heard(), ElementsAre("0 end 137", "1 end 137"));
  EXPECT_THAT(why_, HasSubstr("rank 3: killed"));
}

// Until all have finished, one that has may have to lend its model.
TEST_F(RoundsTest, TheStepsAreOverWhenAllHaveFinishedInOneGeneration) {
  open_ready(9);
  for (const int rank : {0, 1, 2}) rank_says(rank / 2, "finished", rank);
  EXPECT_THAT(heard(), IsEmpty());
  rank_fails(1, 3);
  EXPECT_THAT(heard(), ElementsAre("0 regroup 2 at 0 again 3", "1 regroup 2 at 0 again 3"));
  rank_says(1, "finished", 3, 1);  // of the generation before
  for (const int rank : {0, 1, 2}) rank_says(rank / 2, "finished", rank, 2);
  EXPECT_THAT(heard(), IsEmpty());
  rank_says(1, "finished", 3, 2);
  EXPECT_THAT(heard(), ElementsAre("0 over", "1 over"));
  rank_fails(1, 3);  // what a script does afterwards is nobody's to take again
  EXPECT_THAT(heard(), ElementsAre("0 stop 1", "1 stop 1"));
}

TEST_F(RoundsTest, WordsOfRanksThatAreNoneChangeNothing) {
  open_ready(9);
  rank_says(0, "ready", -1), rank_says(0, "ready", 4), rank_says(0, "finished", 4), rank_says(0, "host", 0, 7, "h:7");
  rank_fails(0, 4);
  EXPECT_THAT(heard(), ElementsAre("0 stop 1", "1 stop 1"));
}

}  // namespace
}  // namespace argosy::launch
