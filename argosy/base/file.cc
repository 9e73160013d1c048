#include "argosy/base/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>
#include <vector>

#include "argosy/base/fd.h"
#include "argosy/base/folder_lock.h"
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

constexpr double kCommitSeconds = 120;  // of waiting for what others put into place beside it
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

fs::path behind_links(fs::path path) {
  constexpr int kMostLinks = 40;  // as Linux follows
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(path, error); ++i) {
    const fs::path next = fs::read_symlink(path, error);
    if (error) break;
    path = next.is_absolute() ? next : parent_of(path) / next;
  }
  return path;
}

Status write_file_atomically(const fs::path& name, std::string_view bytes) {
  const fs::path path = behind_links(name);
  ASSIGN_OR_RETURN(Temporary temporary, Temporary::file(path));
  if (struct stat old; ::stat(path.c_str(), &old) == 0) (void)::fchmod(temporary.fd(), old.st_mode & 07777);
  RETURN_IF_ERROR(write_parts(temporary.fd(), {&bytes, 1}, temporary.path()));
  if (::rename(temporary.path().c_str(), path.c_str()) != 0) return system_error("cannot rename to", path);
  temporary.renamed();
  return sync_folder(parent_of(path));
}

namespace {

void mark_folder(const fs::path& folder, uint64_t mark) {
  const std::string text = fmt::format("{:016x}", mark);
  (void)::setxattr(folder.c_str(), kMarkName, text.data(), text.size(), 0);
}

}  // namespace

Result<FolderWriter> FolderWriter::open(const fs::path& target, bool keep_others) {
  fs::path clean = target.lexically_normal();
  if (!clean.has_filename()) clean = clean.parent_path();
  clean = behind_links(clean);
  RETURN_IF_ERROR(make_folder(parent_of(clean)));
  ASSIGN_OR_RETURN(Temporary temporary, Temporary::folder(clean));
  FolderWriter writer(std::move(clean), std::move(temporary), keep_others);
  RETURN_IF_ERROR(writer.check_target());
  return writer;
}

Status FolderWriter::write(const std::string& name, std::string_view bytes) { return write(name, {&bytes, 1}); }

Status FolderWriter::write(const std::string& name, std::span<const std::string_view> parts) {
  const fs::path path = temporary_.path() / name;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) return from_error_code("cannot create folder", path.parent_path(), error);
  return write_new_file(path, parts);
}

void FolderWriter::set_mark(uint64_t mark) { mark_folder(temporary_.path(), mark); }

std::optional<uint64_t> folder_mark(const fs::path& folder) {
  char text[17] = "";
  if (::getxattr(folder.c_str(), kMarkName, text, sizeof(text) - 1) != 16) return std::nullopt;
  uint64_t mark = 0;
  const auto [end, error] = std::from_chars(text, text + 16, mark, 16);
  return error == std::errc() && end == text + 16 ? std::optional(mark) : std::nullopt;
}

// Whether this process works in the folder or below it: it must stay the folder that it is.
bool FolderWriter::is_worked_in() const {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (error) return false;
  for (fs::path above = here; above.has_relative_path(); above = above.parent_path()) {
    if (fs::equivalent(above, target_, error)) return true;
  }
  return false;
}

namespace {

// Whether everything below `made` can go into `target`: a file never replaces a folder, nor a folder a file.
Status check_entries(const fs::path& made, const fs::path& target) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(made)) {
    const fs::path there = target / entry.path().filename();
    if (!fs::exists(fs::symlink_status(there, error))) continue;
    if (entry.is_directory() != fs::is_directory(there, error)) {
      return Status::already_exists("cannot save '{}': there is a {} of that name; move it away, or save into another folder",
                                    there.string(), entry.is_directory() ? "file" : "folder");
    }
    if (entry.is_directory()) RETURN_IF_ERROR(check_entries(entry.path(), there));
  }
  return {};
}

