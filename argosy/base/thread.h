#pragma once

#include <functional>
#include <string>
#include <thread>

namespace argosy {

// A thread with a name that tools show (at most 15 characters of it) and an owner: the destructor joins. The body must end
// by itself or by something the owner does before (a closed queue, a stop flag).
class Thread {
 public:
  Thread() = default;
  Thread(std::string name, std::function<void()> body);
  Thread(Thread&&) = default;
  Thread& operator=(Thread&& other) noexcept;
  ~Thread() { join(); }

  void join();  // safe to call twice

 private:
  std::thread thread_;
};

// Cores that this process may use (its affinity mask), at least 1.
int available_cores();

}  // namespace argosy
