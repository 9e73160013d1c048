#include "argosy/base/file.h"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>
#include <vector>

#include "argosy/base/fd.h"
#include "argosy/base/plant.h"

namespace argosy {
namespace fs = std::filesystem;

Status sync_folder(const fs::path& folder) {
  const Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.open()) return system_error("cannot open folder", folder);
  return ::fsync(fd.get()) != 0 ? system_error("cannot sync folder", folder) : Status();
}

namespace {

Status from_error_code(std::string_view what, const fs::path& path, const std::error_code& error) {
  errno = error.value();
  return system_error(what, path);
}

Status write_all(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error("cannot write", path);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status write_parts(int fd, std::span<const std::string_view> parts, const fs::path& path) {
  for (const std::string_view part : parts) RETURN_IF_ERROR(write_all(fd, part, path));
  return !ARGOSY_PLANTED("unsynced_rename") && ::fsync(fd) != 0 ? system_error("cannot sync", path) : Status();
}

Status write_new_file(const fs::path& path, std::span<const std::string_view> parts) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  return fd.open() ? write_parts(fd.get(), parts, path) : system_error("cannot create", path);
}

constexpr const char* kMarkName = "user.argosy.operation";

fs::path parent_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

}  // namespace

Result<std::string> read_file(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return system_error("cannot open", path);
  std::string bytes;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const Status status = system_error("cannot read", path);
      ::close(fd);
      return status;
    }
    if (count == 0) break;
    bytes.append(buffer, static_cast<size_t>(count));
  }
  ::close(fd);
  return bytes;
}

Status make_folder(const fs::path& folder) {
  std::error_code error;
  const fs::path clean = fs::absolute(folder, error).lexically_normal();
  std::vector<fs::path> missing;
  for (fs::path at = clean; at.has_relative_path() && !fs::exists(at, error); at = at.parent_path()) {
    if (at.has_filename()) missing.push_back(at);
  }
  fs::create_directories(clean, error);
  if (error) return from_error_code("cannot create folder", folder, error);
  for (const fs::path& made : missing) RETURN_IF_ERROR(sync_folder(parent_of(made)));
  return {};
}

Status write_file_atomically(const fs::path& path, std::string_view bytes) {
  ASSIGN_OR_RETURN(Temporary temporary, Temporary::file(path));
  RETURN_IF_ERROR(write_parts(temporary.fd(), {&bytes, 1}, temporary.path()));
  if (::rename(temporary.path().c_str(), path.c_str()) != 0) return system_error("cannot rename to", path);
  temporary.renamed();
  return sync_folder(parent_of(path));
}

Result<FolderWriter> FolderWriter::open(const fs::path& target, bool keep_others) {
  fs::path clean = target.lexically_normal();
  if (!clean.has_filename()) clean = clean.parent_path();
  std::error_code error;
  RETURN_IF_ERROR(make_folder(parent_of(clean)));
  ASSIGN_OR_RETURN(Temporary temporary, Temporary::folder(clean));
  return FolderWriter(std::move(clean), std::move(temporary), keep_others);
}

Status FolderWriter::write(const std::string& name, std::string_view bytes) { return write(name, {&bytes, 1}); }

Status FolderWriter::write(const std::string& name, std::span<const std::string_view> parts) {
  const fs::path path = temporary_.path() / name;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) return from_error_code("cannot create folder", path.parent_path(), error);
  return write_new_file(path, parts);
}

void FolderWriter::set_mark(uint64_t mark) {
  const std::string text = fmt::format("{:016x}", mark);
  (void)::setxattr(temporary_.path().c_str(), kMarkName, text.data(), text.size(), 0);
}

std::optional<uint64_t> folder_mark(const fs::path& folder) {
  char text[17] = "";
  if (::getxattr(folder.c_str(), kMarkName, text, sizeof(text) - 1) != 16) return std::nullopt;
  uint64_t mark = 0;
  const auto [end, error] = std::from_chars(text, text + 16, mark, 16);
  return error == std::errc() && end == text + 16 ? std::optional(mark) : std::nullopt;
}

Status FolderWriter::commit() {
  std::error_code error;
  if (keep_others_ && fs::is_directory(target_)) {
    for (const auto& entry : fs::directory_iterator(target_)) {
      const fs::path copy = temporary_.path() / entry.path().filename();
      if (fs::exists(copy)) continue;
      fs::copy(entry.path(), copy, fs::copy_options::recursive | fs::copy_options::create_hard_links, error);
      if (error) return from_error_code("cannot keep", entry.path(), error);
    }
  }
  RETURN_IF_ERROR(sync_folder(temporary_.path()));
  // Two folders change places in one step where the target exists; the old one is then removed under the temporary name.
  if (::renameat2(AT_FDCWD, temporary_.path().c_str(), AT_FDCWD, target_.c_str(), fs::exists(target_) ? RENAME_EXCHANGE : 0) !=
      0) {
    return system_error("cannot rename into place", target_);
  }
  fs::remove_all(temporary_.path(), error);
  temporary_.renamed();
  return sync_folder(parent_of(target_));
}

}  // namespace argosy
