#pragma once

#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "argosy/base/check.h"
#include "argosy/data/batch.h"

// For the tests of this room only.
namespace argosy::data {

// A seed that differs from run to run; tests show it with SCOPED_TRACE.
inline uint64_t fresh_seed() { return std::random_device{}(); }

// A folder of its own for a test, removed with everything in it.
class ScratchFiles {
 public:
  ScratchFiles() {
    std::string pattern = (std::filesystem::temp_directory_path() / "argosy-data-XXXXXX").string();
    ARGOSY_CHECK(::mkdtemp(pattern.data()) != nullptr, "no folder for the test");
    folder_ = pattern;
  }
  ~ScratchFiles() { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return path(name);
  }
  std::string write_program(const std::string& name, const std::string& script) const {
    const std::string program = write(name, script);
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    return program;
  }

 private:
  std::filesystem::path folder_;
};

inline std::string gzip(const std::string& text) {
  z_stream zlib{};
  ARGOSY_CHECK(deflateInit2(&zlib, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&zlib, text.size()) + 64, '\0');
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  zlib.avail_in = static_cast<uInt>(text.size());
  zlib.next_out = reinterpret_cast<Bytef*>(packed.data());
  zlib.avail_out = static_cast<uInt>(packed.size());
  ARGOSY_CHECK(deflate(&zlib, Z_FINISH) == Z_STREAM_END);
  packed.resize(zlib.total_out);
  deflateEnd(&zlib);
  return packed;
}

inline std::string zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

inline std::vector<float> floats_of(const Column& column) { return {column.floats(), column.floats() + column.count()}; }
inline std::vector<int64_t> ints_of(const Column& column) { return {column.ints(), column.ints() + column.count()}; }
inline std::vector<int64_t> offsets_of(const Column& column) { return {column.offsets().begin(), column.offsets().end()}; }

}  // namespace argosy::data
