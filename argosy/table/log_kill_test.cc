#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "argosy/base/random.h"
#include "argosy/table/log_scratch.h"
#include "argosy/table/record_log.h"

// A process that appends and says so is killed with -9 at a random moment, again and again on one log.
namespace argosy::table {
namespace {

constexpr uint32_t kThreads = 3;
constexpr int kKills = 20;

struct Identity {
  uint32_t thread = 0;
  uint32_t number = 0;  // in its thread
};
using Progress = std::array<uint32_t, kThreads>;  // records of each thread

// A record that tells whether it is whole: its identity and bytes that follow from it, 8 bytes to 200 KB.
std::string record_of(Identity identity) {
  Random random(identity.thread, identity.number);
  std::string text(sizeof identity + random.below(25'000) * random.below(9), '\0');
  std::memcpy(text.data(), &identity, sizeof identity);
  for (size_t i = sizeof identity; i + 8 <= text.size(); i += 8) {
    const uint64_t bits = random();
    std::memcpy(text.data() + i, &bits, 8);
  }
  return text;
}

[[noreturn]] void append_until_killed(const std::filesystem::path& folder, bool sync, Progress next, int pipe) {
  auto log = RecordLog::open(folder, {.sync = sync});
  if (!log.ok()) ::_exit(1);
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (Identity identity{t, next[t]};; ++identity.number) {
        if (!append_text(**log, record_of(identity)).ok()) ::_exit(2);
        if (identity.number % 100 == 99 && !(*log)->rotate().ok()) ::_exit(3);
        if (::write(pipe, &identity, sizeof identity) != sizeof identity) ::_exit(4);  // atomic: less than PIPE_BUF
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ::_exit(5);
}

// Starts the process, kills it after `acknowledgements` or a little later, and returns how many each thread has got in all.
Progress run_and_kill(const std::filesystem::path& folder, bool sync, Progress next, uint64_t acknowledgements,
                      std::chrono::microseconds later) {
  int ends[2];
  ARGOSY_CHECK(::pipe(ends) == 0);
  const pid_t child = ::fork();
  ARGOSY_CHECK(child >= 0);
  if (child == 0) append_until_killed(folder, sync, next, ends[1]);
  ::close(ends[1]);
  Identity identity;
  for (uint64_t seen = 0; ::read(ends[0], &identity, sizeof identity) == sizeof identity;) {
    next[identity.thread] = identity.number + 1;
    if (++seen != acknowledgements) continue;
    std::this_thread::sleep_for(later);
    ::kill(child, SIGKILL);
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child ended by itself with " << WEXITSTATUS(status);
  return next;
}

// Checks that each thread's records are there, whole and in order, and returns how many.
Progress check_log(const std::filesystem::path& folder) {
  const auto log = RecordLog::open(folder, {});
  EXPECT_TRUE(log.ok()) << log.status().message();
  Progress found{};
  if (!log.ok()) return found;
  const Status status = (*log)->replay(0, [&](uint64_t, Bytes record) {
    Identity identity;
    ARGOSY_CHECK(record.size() >= sizeof identity);
    std::memcpy(&identity, record.data(), sizeof identity);
    EXPECT_EQ(identity.number, found[identity.thread]++);
    EXPECT_EQ(record_of(identity), std::string(reinterpret_cast<const char*>(record.data()), record.size()));
    return Status();
  });
  EXPECT_TRUE(status.ok()) << status.message();
  return found;
}

void kill_again_and_again(bool sync) {
  const ScratchFolder scratch;
  const uint64_t seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  Progress next{};
  for (int round = 0; round < kKills; ++round) {
    const auto later = std::chrono::microseconds(random.below(2000));
    const Progress acknowledged = run_and_kill(scratch / "log", sync, next, 1 + random.below(60), later);
    next = check_log(scratch / "log");
    for (size_t t = 0; t < kThreads; ++t) {
      ASSERT_GE(next[t], acknowledged[t]) << "kill " << round << ": an acknowledged record of thread " << t << " is lost";
    }
  }
}

TEST(LogKill, NothingAcknowledgedIsLost) { kill_again_and_again(false); }
TEST(LogKill, NothingAcknowledgedIsLostWithSync) { kill_again_and_again(true); }

}  // namespace
}  // namespace argosy::table
