#include "argosy/ps/state/file_lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace argosy::ps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FileListsTest : public ::testing::Test {
 protected:
  FileListsTest() {
    for (int worker = 0; worker < 3; ++worker) members_.hello(worker, 1, "host:1");
  }

  wire::NextFileRequest ask(uint32_t worker, uint64_t number, uint32_t reader = 0, const std::string& list = "train") const {
    wire::NextFileRequest request;
    request.mutable_caller()->set_worker(worker);
    request.set_list(list);
    request.set_number(number);
    request.set_reader(reader);
    request.set_files(files_);
    request.set_use(use_);
    return request;
  }
  // What the reader is told, as a server does it; place -1: there are no more.
  int next(FileLists& lists, const wire::NextFileRequest& request) {
    auto file = lists.file(request);
    if (file.ok() && file->news) {
      lists.hand_out(request);
      file = lists.file(request);
    }
    EXPECT_TRUE(file.ok()) << file.status().message();
    if (!file.ok()) return -2;
    reply_ = lists.answer(request, *file);
    return reply_.done() ? -1 : static_cast<int>(reply_.file());
  }
  int next(uint32_t worker, uint64_t number, uint32_t reader = 0) { return next(lists_, ask(worker, number, reader)); }
  void lose(int worker) {
    members_.lose(worker);
    lists_.lose(worker);
  }
  wire::WorkerLedger ledger_of(uint32_t worker) const {
    wire::WorkerLedger ledger;
    ledger.set_worker(worker);
    lists_.describe(ledger);
    return ledger;
  }

  uint64_t files_ = 4;
  wire::NextFileRequest::Use use_ = wire::NextFileRequest::SCRIPT;
  wire::NextFileReply reply_;
  Membership members_{3};
  NameCount names_{nullptr};
  FileLists lists_{members_, names_};
};

TEST_F(FileListsTest, EachFileGoesToOneReader) {
  EXPECT_EQ(next(0, 1), 0);
  EXPECT_EQ(next(1, 1), 1);
  EXPECT_EQ(next(0, 1, 1), 2) << "another reader of the worker";
  EXPECT_EQ(next(0, 1), 0) << "asked again";
  EXPECT_EQ(next(1, 2), 3);
  EXPECT_EQ(next(0, 2), -1);
  EXPECT_FALSE(lists_.file(ask(0, 2))->news) << "that there is none is noted once";
  EXPECT_EQ(next(lists_, ask(0, 1, 0, "other")), 0);
}

TEST_F(FileListsTest, RequestsThatDoNotFitTheListAreRefused) {
  EXPECT_EQ(next(0, 1), 0);
  EXPECT_THAT(lists_.file(ask(0, 3)).status().message(), HasSubstr("worker 0 asks for its file number 3; expected 1 to 2"));
  EXPECT_EQ(lists_.file(ask(0, 0)).status().code(), Code::invalid_argument);
  EXPECT_THAT(lists_.file(ask(0, 1, 1024)).status().message(), HasSubstr("reader 1024 of worker 0"));
  files_ = 5;
  EXPECT_THAT(lists_.file(ask(1, 1)).status().message(), HasSubstr("has 5 files for worker 1 and 4 for another worker"));
}

// Who asks for another file has read the one before.
TEST_F(FileListsTest, OfALostWorkersScriptTheLastFileIsHandedOutAgain) {
  EXPECT_EQ(next(1, 1), 0);
  EXPECT_EQ(next(1, 2), 1);
  lose(1);
  EXPECT_EQ(ledger_of(1).files_left(), 1u);
  EXPECT_EQ(next(0, 1), 1);
  EXPECT_THAT(reply_.lost(), ElementsAre(1));
  EXPECT_EQ(next(0, 2), 2);
  EXPECT_EQ(ledger_of(1).files_left(), 0u);
  EXPECT_EQ(ledger_of(1).files_twice(), 1u);
  const auto back = lists_.file(ask(1, 2));
  EXPECT_EQ(back.status().code(), Code::failed_precondition);
  EXPECT_THAT(back.status().message(), HasSubstr("worker 1 was lost, and file 1 of it has been handed to another worker"));
}

TEST_F(FileListsTest, AWorkerThatComesBackHasItsFilesAgain) {
  EXPECT_EQ(next(1, 1), 0);
  lose(1);
  members_.hello(1, 2, "host:2");
  lists_.rejoin(1);
  EXPECT_EQ(next(0, 1), 1) << "file 0 is not handed out";
  EXPECT_EQ(next(1, 1), 0);
  EXPECT_EQ(next(1, 2), 2);
}

