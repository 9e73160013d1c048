#include "argosy/launch/process/log_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <vector>

#include "argosy/base/terminal_line.h"

namespace argosy::launch {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kTailBytes = 64 << 10;
constexpr int64_t kShowBytes = 1 << 20;  // at most at once
constexpr size_t kProbeBytes = 64 << 10;

// The bytes from `begin` on, at most `most`.
std::string read_from(const std::string& path, int64_t begin, int64_t most) {
  std::ifstream in(path, std::ios::binary);
  if (!in.seekg(begin)) return "";
  std::string bytes(static_cast<size_t>(most), '\0');
  in.read(bytes.data(), most);
  bytes.resize(static_cast<size_t>(in.gcount()));
  return bytes;
}

std::string date_now() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &local)};
}

// Folders are named by their dates.
void keep_newest(const fs::path& old) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator entry(old, error), end; !error && entry != end; entry.increment(error))
    folders.push_back(entry->path());
  std::sort(folders.begin(), folders.end());
  for (size_t i = 0; i + kOldLogs < folders.size(); ++i) fs::remove_all(folders[i], error);
}

// workerlog.0 becomes workerlog.0.log: a search for the logs of a job by their names, in all folders, finds none of older jobs.
std::string old_name(const fs::path& file) {
  const bool is_log = file.filename().string().find("log.") != std::string::npos;
  return file.filename().string() + (is_log ? ".log" : "");
}

Status cannot_write(const std::string& path, int error) {
  return Status::unavailable(
      "cannot write the log '{}': {}; what processes say is lost. Make room there, or start the job with another --log_dir", path,
      std::strerror(error));
}

}  // namespace

Result<Fd> open_log(const std::string& path, int flags) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) return cannot_write(path, error.value());
  Fd file(::open(path.c_str(), flags | O_CREAT | O_CLOEXEC, 0666));
  if (!file.open()) return cannot_write(path, errno);
  return file;
}

Status begin_log(const std::string& path) {
  set_aside(path);
  return open_log(path, O_WRONLY | O_TRUNC).status();
}

void set_aside(const std::string& path) {
  static const std::string date = date_now();
  std::error_code error;
  const fs::path file(path), old = file.parent_path() / "old";
  if (!fs::is_regular_file(file, error) || fs::file_size(file, error) == 0 || error) return;
  fs::create_directories(old / date, error);
  if (!error) fs::rename(file, old / date / old_name(file), error);
  if (!error) keep_newest(old);
}

bool rotate_log(const std::string& path, int64_t most) {
  const Fd log(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!log.open() || ::lseek(log.get(), 0, SEEK_END) <= most) return false;
  const std::string before = path + ".1";
  const Fd copy(::open(before.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  off_t from = 0;
  std::string bytes(kShowBytes, '\0');
  for (ssize_t count = 1; copy.open() && count > 0;) {
    count = ::pread(log.get(), bytes.data(), bytes.size(), from);
    if (count > 0 && ::write(copy.get(), bytes.data(), static_cast<size_t>(count)) != count)
      return false;  // no room: it grows on
    from += std::max<ssize_t>(count, 0);
  }
  return copy.open() && ::ftruncate(log.get(), 0) == 0;
}

// A line may still fit into a block that the log has while there is no other one: hence a file that needs new blocks. It has no
// name from the beginning, so that none is left.
Status check_log(const std::string& path) {
  const std::string probe = fmt::format("{}.probe-{}", path, ::getpid());
  const Fd file(::open(probe.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!file.open()) return cannot_write(path, errno);
  ::unlink(probe.c_str());
  const std::string bytes(kProbeBytes, '\0');
  const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
  if (written == static_cast<ssize_t>(bytes.size())) return {};
  return cannot_write(path, written < 0 ? errno : ENOSPC);
}

std::string tail(const std::string& path, int lines) {
  std::error_code error;
  const auto size = static_cast<int64_t>(std::filesystem::file_size(path, error));
  if (error || lines <= 0) return "";
  const std::string text = read_from(path, std::max<int64_t>(0, size - kTailBytes), kTailBytes);
  size_t begin = text.size();
  for (int seen = 0; begin > 0; --begin) {
    if (text[begin - 1] == '\n' && begin != text.size() && ++seen == lines) break;
  }
  return text.substr(begin);
}

void LogFollower::show() {
  std::error_code error;
  if (const auto size = std::filesystem::file_size(path_, error); !error && static_cast<int64_t>(size) < shown_)
    shown_ = 0;  // rotated
  for (;;) {
    const std::string bytes = read_from(path_, shown_, kShowBytes);
    if (bytes.empty()) return;
    shown_ += static_cast<int64_t>(bytes.size());
    clear_terminal_line();
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    std::fflush(stdout);
  }
}

}  // namespace argosy::launch
