#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "argosy/graph/program.h"
#include "argosy/graph/variable.h"

namespace argosy::graph {

// Where layer functions build: the main and the startup program, and the counters behind generated names. As in Paddle there
// is one current set for the process; guards replace parts of it for a while. Not thread-safe: programs are built by one thread.
std::shared_ptr<Program> default_main_program();
std::shared_ptr<Program> default_startup_program();
std::shared_ptr<Program> switch_main_program(std::shared_ptr<Program> program);        // returns the one before
std::shared_ptr<Program> switch_startup_program(std::shared_ptr<Program> program);

class ProgramGuard {
 public:
  explicit ProgramGuard(std::shared_ptr<Program> main, std::shared_ptr<Program> startup = nullptr);
  ~ProgramGuard();
  ProgramGuard(const ProgramGuard&) = delete;

 private:
  std::shared_ptr<Program> main_, startup_;  // the ones before; startup_ is null where it was left alone
};

// Counters by key: generate("fc") gives fc_0, fc_1, …
class UniqueNames {
 public:
  explicit UniqueNames(std::string prefix = "") : prefix_(std::move(prefix)) {}
  std::string generate(const std::string& key);

 private:
  std::string prefix_;
  std::map<std::string, int> next_;
};

std::string unique_name(const std::string& key);
std::shared_ptr<UniqueNames> switch_unique_names(std::shared_ptr<UniqueNames> names);  // returns the ones before

class UniqueNameGuard {
 public:
  explicit UniqueNameGuard(std::string prefix = "")
      : before_(switch_unique_names(std::make_shared<UniqueNames>(std::move(prefix)))) {}
  ~UniqueNameGuard() { switch_unique_names(before_); }
  UniqueNameGuard(const UniqueNameGuard&) = delete;

 private:
  std::shared_ptr<UniqueNames> before_;
};

// Operators made while it lives carry `role`.
class RoleGuard {
 public:
  explicit RoleGuard(int32_t role);
  ~RoleGuard();
  RoleGuard(const RoleGuard&) = delete;

 private:
  int32_t before_;
};

}  // namespace argosy::graph
