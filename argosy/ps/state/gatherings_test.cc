#include "argosy/ps/state/gatherings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace argosy::ps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GatheringsTest : public ::testing::Test {
 protected:
  static GatherCall call(int worker, uint64_t number, const std::string& name = "sum", uint64_t position = 0) {
    return {.name = name, .worker = worker, .position = position, .call = number, .after = 0};
  }
  // As a record of a log does it.
  static void give(Gatherings& gatherings, const GatherCall& call, const std::string& bytes) {
    const auto needed = gatherings.needs_part(call, bytes.size());
    ASSERT_TRUE(needed.ok()) << needed.status().message();
    if (*needed) gatherings.add_part(call, bytes);
    gatherings.settle();
  }

  Membership members_{2};
  NameCount names_{nullptr};
  Gatherings gatherings_{members_, names_, {}};
};

TEST_F(GatheringsTest, IsCompleteWhenEveryWorkerHasGivenItsPart) {
  give(gatherings_, call(1, 1), "two");
  EXPECT_EQ(gatherings_.parts("sum", 1), nullptr);
  EXPECT_THAT(gatherings_.missing("sum", 1), ElementsAre(0));
  EXPECT_THAT(gatherings_.missing("other", 1), ElementsAre(0, 1));
  give(gatherings_, call(0, 1), "one");
  ASSERT_NE(gatherings_.parts("sum", 1), nullptr);
  EXPECT_THAT(*gatherings_.parts("sum", 1), ElementsAre("one", "two"));
  EXPECT_EQ(gatherings_.parts("sum", 2), nullptr) << "the next one has not begun";
}

TEST_F(GatheringsTest, ACallThatWasMadeBeforeFindsItsAnswer) {
  for (const uint64_t number : {1, 2}) {
    give(gatherings_, call(0, number), "a" + std::to_string(number));
    give(gatherings_, call(1, number), "b" + std::to_string(number));
  }
  EXPECT_FALSE(*gatherings_.needs_part(call(1, 1), 5)) << "what was answered stays";
  EXPECT_EQ(gatherings_.number_of(call(1, 1)), 1u);
  EXPECT_EQ(gatherings_.number_of(call(1, 2)), 2u);
  EXPECT_EQ(gatherings_.number_of(call(1, 1, "sum", 9)), 3u) << "a later place in the script is a new call";
  EXPECT_THAT(*gatherings_.parts("sum", 1), ElementsAre("a1", "b1"));
}

TEST_F(GatheringsTest, ABarrierKeepsNothingAndIsPassedAgain) {
  give(gatherings_, call(0, 1), "");
  give(gatherings_, call(1, 1), "");
  give(gatherings_, call(0, 2), "");
  EXPECT_EQ(gatherings_.number_of(call(0, 1)), 0u);
  EXPECT_FALSE(*gatherings_.needs_part(call(0, 1), 0));
  ASSERT_NE(gatherings_.parts("sum", 0), nullptr);
  EXPECT_THAT(*gatherings_.parts("sum", 0), ElementsAre("", ""));
}

TEST_F(GatheringsTest, ALostWorkerIsNotAwaitedAndItsPartStays) {
  members_.hello(0, 1, "a:1");
  members_.hello(1, 2, "a:2");
  give(gatherings_, call(1, 1), "two");
  members_.lose(1);
  gatherings_.settle();
  EXPECT_EQ(gatherings_.parts("sum", 1), nullptr) << "the other one is awaited";
  give(gatherings_, call(0, 1), "one");
  EXPECT_THAT(*gatherings_.parts("sum", 1), ElementsAre("one", "two"));
  give(gatherings_, call(0, 2), "alone");
  EXPECT_THAT(*gatherings_.parts("sum", 2), ElementsAre("alone", ""));
  members_.hello(1, 3, "a:3");
  EXPECT_THAT(gatherings_.missing("sum", 3), ElementsAre(0, 1)) << "it is back";
  EXPECT_EQ(gatherings_.number_of(call(1, 1)), 1u) << "and finds its old answer";
}

TEST_F(GatheringsTest, TheLossOfTheLastMissingWorkerCompletesIt) {
  give(gatherings_, call(0, 1), "one");
  members_.hello(1, 2, "a:2");
  members_.lose(1);
  gatherings_.settle();
  EXPECT_THAT(*gatherings_.parts("sum", 1), ElementsAre("one", ""));
}

