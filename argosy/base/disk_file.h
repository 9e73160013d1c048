#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "argosy/base/fd.h"
#include "argosy/base/status.h"

namespace argosy {

using Bytes = std::span<const std::byte>;

// A file that is written and read by place. Errors name the path and the system's reason. Thread-compatible.
class DiskFile {
 public:
  static Result<DiskFile> open(const std::filesystem::path& path);           // to read
  static Result<DiskFile> open_to_write(const std::filesystem::path& path);  // the file that is there, to read and write
  static Result<DiskFile> create(const std::filesystem::path& path);         // an empty file, whatever was there

  const std::filesystem::path& path() const { return path_; }
  Result<uint64_t> size() const;

  // Writes the pieces one after the other, without a copy. An error may leave any part of them in the file.
  Status write_at(uint64_t offset, std::span<const Bytes> pieces);
  // Fills the front of `room`, all of it unless the file ends before, and returns how much.
  Result<size_t> read_at(uint64_t offset, std::span<std::byte> room) const;

  Status truncate(uint64_t size);
  // Returns when the bytes are on the disk.
  Status sync();
  // Lets the system begin to write `size` bytes from `offset` on to the disk, so that they do not pile up in memory.
  void start_writeback(uint64_t offset, uint64_t size);

 private:
  DiskFile(Fd fd, std::filesystem::path path) : fd_(std::move(fd)), path_(std::move(path)) {}
  static Result<DiskFile> open(const std::filesystem::path& path, int flags, std::string_view what);

  Fd fd_;
  std::filesystem::path path_;
};

// Looks at a file from its beginning to its end, in blocks that are read ahead. Thread-compatible.
class FileWindow {
 public:
  // `size` is how much of the file counts; `block` how much is read at once, where a caller does not ask for more.
  FileWindow(const DiskFile& file, uint64_t size, size_t block) : file_(file), size_(size), block_(block) {}

  uint64_t size() const { return size_; }

  // The bytes from `offset` on, valid until the next call; those at a multiple of 8 lie at one in memory as well. A file
  // that has become shorter is `data_loss`. REQUIRES: offset + size <= size().
  Result<Bytes> at(uint64_t offset, size_t size);

 private:
  Status fill(uint64_t offset, size_t size);

  const DiskFile& file_;
  uint64_t size_;
  size_t block_;
  std::unique_ptr<std::byte[]> buffer_;
  size_t room_ = 0;
  uint64_t begin_ = 0;  // place in the file of the buffer's first byte, a multiple of 8
  size_t held_ = 0;
};

}  // namespace argosy
