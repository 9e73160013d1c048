#include "argosy/data/save_id.h"

#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <set>
#include <vector>

#include "argosy/base/file.h"
#include "argosy/base/identity.h"
#include "argosy/base/mutex.h"
#include "argosy/base/random.h"
#include "argosy/base/text.h"

namespace argosy::data {
namespace {

namespace fs = std::filesystem;

// One start of a machine, and its view of processes: the same number means the same process in it.
std::string machine() {
  std::error_code error;
  const auto boot = read_file("/proc/sys/kernel/random/boot_id");
  const std::string space = fs::read_symlink("/proc/self/ns/pid", error).string();
  return fmt::format("{:016x}", mix64((boot.ok() ? *boot : std::string()) + space));
}

// When a process started, in ticks since the machine did; none: there is no such process.
std::optional<std::string> start_of(std::string_view process) {
  const auto stat = read_file(fmt::format("/proc/{}/stat", process));
  if (!stat.ok()) return std::nullopt;
  constexpr size_t kStartField = 19;  // behind the name, which may have spaces
  const size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  const std::vector<std::string> fields = split(std::string_view(*stat).substr(name_end + 2), ' ');
  if (fields.size() <= kStartField || fields[0] == "Z") return std::nullopt;
  return fields[kStartField];
}

struct Active {
  Mutex mutex;
  std::set<std::string, std::less<>> ids ARGOSY_GUARDED_BY(mutex);
};

Active& active() {
  static Active& instance = *new Active;
  return instance;
}

}  // namespace

SaveId::SaveId()
    : text_(fmt::format("{}-{}-{}-{:016x}", machine(), ::getpid(), start_of(std::to_string(::getpid())).value_or("0"),
                        draw_identity())) {
  MutexLock lock(active().mutex);
  active().ids.insert(text_);
}

SaveId::~SaveId() {
  MutexLock lock(active().mutex);
  active().ids.erase(text_);
}

Saver saver_of(std::string_view id) {
  const std::vector<std::string> parts = split(id, '-');
  if (parts.size() != 4 || parts[0] != machine() || !parse_integer(parts[1])) return Saver::unknown;
  if (start_of(parts[1]) != parts[2]) return Saver::gone;
  if (parts[1] != std::to_string(::getpid())) return Saver::alive;
  MutexLock lock(active().mutex);
  return active().ids.contains(id) ? Saver::alive : Saver::gone;
}

}  // namespace argosy::data