// Moves what was made into a folder that stays: file by file, each of which is the old one or the new one.
Status move_entries(const fs::path& made, const fs::path& target) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(made)) {
    const fs::path there = target / entry.path().filename();
    if (entry.is_directory() && fs::is_directory(there, error)) {
      RETURN_IF_ERROR(move_entries(entry.path(), there));
    } else if (::rename(entry.path().c_str(), there.c_str()) != 0) {
      return system_error("cannot rename into place", there);
    }
  }
  return sync_folder(target);
}

// Keeps what the old folder has and the new one lacks.
Status keep_entries(const fs::path& from, const fs::path& to, bool by_link) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(from)) {
    const fs::path kept = to / entry.path().filename();
    if (fs::exists(fs::symlink_status(kept, error))) {
      if (entry.is_directory() && !entry.is_symlink() && fs::is_directory(kept, error))
        RETURN_IF_ERROR(keep_entries(entry.path(), kept, by_link));
      continue;
    }
    if (by_link)
      fs::copy(entry.path(), kept,
               fs::copy_options::recursive | fs::copy_options::create_hard_links | fs::copy_options::copy_symlinks, error);
    else
      fs::rename(entry.path(), kept, error);
    if (error) return from_error_code("cannot keep", entry.path(), error);
  }
  return {};
}

// Of the folder that is replaced; the owner where the system lets this process.
void take_permissions(const fs::path& from, const fs::path& to) {
  struct stat old;
  if (::stat(from.c_str(), &old) != 0) return;
  (void)::chown(to.c_str(), old.st_uid, old.st_gid);
  (void)::chmod(to.c_str(), old.st_mode & 07777);
}

}  // namespace

Status FolderWriter::move_into_target() {
  RETURN_IF_ERROR(move_entries(temporary_.path(), target_));
  const auto mark = folder_mark(temporary_.path());
  mark ? mark_folder(target_, *mark) : (void)::removexattr(target_.c_str(), kMarkName);
  return sync_folder(target_);
}

Status FolderWriter::check_target() const {
  std::error_code error;
  if (!fs::exists(target_, error)) return {};
  if (!fs::is_directory(target_, error)) {
    return Status::already_exists(
        "cannot save into '{}': it is a file, and a folder is expected; name another folder, or move it away", target_.string());
  }
  return keep_others_ ? check_entries(temporary_.path(), target_) : Status();
}

Status FolderWriter::commit() {
  Fd lock;
  if (!has_temporary_name(parent_of(target_))) {  // which its maker, nobody else, has locked and saves into
    ASSIGN_OR_RETURN(lock, lock_folder(parent_of(target_), Deadline::after_seconds(kCommitSeconds)));
  }
  RETURN_IF_ERROR(check_target());
  std::error_code error;
  const bool exists = fs::is_directory(target_, error);
  if (exists && is_worked_in()) {
    if (keep_others_) return move_into_target();
    return Status::failed_precondition(
        "cannot replace '{}': this process works in it. Save into a folder below it, or another one", target_.string());
  }
  if (keep_others_ && exists) RETURN_IF_ERROR(keep_entries(target_, temporary_.path(), /*by_link=*/true));
  if (exists) take_permissions(target_, temporary_.path());
  RETURN_IF_ERROR(sync_folder(temporary_.path()));
  // Two folders change places in one step where the target exists; the old one is then removed under the temporary name.
  if (::renameat2(AT_FDCWD, temporary_.path().c_str(), AT_FDCWD, target_.c_str(), exists ? RENAME_EXCHANGE : 0) != 0) {
    return system_error("cannot rename into place", target_);
  }
  if (keep_others_ && exists) {
    RETURN_IF_ERROR(keep_entries(temporary_.path(), target_, /*by_link=*/false));  // what came meanwhile
  }
  fs::remove_all(temporary_.path(), error);
  temporary_.renamed();
  (void)::flock(temporary_.fd(), LOCK_UN);  // it is the target now, which others may save into
  return sync_folder(parent_of(target_));
}

}  // namespace argosy
