#include "argosy/base/disk_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "argosy/base/file.h"

namespace argosy {
namespace fs = std::filesystem;
namespace {

constexpr size_t kPiecesAtOnce = 512;  // half of what the system takes

// Takes `written` bytes off the front of the list.
std::span<iovec> advance(std::span<iovec> list, size_t written) {
  while (!list.empty() && written >= list.front().iov_len) {
    written -= list.front().iov_len;
    list = list.subspan(1);
  }
  if (!list.empty()) {
    list.front().iov_base = static_cast<char*>(list.front().iov_base) + written;
    list.front().iov_len -= written;
  }
  return list;
}

}  // namespace

Result<DiskFile> DiskFile::open(const fs::path& path, int flags, std::string_view what) {
  Fd fd(::open(path.c_str(), flags | O_CLOEXEC, 0666));
  if (!fd.open()) return system_error(what, path);
  return DiskFile(std::move(fd), path);
}

Result<DiskFile> DiskFile::open(const fs::path& path) {
  ASSIGN_OR_RETURN(DiskFile file, open(path, O_RDONLY, "cannot open"));
  ::posix_fadvise(file.fd_.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  return file;
}

Result<DiskFile> DiskFile::open_to_write(const fs::path& path) { return open(path, O_RDWR, "cannot open"); }

Result<DiskFile> DiskFile::create(const fs::path& path) { return open(path, O_RDWR | O_CREAT | O_TRUNC, "cannot create"); }

Result<uint64_t> DiskFile::size() const {
  struct stat info{};
  if (::fstat(fd_.get(), &info) != 0) return system_error("cannot look at", path_);
  if (!S_ISREG(info.st_mode)) return Status::invalid_argument("'{}' is not a plain file", path_.string());
  return static_cast<uint64_t>(info.st_size);
}

Status DiskFile::write_at(uint64_t offset, std::span<const Bytes> pieces) {
  std::array<iovec, kPiecesAtOnce> room;
  while (!pieces.empty()) {
    const size_t count = std::min(pieces.size(), kPiecesAtOnce);
    for (size_t i = 0; i < count; ++i) room[i] = {const_cast<std::byte*>(pieces[i].data()), pieces[i].size()};
    pieces = pieces.subspan(count);
    for (auto list = advance({room.data(), count}, 0); !list.empty();) {
      const ssize_t written = ::pwritev(fd_.get(), list.data(), static_cast<int>(list.size()), static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return system_error("cannot write", path_);
      offset += static_cast<uint64_t>(written);
      list = advance(list, static_cast<size_t>(written));
    }
  }
  return {};
}

Result<size_t> DiskFile::read_at(uint64_t offset, std::span<std::byte> room) const {
  size_t filled = 0;
  while (filled < room.size()) {
    const ssize_t got = ::pread(fd_.get(), room.data() + filled, room.size() - filled, static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("cannot read", path_);
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  return filled;
}

Status DiskFile::truncate(uint64_t size) {
  return ::ftruncate(fd_.get(), static_cast<off_t>(size)) != 0 ? system_error("cannot cut", path_) : Status();
}

Status DiskFile::sync() { return ::fdatasync(fd_.get()) != 0 ? system_error("cannot sync", path_) : Status(); }

void DiskFile::start_writeback(uint64_t offset, uint64_t size) {
  // Advice only: a file system without it writes when it likes.
  ::sync_file_range(fd_.get(), static_cast<off_t>(offset), static_cast<off_t>(size), SYNC_FILE_RANGE_WRITE);
}

Result<Bytes> FileWindow::at(uint64_t offset, size_t size) {
  if (offset < begin_ || offset + size > begin_ + held_) RETURN_IF_ERROR(fill(offset, size));
  return Bytes(buffer_.get() + (offset - begin_), size);
}

Status FileWindow::fill(uint64_t offset, size_t size) {
  const uint64_t begin = offset / 8 * 8;
  const uint64_t wanted = std::max<uint64_t>(offset + size - begin, std::min<uint64_t>(block_, size_ - begin));
  held_ = 0;
  if (room_ < wanted) {
    room_ = std::max<size_t>(wanted, std::min<uint64_t>(block_, size_));
    buffer_ = std::make_unique_for_overwrite<std::byte[]>(room_);
  }
  ASSIGN_OR_RETURN(held_, file_.read_at(begin, {buffer_.get(), wanted}));
  begin_ = begin;
  if (begin_ + held_ < offset + size) {
    return Status::data_loss("'{}' ends at byte {}, but had {} before: another process has cut it", file_.path().string(),
                             begin_ + held_, size_);
  }
  return {};
}

}  // namespace argosy
