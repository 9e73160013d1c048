#include "argosy/launch/process/log_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace argosy::launch {
namespace {

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

Status begin_log(const std::string& path) { return open_log(path, O_WRONLY | O_TRUNC).status(); }

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
  for (;;) {
    const std::string bytes = read_from(path_, shown_, kShowBytes);
    if (bytes.empty()) return;
    shown_ += static_cast<int64_t>(bytes.size());
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    std::fflush(stdout);
  }
}

}  // namespace argosy::launch
