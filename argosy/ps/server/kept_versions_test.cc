// Versions that a follower keeps beside its newest one, and reads that are answered from them.
#include "argosy/ps/server/kept_versions.h"

#include <gmock/gmock.h>

#include <future>

#include "argosy/ps/server/follower_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using testing::ElementsAre;
using testing::HasSubstr;

using Request = wire::VersionsRequest;

class KeptVersionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(worker.hello());
    ASSERT_OK(worker.init_dense(1, {1, 2, 3, 4}));
    copy = std::make_unique<Copy>(primary);
    ASSERT_OK(copy->found);
    push({7});
    reader.emplace(copy->reader(spec));
    ASSERT_OK(reader->observe());
  }
  void push(const std::vector<uint64_t>& keys) {
    ASSERT_OK(worker.push({batch_id(0, batches++)}, {count_at(keys)}));
    ASSERT_TRUE(copy->caught_up(primary.state()));
  }
  Result<wire::VersionsReply> ask(Request::Action action, const std::string& name = "") {
    Request request;
    *request.mutable_caller() = reader->caller();
    request.set_action(action);
    request.set_name(name);
    return reader->call<wire::VersionsReply>(wire::VERSIONS, request);
  }

  Folder folder;
  Primary primary{primary_options(folder)};
  const JobSpec spec = small_job();
  Worker worker{link_to(primary), spec, 0, 5};
  std::unique_ptr<Copy> copy;
  std::optional<Worker> reader;
  uint32_t batches = 0;
};

TEST_F(KeptVersionsTest, AnswerReadsInPlaceOfTheNewestWhichGoesOn) {
  const uint64_t then = copy->core->state()->version();
  const std::string bytes = locked_bytes(*copy->core->state());
  ASSERT_OK(ask(Request::KEEP, "good"));
  push({7, 8});
  EXPECT_THAT(*reader->pull_rows(0, {7, 8}), ElementsAre(2, 2, 1, 1));
  const auto back = ask(Request::ANSWER_FROM, "good");
  ASSERT_OK(back);
  EXPECT_EQ(back->answers_from(), "good");
  ASSERT_EQ(back->kept_size(), 1);
  EXPECT_EQ(back->kept(0).version(), then);
  EXPECT_EQ(back->newest(), primary.state().version());
  EXPECT_THAT(*reader->pull_rows(0, {7, 8}), ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(*reader->pull_dense(1), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(reader->stats()->version(), then);  // who copies dense parameters sees that they are others
  EXPECT_EQ(reader->stats()->following().answers_from(), "good");
  push({7});  // is followed, and not shown
  EXPECT_THAT(*reader->pull_rows(0, {7}), ElementsAre(1, 1));
  ASSERT_OK(ask(Request::ANSWER_FROM));
  EXPECT_THAT(*reader->pull_rows(0, {7, 8}), ElementsAre(3, 3, 1, 1));
  EXPECT_EQ(reader->stats()->version(), primary.state().version());
  EXPECT_NE(locked_bytes(*copy->core->state()), bytes);
  EXPECT_EQ(locked_bytes(*copy->core->state()), locked_bytes(primary.state()));
}

// Whatever the state has is in the copy, bit by bit.
TEST_F(KeptVersionsTest, AreWholeCopies) {
  ServerOptions options = InProcess::options();
  ServerLimits limits(options);
  StateHolder slot;
  const Adoption adoption(options, "test", limits, slot);
  KeptVersions versions(adoption, 1);
  Mutex applying;
  push({7, 9});
  State& newest = *copy->core->state();
  ASSERT_OK(versions.keep("all", newest, applying));
  ASSERT_OK(versions.answer_from("all"));
  EXPECT_EQ(locked_bytes(*versions.answering()), locked_bytes(newest));
}

TEST_F(KeptVersionsTest, AreOneMomentWhileRecordsCome) {
  auto pushing = std::async(std::launch::async, [&] {
    for (int i = 0; i < 200; ++i) EXPECT_TRUE(worker.push({batch_id(0, batches++)}, {count_at({20, 21, 22})}).ok());
  });
  for (int i = 0; i < 20; ++i) {
    ASSERT_OK(ask(Request::KEEP, "moment"));
    ASSERT_OK(ask(Request::ANSWER_FROM, "moment"));
    const auto rows = *reader->pull_rows(0, {20, 21, 22});
    EXPECT_EQ(rows, std::vector<float>(rows.size(), rows[0]));  // a push is in it with all its rows, or not at all
    ASSERT_OK(ask(Request::ANSWER_FROM));
    ASSERT_OK(ask(Request::DROP, "moment"));
  }
  pushing.get();
}

TEST_F(KeptVersionsTest, HaveNamesAndALimit) {
  EXPECT_THAT(ask(Request::ANSWER_FROM, "good").status().message(), HasSubstr("no version 'good' is kept here; there is none"));
  EXPECT_THAT(ask(Request::KEEP).status().message(), HasSubstr("needs a name"));
  ASSERT_OK(ask(Request::KEEP, "one"));
  push({7});
  ASSERT_OK(ask(Request::KEEP, "one"));  // as it was
  EXPECT_LT(ask(Request::LIST)->kept(0).version(), primary.state().version());
  ASSERT_OK(ask(Request::KEEP, "two"));
  EXPECT_THAT(ask(Request::KEEP, "three").status().message(), HasSubstr("2 versions are kept already, 2 at most"));
  EXPECT_THAT(ask(Request::DROP, "three").status().message(), HasSubstr("there are 'one', 'two'"));
  ASSERT_OK(ask(Request::ANSWER_FROM, "one"));
  EXPECT_THAT(ask(Request::DROP, "one").status().message(), HasSubstr("reads are answered from version 'one'"));
  ASSERT_OK(ask(Request::ANSWER_FROM, "two"));
  ASSERT_OK(ask(Request::DROP, "one"));
  ASSERT_OK(ask(Request::KEEP, "three"));
}

TEST_F(KeptVersionsTest, AreFollowersOnly) {
  Worker observer(link_to(primary), spec, 0, 9);
  ASSERT_OK(observer.observe());
  Request request;
  *request.mutable_caller() = observer.caller();
  EXPECT_THAT(observer.call<wire::VersionsReply>(wire::VERSIONS, request).status().message(), HasSubstr("is no follower"));
}

}  // namespace
}  // namespace argosy::ps
