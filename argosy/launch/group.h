#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "argosy/launch/process.h"

namespace argosy::launch {

// The processes of a job on this machine, by number. Confined to one thread; the destructor kills what still runs.
class Group {
 public:
  explicit Group(std::vector<ProcessSpec> specs);

  size_t size() const { return members_.size(); }
  const ProcessSpec& spec(size_t i) const { return members_[i].spec; }

  // Starts process i, again where it has ended.
  Status start(size_t i);
  Status start_all();

  std::optional<Exit> poll(size_t i);  // nullopt while it runs and before it is started

  // Shows on stderr how process i ended, with the last lines of its log.
  void report(size_t i, const Exit& exit) const;

  // SIGTERM to all, and SIGKILL to those that still run after the grace, or after another stop signal of the launcher's own.
  // `meanwhile` is called again and again while it waits.
  void stop(double grace_seconds, const std::function<void()>& meanwhile = [] {});

 private:
  struct Member {
    ProcessSpec spec;
    std::unique_ptr<Process> process;
  };
  bool all_stopped();

  std::vector<Member> members_;
};

}  // namespace argosy::launch
