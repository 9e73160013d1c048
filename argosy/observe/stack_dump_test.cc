#include "argosy/observe/stack_dump.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>

#include "argosy/base/clock.h"
#include "argosy/base/file.h"
#include "argosy/base/mutex.h"
#include "argosy/base/thread.h"

namespace argosy::observe {
namespace {

using testing::HasSubstr;

TEST(StackDump, EveryThreadWritesItsStack) {
  answer_stack_requests();
  const std::filesystem::path file = std::filesystem::temp_directory_path() / fmt::format("argosy-stacks-{}", ::getpid());
  const int before = ::dup(STDERR_FILENO), log = ::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
  ::dup2(log, STDERR_FILENO);
  Mutex mutex;
  ConditionVariable changed;
  bool ended = false;
  std::string text;
  {
    Thread waits("waits-here", [&] {
      MutexLock lock(mutex);
      changed.wait(lock, [&] { return ended; });
    });
    request_stacks(::getpid());
    const Deadline deadline = Deadline::after_seconds(60);
    while (text.find("waits-here\n") == std::string::npos && !deadline.passed()) text = *read_file(file);
    {
      MutexLock lock(mutex);
      ended = true;
    }
    changed.notify_all();
  }
  text = *read_file(file);
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  ::close(log);
  std::filesystem::remove(file);
  EXPECT_THAT(text, HasSubstr("---- thread " + std::to_string(::getpid())));
  EXPECT_THAT(text, HasSubstr("libc.so"));
}

TEST(StackDump, TheSystemsViewNamesThreads) {
  Mutex mutex;
  MutexLock lock(mutex);
  EXPECT_THAT(thread_states(::getpid()), HasSubstr("thread " + std::to_string(::getpid())));
  EXPECT_EQ(thread_states(1 << 22), "") << "there is no such process";
}

}  // namespace
}  // namespace argosy::observe
