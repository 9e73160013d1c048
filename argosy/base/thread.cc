#include "argosy/base/thread.h"

#include <pthread.h>
#include <sched.h>

#include <utility>

namespace argosy {

Thread::Thread(std::string name, std::function<void()> body)
    : thread_([name = std::move(name), body = std::move(body)] {
        pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
        body();
      }) {}

Thread& Thread::operator=(Thread&& other) noexcept {
  join();
  thread_ = std::move(other.thread_);
  return *this;
}

void Thread::join() {
  if (thread_.joinable()) thread_.join();
}

int available_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  const int count = CPU_COUNT(&set);
  return count > 0 ? count : 1;
}

}  // namespace argosy
