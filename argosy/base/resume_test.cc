#include "argosy/base/resume.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>

#include "argosy/base/file.h"

namespace argosy {
namespace {

namespace fs = std::filesystem;

TEST(Resume, TheLauncherLearnsOfTheLastCheckpointThatWasNoted) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("argosy-resume-{}", ::getpid());
  fs::create_directories(folder);
  const fs::path file = folder / "last_checkpoint";
  EXPECT_EQ(*noted_checkpoint(file), "");

  ::unsetenv("ARGOSY_CHECKPOINT_FILE");
  EXPECT_TRUE(note_checkpoint("epoch0").ok());  // nobody wants to know
  EXPECT_EQ(*noted_checkpoint(file), "");

  ::setenv("ARGOSY_CHECKPOINT_FILE", file.c_str(), 1);
  EXPECT_TRUE(note_checkpoint("/data/epoch1").ok());
  EXPECT_TRUE(note_checkpoint("with space/epoch2").ok());
  EXPECT_EQ(*noted_checkpoint(file), (fs::current_path() / "with space/epoch2").string());

  ::setenv("ARGOSY_CHECKPOINT_FILE", (folder / "absent" / "file").c_str(), 1);
  EXPECT_THAT(note_checkpoint("epoch3").message(), ::testing::HasSubstr("ARGOSY_CHECKPOINT_FILE: cannot create"));
  ::unsetenv("ARGOSY_CHECKPOINT_FILE");
  fs::remove_all(folder);
}

TEST(Resume, AProcessLearnsWhereToGoOn) {
  ::unsetenv("ARGOSY_RESUME");
  EXPECT_EQ(checkpoint_to_resume(), "");
  ::setenv("ARGOSY_RESUME", "/data/epoch2", 1);
  EXPECT_EQ(checkpoint_to_resume(), "/data/epoch2");
  ::unsetenv("ARGOSY_RESUME");
}

}  // namespace
}  // namespace argosy
