#pragma once

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "argosy/base/check.h"
#include "argosy/table/record_log.h"

// For the tests of logs and snapshots only.
namespace argosy::table {

// A seed that differs from run to run; tests show it with SCOPED_TRACE.
inline uint64_t fresh_seed() { return std::random_device{}(); }

// A folder of its own for a test, removed with everything in it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "argosy-table-XXXXXX").string();
    ARGOSY_CHECK(::mkdtemp(pattern.data()) != nullptr, "no folder for the test");
    folder_ = pattern;
  }
  ~ScratchFolder() { std::filesystem::remove_all(folder_); }
  ScratchFolder(const ScratchFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_;
};

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void put_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// Lets no file of this process grow beyond a size while it lives, as a full disk does.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    ARGOSY_CHECK(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~SmallDisk() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  SmallDisk(const SmallDisk&) = delete;

 private:
  rlimit before_{};
};

inline Result<uint64_t> append_text(RecordLog& log, const std::string& text) {
  const Bytes piece = std::as_bytes(std::span(text));
  return log.append({&piece, 1});
}

// The records of the log by position.
inline Result<std::map<uint64_t, std::string>> records_of(const RecordLog& log, uint64_t from) {
  std::map<uint64_t, std::string> records;
  RETURN_IF_ERROR(log.replay(from, [&](uint64_t position, Bytes record) {
    ARGOSY_CHECK(records.empty() || position > records.rbegin()->first, "positions must rise");
    records[position] = {reinterpret_cast<const char*>(record.data()), record.size()};
    return Status();
  }));
  return records;
}

inline std::vector<std::string> texts_of(const RecordLog& log) {
  std::vector<std::string> texts;
  const auto records = records_of(log, log.first());
  ARGOSY_CHECK(records.ok(), records.status().message());
  for (const auto& [position, text] : *records) texts.push_back(text);
  return texts;
}

}  // namespace argosy::table
