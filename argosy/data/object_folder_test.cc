#include "argosy/data/object_folder.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "argosy/base/file.h"
#include "argosy/base/random.h"
#include "argosy/data/fake_stores_test.h"
#include "argosy/data/save_id.h"
#include "argosy/data/scratch_files_test.h"
#include "argosy/data/working_folder.h"

namespace argosy::data {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

const std::string kModel = "s3://b/models/ctr";

// Names and texts of what lies in a folder.
std::map<std::string, std::string> texts_in(const fs::path& folder) {
  std::map<std::string, std::string> texts;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) texts[entry.path().lexically_relative(folder).string()] = *read_file(entry.path());
  return texts;
}

Status save(const std::map<std::string, std::string>& files, uint64_t mark = 0) {
  const ScratchFiles from;
  for (const auto& [name, text] : files) {
    fs::create_directories(fs::path(from.path(name)).parent_path());
    from.write(name, text);
  }
  return publish_folder(from.path(""), kModel, mark);
}

Result<std::map<std::string, std::string>> load() {
  const ScratchFiles to;
  RETURN_IF_ERROR(fetch_folder(kModel, to.path("copy")));
  return texts_in(to.path("copy"));
}

const std::map<std::string, std::string> kFirst = {{"__model__", "program"}, {"w", "weights 1"}, {"deep/b 2", "bias 1"}};
const std::map<std::string, std::string> kSecond = {{"__model__", "program"}, {"w", "weights 2, more"}};

TEST(ObjectFolder, ComesBackAsItWasSaved) {
  FakeStores stores;
  ASSERT_TRUE(save(kFirst, 7).ok());
  EXPECT_EQ(*load(), kFirst);
  EXPECT_EQ(place_mark(FolderPlace(kModel)), 7);
  EXPECT_THAT(stores.uris(), SizeIs(kFirst.size() + 1));
}

// As in a folder of this machine: what has the same name is replaced, the rest stays, and nothing is left behind.
TEST(ObjectFolder, IsReplacedFileByFile) {
  FakeStores stores;
  ASSERT_TRUE(save(kFirst).ok());
  const auto before = *folder_state(kModel);
  ASSERT_TRUE(save(kSecond).ok());
  EXPECT_EQ(*load(),
            (std::map<std::string, std::string>{{"__model__", "program"}, {"w", "weights 2, more"}, {"deep/b 2", "bias 1"}}));
  EXPECT_THAT(stores.uris(), SizeIs(4)) << "three files and the manifest";
  EXPECT_NE(*folder_state(kModel), before);
}

// Wherever a save ends early, a reader has the one before, and the next save leaves nothing of it.
TEST(ObjectFolder, OfASaveThatFailedIsTheOneBefore) {
  FakeStores stores;
  ASSERT_TRUE(save(kFirst).ok());
  const auto whole = stores.uris();
  for (const char* kind : {"put", "list", "open", "read"}) {
    for (int good = 0; good < 4; ++good) {
      int calls = 0;
      stores.fault = [&](const std::string& asked, const std::string& uri) {
        const bool manifest = uri.ends_with(kManifestName);
        if (asked != kind || calls++ < good) return Status();
        return manifest && asked == "put" ? Status::permission_denied("no") : Status::internal("the disk of the store");
      };
      const Status status = save(kSecond);
      stores.fault = nullptr;
      // It had fewer such calls, or failed behind the manifest: then it is a save.
      EXPECT_EQ(load()->at("w"), status.ok() ? kSecond.at("w") : kFirst.at("w")) << kind << " " << good;
      ASSERT_TRUE(save(kFirst).ok());
      EXPECT_THAT(stores.uris(), SizeIs(whole.size())) << kind << " " << good;
    }
  }
}

// kill -9 at any moment, with a store that lives on: here the saves of a process that is gone.
TEST(ObjectFolder, RemovesWhatAKilledSaveHasLeft) {
  FakeStores stores;
  int pipes[2];
  ASSERT_EQ(::pipe(pipes), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const SaveId* const id = new SaveId;
    [[maybe_unused]] const ssize_t written = ::write(pipes[1], id->text().data(), id->text().size());
    ::pause();
  }
  char text[200];
  const ssize_t got = ::read(pipes[0], text, sizeof(text));
  const std::string id(text, static_cast<size_t>(got));
  EXPECT_EQ(saver_of(id), Saver::alive);
  stores.set(kModel + "/.saved-" + id + "/w", "half");
  const std::string elsewhere = "00000000deadbeef-12-34-56";
  stores.set(kModel + "/.saved-" + elsewhere + "/w", "half");
  const auto now =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  stores.set_modified(kModel + "/.saved-" + elsewhere + "/w", now);
  EXPECT_THAT(load().status().message(), HasSubstr("only what saves that were not finished have left"));

  ASSERT_TRUE(save(kFirst).ok());
  EXPECT_THAT(stores.uris(), SizeIs(kFirst.size() + 3)) << "both may still be at it";
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(saver_of(id), Saver::gone);
  ASSERT_TRUE(save(kFirst).ok());
  EXPECT_THAT(stores.uris(), SizeIs(kFirst.size() + 2)) << "nobody knows of the other machine's";
  stores.set_modified(kModel + "/.saved-" + elsewhere + "/w", now - int64_t{25} * 3600 * 1'000'000'000);
  ASSERT_TRUE(save(kFirst).ok());
  EXPECT_THAT(stores.uris(), SizeIs(kFirst.size() + 1));
  EXPECT_EQ(*load(), kFirst);
  ::close(pipes[0]);
  ::close(pipes[1]);
}

// A reader that is overtaken by saves gets one of them, whole.
TEST(ObjectFolder, IsReadWholeWhileItIsReplaced) {
  FakeStores stores;
  ASSERT_TRUE(save(kFirst).ok());
  int replaced = 0;
  stores.fault = [&](const std::string& kind, const std::string& uri) {
    if (kind == "open" && uri.find(".saved-") != std::string::npos && replaced < 3) {
      ++replaced;
      const auto fault = std::exchange(stores.fault, nullptr);
      EXPECT_TRUE(
          save({{"__model__", fmt::format("program {}", replaced)}, {"w", fmt::format("weights {}", replaced)}, {"deep/b 2", ""}})
              .ok());
      stores.fault = fault;
    }
    return Status();
  };
  const auto found = load();
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->at("__model__"), "program 3");
  EXPECT_EQ(found->at("w"), "weights 3");
}