TEST_F(FileListsTest, OfAPassAllFilesOfTheRoundAreHandedOutAgain) {
  use_ = wire::NextFileRequest::PASS;
  EXPECT_EQ(next(1, 1), 0);
  wire::NextFileRequest second = ask(1, 2);
  second.set_lines(70);  // of the file before
  EXPECT_EQ(next(lists_, second), 1);
  lose(1);
  lists_.lose(1);  // changes nothing
  EXPECT_EQ(ledger_of(1).files_left(), 2u);
  EXPECT_EQ(next(0, 1), 0);
  EXPECT_EQ(reply_.lines(), 70u);
  EXPECT_EQ(next(2, 1), 1);
  EXPECT_EQ(reply_.lines(), 0u);
  EXPECT_EQ(next(0, 2), 2);
  EXPECT_EQ(ledger_of(1).files_handed_on(), 2u);
}

TEST_F(FileListsTest, FilesOfAPassThatWasLeftStayWhereTheyAre) {
  use_ = wire::NextFileRequest::PASS;
  EXPECT_EQ(next(1, 1), 0);
  members_.leave(1, 0);
  lose(1);
  EXPECT_EQ(next(0, 1), 1);
}

TEST_F(FileListsTest, FilesInMemoryAreHandedOutAgainWhileTheyAreLoaded) {
  use_ = wire::NextFileRequest::MEMORY;
  files_ = 2;
  EXPECT_EQ(next(1, 1), 0);
  EXPECT_EQ(next(2, 1), 1);
  EXPECT_EQ(next(2, 2), -1) << "worker 2 has loaded all of its files";
  lose(1);
  lose(2);
  EXPECT_EQ(next(0, 1), 0);
  EXPECT_EQ(next(0, 2), -1);
}

TEST_F(FileListsTest, AnotherListNeedsRoomForItsName) {
  Limit limit("names", 2, "names", "use them again");
  NameCount names(&limit);
  FileLists lists(members_, names);
  names.add();  // somebody else's
  EXPECT_EQ(next(lists, ask(0, 1)), 0);
  EXPECT_EQ(names.count(), 2u);
  EXPECT_THAT(lists.file(ask(0, 1, 0, "other")).status().message(), HasSubstr("the limit names is reached"));
  EXPECT_EQ(next(lists, ask(0, 2)), 1) << "a list that is known";
}

TEST_F(FileListsTest, AnImageHasThemAll) {
  EXPECT_EQ(next(1, 1), 0);
  EXPECT_EQ(next(2, 1), 1);
  lose(1);
  lose(2);
  EXPECT_EQ(next(0, 1), 0);
  EXPECT_EQ(next(lists_, ask(0, 1, 0, "other")), 0);
  wire::ExchangeImage image, again;
  lists_.save(&image);

  NameCount names(nullptr);
  FileLists restored(members_, names);
  EXPECT_EQ(next(restored, ask(0, 1, 0, "before")), 0);
  ASSERT_TRUE(restored.restore(image).ok());
  restored.save(&again);
  EXPECT_EQ(again.ShortDebugString(), image.ShortDebugString());
  EXPECT_EQ(names.count(), 2u) << "the list from before is gone";
  EXPECT_EQ(next(restored, ask(0, 2)), 1) << "of worker 2";
  EXPECT_THAT(reply_.lost(), ElementsAre(2));
  EXPECT_EQ(next(restored, ask(0, 3)), 2);
  EXPECT_EQ(restored.file(ask(1, 1)).status().code(), Code::failed_precondition);
  ASSERT_TRUE(restored.restore(wire::ExchangeImage()).ok());
  EXPECT_EQ(names.count(), 0u);
}

TEST_F(FileListsTest, ADamagedImageIsRefused) {
  EXPECT_EQ(next(1, 1), 0);
  wire::ExchangeImage image;
  lists_.save(&image);
  image.mutable_lists(0)->add_places(3);
  const Status damaged = lists_.restore(image);
  EXPECT_EQ(damaged.code(), Code::data_loss);
  EXPECT_THAT(damaged.message(), HasSubstr("file list 'train' is damaged: 2 files with 1 takers"));
}

}  // namespace
}  // namespace argosy::ps