TEST_F(GatheringsTest, OldAnswersAreDroppedAndMissedByName) {
  Gatherings small(members_, names_, {.kept_bytes = 30});
  for (const uint64_t number : {1, 2, 3}) {
    give(small, call(0, number), std::string(8, 'a'));
    give(small, call(1, number), std::string(8, 'b'));
  }
  const auto dropped = small.needs_part(call(0, 1), 8);
  EXPECT_EQ(dropped.status().code(), Code::out_of_range);
  EXPECT_THAT(dropped.status().message(), HasSubstr("all_gather 'sum' number 1 at batch 0"));
  EXPECT_FALSE(*small.needs_part(call(0, 3), 8)) << "the newest stays";
  EXPECT_THAT(*small.parts("sum", 3), ElementsAre("aaaaaaaa", "bbbbbbbb"));
}

TEST_F(GatheringsTest, LimitsRefuseWhatDoesNotFit) {
  Limit open("open", 1, "gatherings", "wait"), bytes("bytes", 10, "bytes", "wait"), answer("answer", 8, "bytes", "ask less");
  Limit names("names", 2, "names", "use them again");
  NameCount count(&names);
  Gatherings gatherings(members_, count, {.open = &open, .open_bytes = &bytes, .answer = &answer});
  EXPECT_THAT(gatherings.needs_part(call(0, 1), 9).status().message(), HasSubstr("the limit answer is reached"));
  give(gatherings, call(0, 1), "12345");
  EXPECT_THAT(gatherings.needs_part(call(0, 1, "more"), 1).status().message(), HasSubstr("the limit open is reached"));
  EXPECT_THAT(gatherings.needs_part(call(1, 1), 4).status().message(), HasSubstr("the limit answer is reached"));
  gatherings.measure();
  EXPECT_EQ(open.now(), 1u);
  EXPECT_EQ(bytes.now(), 5u);
  give(gatherings, call(1, 1), "678");
  gatherings.measure();
  EXPECT_EQ(open.now(), 0u);
  EXPECT_EQ(bytes.now(), 0u);
  count.add();  // somebody else's
  EXPECT_THAT(gatherings.needs_part(call(0, 1, "more"), 1).status().message(), HasSubstr("the limit names is reached"));
  EXPECT_TRUE(gatherings.needs_part(call(0, 2), 1).ok()) << "a name that is known";
}

TEST_F(GatheringsTest, AnImageHasThemAll) {
  give(gatherings_, call(0, 1), "one");
  give(gatherings_, call(1, 1), "two");
  give(gatherings_, call(1, 2), "open");
  give(gatherings_, call(0, 1, "barrier"), "");
  wire::ExchangeImage image, again;
  gatherings_.save(&image);
  EXPECT_EQ(names_.count(), 2u);

  NameCount names(nullptr);
  Gatherings restored(members_, names, {});
  give(restored, call(0, 1, "before"), "of a state before");
  ASSERT_TRUE(restored.restore(image).ok());
  restored.save(&again);
  EXPECT_EQ(again.SerializeAsString(), image.SerializeAsString());
  EXPECT_EQ(names.count(), 2u) << "the name from before is gone";
  EXPECT_THAT(*restored.parts("sum", 1), ElementsAre("one", "two"));
  EXPECT_THAT(restored.missing("sum", 2), ElementsAre(0));
  give(restored, call(0, 2), "closed");
  EXPECT_THAT(*restored.parts("sum", 2), ElementsAre("closed", "open"));
  ASSERT_TRUE(restored.restore(wire::ExchangeImage()).ok());
  EXPECT_EQ(names.count(), 0u);
}

TEST_F(GatheringsTest, AnImageOfAnotherJobIsRefused) {
  give(gatherings_, call(0, 1), "one");
  wire::ExchangeImage image;
  gatherings_.save(&image);
  const Membership more(3);
  Gatherings other(more, names_, {});
  const Status refused = other.restore(image);
  EXPECT_EQ(refused.code(), Code::data_loss);
  EXPECT_THAT(refused.message(), HasSubstr("gatherings 'sum' are of 2 workers; the job has 3"));
  image.mutable_names(0)->mutable_gatherings(0)->mutable_given()->RemoveLast();
  const Status damaged = gatherings_.restore(image);
  EXPECT_EQ(damaged.code(), Code::data_loss);
  EXPECT_THAT(damaged.message(), HasSubstr("gathering 'sum' number 1 has 2 parts, 1 marks"));
}

}  // namespace
}  // namespace argosy::ps
