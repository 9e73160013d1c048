#include "argosy/testing/ranks.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "argosy/base/check.h"
#include "argosy/base/fd.h"
#include "argosy/base/socket.h"

namespace argosy::testing {
namespace {

using Clock = std::chrono::steady_clock;

struct Child {
  pid_t pid = 0;
  Fd process;  // readable when it has ended
  Fd output;   // closed once nobody writes to it any more
  bool ended = false;
};

[[noreturn]] void be_rank(const std::function<void(const RankInfo&)>& body, const RankInfo& place, int output) {
  ::dup2(output, 1);
  ::dup2(output, 2);
  int status = 0;
  try {
    body(place);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    status = 1;
  }
  std::fflush(nullptr);
  ::_exit(status);
}

Child start(const std::function<void(const RankInfo&)>& body, const RankInfo& place) {
  int ends[2];
  ARGOSY_CHECK(::pipe2(ends, O_CLOEXEC) == 0, "no pipe");
  const pid_t pid = ::fork();
  ARGOSY_CHECK(pid >= 0, "no fork");
  if (pid == 0) be_rank(body, place, ends[1]);
  ::close(ends[1]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  Child child{.pid = pid, .process = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))), .output = Fd(ends[0])};
  ARGOSY_CHECK(child.process.open(), "no pidfd");
  return child;
}

void drain(Child& child, RankEnd& end) {
  char buffer[4096];
  ssize_t got = -1;
  while (child.output.open() && (got = ::read(child.output.get(), buffer, sizeof(buffer))) > 0) end.output.append(buffer, got);
  if (got == 0) child.output.close();
}

// Until one of them writes or ends, or `until` has come; after that for a second at a time.
void wait_for_news(const std::vector<Child>& children, Clock::time_point until) {
  std::vector<pollfd> polled;
  for (const Child& child : children) {
    if (child.ended) continue;
    polled.push_back({.fd = child.process.get(), .events = POLLIN, .revents = 0});
    if (child.output.open()) polled.push_back({.fd = child.output.get(), .events = POLLIN, .revents = 0});
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  ::poll(polled.data(), polled.size(), left > 0 ? static_cast<int>(left) : 1000);
}

// Whether it has ended.
bool collect(Child& child, RankEnd& end, Clock::time_point begun) {
  drain(child, end);
  int status = 0;
  if (child.ended || ::waitpid(child.pid, &status, WNOHANG) != child.pid) return child.ended;
  drain(child, end);
  child.ended = true;
  end.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  end.time = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun);
  return true;
}

}  // namespace

std::vector<RankEnd> run_ranks(int count, const std::function<void(const RankInfo&)>& body, std::chrono::seconds deadline,
                               const std::function<void(const std::vector<int>&)>& watching) {
  const auto begun = Clock::now();
  const auto ports = free_ports("127.0.0.1", 1);
  ARGOSY_CHECK(ports.ok(), "no free port");
  std::vector<Child> children;
  std::vector<int> pids;
  std::vector<RankEnd> ends(count);
  for (int rank = 0; rank < count; ++rank) {
    children.push_back(start(body, {.rank = rank,
                                    .world_size = count,
                                    .local_rank = rank,
                                    .local_world_size = count,
                                    .master_host = "127.0.0.1",
                                    .master_port = ports->front(),
                                    .device = "cpu"}));
    pids.push_back(children.back().pid);
  }
  if (watching) watching(pids);
  for (bool all = false; !all;) {
    all = true;
    for (int rank = 0; rank < count; ++rank) {
      if (Clock::now() - begun > deadline && !children[rank].ended) ::kill(pids[rank], SIGKILL);
      all = collect(children[rank], ends[rank], begun) && all;
    }
    if (!all) wait_for_news(children, begun + deadline);
  }
  return ends;
}

}  // namespace argosy::testing
