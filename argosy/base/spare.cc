#include "argosy/base/spare.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "argosy/base/env_variable.h"
#include "argosy/base/fd.h"
#include "argosy/base/log.h"
#include "argosy/base/notice.h"
#include "argosy/base/text.h"
#include "argosy/base/wait_check.h"
#include "argosy/base/wake.h"

namespace argosy {
namespace {

constexpr const char* kVariable = "ARGOSY_SPARE";
constexpr const char* kPlace = "place";
constexpr char kSeparator = '\x1f';  // between what a word has: "place", the log, NAME=VALUE, …
constexpr double kSliceSeconds = 0.2;

std::map<std::string, std::string>& taken() {
  static auto& instance = *new std::map<std::string, std::string>;
  return instance;
}

Status write_to(const std::string& log) {
  const Fd file(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (file.open() && ::dup2(file.get(), STDOUT_FILENO) >= 0 && ::dup2(file.get(), STDERR_FILENO) >= 0) return {};
  return Status::unavailable("a spare process cannot write to {}: {}", log, std::strerror(errno));
}

Status obey(const std::vector<std::string>& parts) {
  RETURN_IF_ERROR(write_to(parts[1]));
  for (size_t i = 2; i < parts.size(); ++i) {
    const size_t equals = parts[i].find('=');
    if (equals == std::string::npos) return Status::internal("a spare process was told '{}', expected NAME=VALUE", parts[i]);
    taken()[parts[i].substr(0, equals)] = parts[i].substr(equals + 1);
  }
  for (const auto& [name, value] : taken()) ::setenv(name.c_str(), value.c_str(), 1);
  ::unsetenv(kVariable);
  return {};
}

}  // namespace

bool is_spare() { return variable(kVariable).has_value(); }

const std::map<std::string, std::string>& variables_of_place() { return taken(); }

Status take_place() {
  if (!has_launcher())
    return Status::failed_precondition("{} is set, and no launcher is there that could say whose place to take", kVariable);
  log_info("this spare process is ready, and waits for the place of a rank that is lost");
  const Wake never;
  for (;;) {
    const auto word = hear_launcher(Deadline::after_seconds(kSliceSeconds), never.fd());
    if (wait_cancelled()) return Status::cancelled("the spare process was told to end");
    if (!word) continue;
    const auto parts = split(*word, kSeparator);
    if (parts.size() >= 2 && parts[0] == kPlace) return obey(parts);
  }
}

std::string word_of_place(const std::map<std::string, std::string>& spare, const std::map<std::string, std::string>& rank,
                          const std::string& log) {
  std::vector<std::string> parts{kPlace, log};
  for (const auto& [name, value] : rank) {
    const auto found = spare.find(name);
    if (found == spare.end() || found->second != value) parts.push_back(fmt::format("{}={}", name, value));
  }
  return join(parts, std::string(1, kSeparator));
}

}  // namespace argosy