TEST(ObjectFolder, DoesNotPublishWhatIsGoneAgain) {
  FakeStores stores;
  ASSERT_TRUE(save(kFirst).ok());
  stores.after = [&](const std::string&, const std::string& uri) {
    if (uri.ends_with("/w")) (void)stores.remove(uri);
  };
  EXPECT_THAT(save(kSecond).message(), HasSubstr("is not there any more as it was written"));
  EXPECT_EQ(*load(), kFirst);
}

TEST(ObjectFolder, ThatIsDamagedIsAnError) {
  FakeStores stores;
  ASSERT_TRUE(save(kFirst).ok());
  for (const std::string& uri : stores.uris()) {
    const std::string text = stores.get(uri);
    for (const std::string& bad : {text.substr(0, text.size() - 1), text + "x", "X" + text.substr(1)}) {
      stores.set(uri, bad);
      EXPECT_EQ(load().status().code(), Code::data_loss) << uri << ": " << bad;
      EXPECT_THAT(load().status().message(), HasSubstr(kModel));
    }
    stores.set(uri, text);
  }
  EXPECT_TRUE(load().ok());
}

TEST(ObjectFolder, ThatOthersHaveMadeIsReadAsItIs) {
  FakeStores stores;
  stores.set(kModel + "/__model__", "program");
  stores.set(kModel + "/deep/w", "weights");
  stores.set(kModel + "/.saved-x/w", "half");
  EXPECT_EQ(*load(), (std::map<std::string, std::string>{{"__model__", "program"}, {"deep/w", "weights"}}));
}

TEST(ObjectFolder, ThatIsNotThereIsAnError) {
  FakeStores stores;
  EXPECT_EQ(load().status().code(), Code::not_found);
  EXPECT_THAT(load().status().message(), HasSubstr("nothing is saved at '" + kModel + "'"));
}

// A manifest may come from anybody: it writes no file outside of the folder.
TEST(Manifest, OfAnyBytesIsOneOrAnError) {
  Manifest manifest{.id = "1-2-3-4", .mark = 5, .files = {{"a b", ".saved-1/a b", 3, 77}, {"deep/c", ".saved-1/deep/c", 0, 0}}};
  EXPECT_EQ(*Manifest::from_text(manifest.to_text()), manifest);
  for (const char* name : {"../x", "/etc/passwd", "a/../../x", "", "a//b", "./a"}) {
    Manifest bad = manifest;
    bad.files[0].name = name;
    EXPECT_EQ(Manifest::from_text(bad.to_text()).status().code(), Code::data_loss) << name;
  }
  const std::string text = manifest.to_text();
  const std::string with_an_empty_line = std::string(text).insert(text.find('\n'), "\n");
  EXPECT_THAT(Manifest::from_text(with_an_empty_line).status().message(), HasSubstr("an empty line"));
  const uint64_t seed = fresh_seed();
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int i = 0; i < 2000; ++i) {
    std::string bad = text;
    bad[random.below(bad.size())] = static_cast<char>(random.below(256));
    if (bad == text) continue;
    EXPECT_EQ(Manifest::from_text(bad).status().code(), Code::data_loss) << bad;
    EXPECT_FALSE(Manifest::from_text(text.substr(0, random.below(text.size()))).ok());
  }
}

TEST(SaveId, SaysWhetherItsSaveGoesOn) {
  std::string text;
  {
    const SaveId id;
    text = id.text();
    EXPECT_EQ(saver_of(text), Saver::alive);
    EXPECT_NE(SaveId().text(), text);
  }
  EXPECT_EQ(saver_of(text), Saver::gone) << "of this process, and finished";
  EXPECT_EQ(saver_of("of somebody"), Saver::unknown);
}

TEST(WorkingFolder, RefusesAPlaceWithAPassword) {
  FakeStores stores;
  const Status status = WorkingFolder::for_reading(FolderPlace("s3://AKIAX:hidden@b/m")).status();
  EXPECT_THAT(status.message(), HasSubstr("seen in logs"));
  EXPECT_THAT(status.message(), Not(HasSubstr("hidden")));
  EXPECT_EQ(stores.requests, 0);
}

TEST(Places, AreReadAndWrittenByPathAndUri) {
  FakeStores stores;
  const ScratchFiles folder;
  for (const std::string& place : {folder.path("f"), "file://" + folder.path("g"), std::string("s3://b/f")}) {
    EXPECT_TRUE(write_place(place, "bytes").ok());
    EXPECT_EQ(*read_place(place), "bytes");
  }
  EXPECT_TRUE(fs::exists(folder.path("g")));
}

}  // namespace
}  // namespace argosy::data
