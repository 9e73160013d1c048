#include "argosy/graph/build.h"

#include <fmt/format.h>

#include <utility>

namespace argosy::graph {
namespace {

struct Current {
  std::shared_ptr<Program> main = Program::create();
  std::shared_ptr<Program> startup = Program::create();
  std::shared_ptr<UniqueNames> names = std::make_shared<UniqueNames>();
  int32_t role = kRoleForward;
};

Current& current() {
  static Current& instance = *new Current;  // leaked: variables may outlive main
  return instance;
}

}  // namespace

std::shared_ptr<Program> default_main_program() { return current().main; }
std::shared_ptr<Program> default_startup_program() { return current().startup; }
std::shared_ptr<Program> switch_main_program(std::shared_ptr<Program> program) {
  return std::exchange(current().main, std::move(program));
}
std::shared_ptr<Program> switch_startup_program(std::shared_ptr<Program> program) {
  return std::exchange(current().startup, std::move(program));
}

ProgramGuard::ProgramGuard(std::shared_ptr<Program> main, std::shared_ptr<Program> startup)
    : main_(switch_main_program(std::move(main))) {
  if (startup != nullptr) startup_ = switch_startup_program(std::move(startup));
}

ProgramGuard::~ProgramGuard() {
  switch_main_program(std::move(main_));
  if (startup_ != nullptr) switch_startup_program(std::move(startup_));
}

std::string UniqueNames::generate(const std::string& key) { return fmt::format("{}{}_{}", prefix_, key, next_[key]++); }
std::string unique_name(const std::string& key) { return current().names->generate(key); }
std::shared_ptr<UniqueNames> switch_unique_names(std::shared_ptr<UniqueNames> names) {
  return std::exchange(current().names, std::move(names));
}

RoleGuard::RoleGuard(int32_t role) : before_(std::exchange(current().role, role)) {}
RoleGuard::~RoleGuard() { current().role = before_; }
int32_t current_op_role() { return current().role; }

}  // namespace argosy::graph
