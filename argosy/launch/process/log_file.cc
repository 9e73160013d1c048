#include "argosy/launch/process/log_file.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace argosy::launch {
namespace {

constexpr int64_t kTailBytes = 64 << 10;
constexpr int64_t kShowBytes = 1 << 20;  // at most at once

// The bytes from `begin` on, at most `most`.
std::string read_from(const std::string& path, int64_t begin, int64_t most) {
  std::ifstream in(path, std::ios::binary);
  if (!in.seekg(begin)) return "";
  std::string bytes(static_cast<size_t>(most), '\0');
  in.read(bytes.data(), most);
  bytes.resize(static_cast<size_t>(in.gcount()));
  return bytes;
}

}  // namespace

Status begin_log(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (!error && std::ofstream(path, std::ios::trunc)) return {};
  return Status::unavailable("cannot write the log '{}'{}", path, error ? ": " + error.message() : "");
}

std::string tail(const std::string& path, int lines) {
  std::error_code error;
  const auto size = static_cast<int64_t>(std::filesystem::file_size(path, error));
  if (error) return "";
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
