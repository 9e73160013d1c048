#include "argosy/data/object_folder.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "argosy/base/fd.h"
#include "argosy/base/log.h"
#include "argosy/base/system_error.h"
#include "argosy/base/text.h"
#include "argosy/base/uri.h"
#include "argosy/data/object_store.h"
#include "argosy/data/save_id.h"

namespace argosy::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSaved = ".saved-";
constexpr auto kUnknownSaverMayTake = std::chrono::hours(24);
constexpr size_t kCopyPiece = 8 << 20;
constexpr int kMostReplacements = 10;  // of the manifest, while one copy of its files is made

uint32_t extend_crc(uint32_t crc, std::string_view bytes) {
  return static_cast<uint32_t>(::crc32(crc, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

// The save that an object of a folder belongs to: "ID" of ".saved-ID/…"; empty: none.
std::string save_of(std::string_view object) {
  if (!object.starts_with(kSaved)) return {};
  return std::string(object.substr(kSaved.size(), object.find('/') - kSaved.size()));
}

// Below the folder, decoded.
std::string name_in(const std::string& folder, const std::string& uri) {
  std::string_view begin = without_query(folder);
  while (begin.ends_with('/')) begin.remove_suffix(1);
  return decode_uri_path(without_query(uri).substr(begin.size() + 1));
}

// ---- Saving

Result<ManifestFile> upload(const fs::path& file, const std::string& name, const std::string& folder, const std::string& id) {
  ManifestFile entry{.name = name, .object = fmt::format("{}{}/{}", kSaved, id, name)};
  const StopSignal never;
  RETURN_IF_ERROR(never.status());
  // Of what is sent: what the disk holds afterwards is another matter.
  class Summed : public ByteStream {
   public:
    Summed(std::unique_ptr<ByteStream> bytes, ManifestFile& entry) : bytes_(std::move(bytes)), entry_(entry) {
      entry_.size = entry_.crc32 = 0;
    }
    Result<size_t> read(std::span<char> room) override {
      ASSIGN_OR_RETURN(const size_t got, bytes_->read(room));
      entry_.size += static_cast<int64_t>(got);
      entry_.crc32 = extend_crc(entry_.crc32, {room.data(), got});
      return got;
    }

   private:
    const std::unique_ptr<ByteStream> bytes_;
    ManifestFile& entry_;
  };
  RETURN_IF_ERROR(put_object(uri_child(folder, entry.object), [&]() -> Result<std::unique_ptr<ByteStream>> {
    ASSIGN_OR_RETURN(Fd fd, open_for_reading(file.string()));
    return std::unique_ptr<ByteStream>(std::make_unique<Summed>(read_fd(std::move(fd), file.string(), never), entry));
  }));
  return entry;
}

// What lies in the store is what was sent: another save may have removed it, taking this process for dead.
Status check_uploaded(const std::string& folder, const std::string& id, const std::vector<ManifestFile>& files) {
  ASSIGN_OR_RETURN(const auto there, list_objects(uri_child(folder, fmt::format("{}{}", kSaved, id)), true));
  std::map<std::string, int64_t> sizes;
  for (const ObjectInfo& object : there) sizes.emplace(name_in(folder, object.uri), object.size);
  for (const ManifestFile& file : files) {
    const auto found = sizes.find(file.object);
    if (found == sizes.end() || found->second != file.size)
      return Status::data_loss(
          "'{}': what was written as '{}' is not there any more as it was written ({} bytes found, {} sent); something else "
          "removes or "
          "writes objects there. The save before stays",
          folder, file.object, found == sizes.end() ? 0 : found->second, file.size);
  }
  return {};
}

// Files of the save before that the new one does not have.
void keep_others(const std::optional<Manifest>& before, Manifest& manifest) {
  std::set<std::string> names;
  for (const ManifestFile& file : manifest.files) names.insert(file.name);
  if (before) {
    for (const ManifestFile& file : before->files)
      if (!names.contains(file.name)) manifest.files.push_back(file);
  }
  std::ranges::sort(manifest.files, {}, &ManifestFile::name);
}

bool is_abandoned(const std::string& id, int64_t newest_ns) {
  const Saver saver = saver_of(id);
  if (saver != Saver::unknown) return saver == Saver::gone;
  const auto now =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  return newest_ns > 0 && now - newest_ns > std::chrono::nanoseconds(kUnknownSaverMayTake).count();
}

std::set<std::string> objects_of(const Manifest& manifest) {
  std::set<std::string> objects;
  for (const ManifestFile& file : manifest.files) objects.insert(file.object);
  return objects;
}

// What lies in the folder of one save, and what of it no manifest names any more.
struct SaveObjects {
  size_t files = 0;
  int64_t newest_ns = 0;
  std::vector<std::string> replaced, unnamed;
};

std::map<std::string, SaveObjects> objects_by_save(const std::string& folder, const std::vector<ObjectInfo>& there,
                                                   const std::optional<Manifest>& before, const Manifest& manifest) {
  const std::set<std::string> named = objects_of(manifest), replaced = before ? objects_of(*before) : std::set<std::string>();
  std::map<std::string, SaveObjects> saves;
  for (const ObjectInfo& object : there) {
    const std::string name = name_in(folder, object.uri), id = save_of(name);
    if (id.empty()) continue;
    SaveObjects& save = saves[id];
    if (object.folder) continue;
    ++save.files;
    save.newest_ns = std::max(save.newest_ns, object.modified_ns);
    if (!named.contains(name)) (replaced.contains(name) ? save.replaced : save.unnamed).push_back(object.uri);
  }
  return saves;
}

// Some stores keep an empty folder where single objects were removed: one that is to be empty is removed as a whole.
Status remove_of_save(const std::string& folder, const std::string& id, const SaveObjects& save) {
  std::vector<std::string> removed = save.replaced;
  if (is_abandoned(id, save.newest_ns)) removed.insert(removed.end(), save.unnamed.begin(), save.unnamed.end());
  if (removed.size() == save.files && (save.files > 0 || saver_of(id) == Saver::gone))
    return remove_object_folder(uri_child(folder, fmt::format("{}{}", kSaved, id)));
  for (const std::string& uri : removed) RETURN_IF_ERROR(remove_object(uri));
  return {};
}

// Objects of saves that the manifest does not name: of the save before, and of those that were never finished. What cannot be
// removed is left to the next save.
void remove_unnamed(const std::string& folder, const std::optional<Manifest>& before, const Manifest& manifest) {
  const auto there = list_objects(folder, true);
  Status failure = there.status();
  if (there.ok()) {
    for (const auto& [id, save] : objects_by_save(folder, *there, before, manifest))
      if (const Status status = remove_of_save(folder, id, save); !status.ok()) failure = status;
  }
  if (!failure.ok())
    log_warning("the save to '{}' is whole, and what it replaces stays until the next one: {}", folder, failure.message());
}

// ---- Reading

Status write_whole(const Fd& fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error("cannot write", path);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

// `expected`: null where nobody knows.
Status fetch_file(const std::string& uri, const fs::path& to, const ManifestFile* expected) {
  std::error_code error;
  fs::create_directories(to.parent_path(), error);
  const Fd fd(::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd.open()) return system_error("cannot create", to);
  const StopSignal never;
  RETURN_IF_ERROR(never.status());
  ASSIGN_OR_RETURN(const auto stream, stream_object(uri, never));
  std::vector<char> piece(kCopyPiece);
  int64_t size = 0;
  uint32_t crc = 0;
  for (;;) {
    ASSIGN_OR_RETURN(const size_t got, stream->read(piece));
    if (got == 0) break;
    crc = extend_crc(crc, {piece.data(), got});
    size += static_cast<int64_t>(got);
    RETURN_IF_ERROR(write_whole(fd, {piece.data(), got}, to));
  }
  if (expected == nullptr || (size == expected->size && crc == expected->crc32)) return {};
  return Status::data_loss("'{}' is damaged: {} bytes with checksum {:08x}, and the manifest says {} with {:08x}; save again",
                           uri, size, crc, expected->size, expected->crc32);
}

Status fetch_saved(const std::string& folder, const Manifest& manifest, const fs::path& to) {
  for (const ManifestFile& file : manifest.files)
    RETURN_IF_ERROR(fetch_file(uri_child(folder, file.object), to / file.name, &file));
  return {};
}

// A folder that others have made.
Status fetch_plain(const std::string& folder, const fs::path& to) {
  ASSIGN_OR_RETURN(const auto objects, list_objects(folder, true));
  int64_t files = 0;
  for (const ObjectInfo& object : objects) {
    const std::string name = name_in(folder, object.uri);
    if (object.folder || name.starts_with('.') || name.find("/.") != std::string::npos) continue;
    RETURN_IF_ERROR(fetch_file(object.uri, to / name, nullptr));
    ++files;
  }
  if (files > 0) return {};
  return Status::not_found("nothing is saved at '{}': it has no {} and no files{}; look at the name", folder, kManifestName,
                           objects.empty() ? "" : ", only what saves that were not finished have left");
}

}  // namespace

Result<std::optional<Manifest>> read_manifest(const std::string& folder) {
  const auto text = read_object(uri_child(folder, kManifestName));
  if (text.status().code() == Code::not_found) return std::optional<Manifest>();
  if (!text.ok()) return text.status();
  auto manifest = Manifest::from_text(*text);
  if (!manifest.ok()) return manifest.status().with_context("'{}'", folder);
  return std::optional(std::move(*manifest));
}

Status publish_folder(const fs::path& files, const std::string& folder, uint64_t mark) {
  const SaveId id;
  Manifest manifest{.id = id.text(), .mark = mark};
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(files))
    if (entry.is_regular_file()) paths.push_back(entry.path());
  std::ranges::sort(paths);
  for (const fs::path& path : paths) {
    ASSIGN_OR_RETURN(manifest.files.emplace_back(),
                     upload(path, path.lexically_relative(files).generic_string(), folder, id.text()));
  }
  RETURN_IF_ERROR(check_uploaded(folder, id.text(), manifest.files));
  ASSIGN_OR_RETURN(const auto before, read_manifest(folder));
  keep_others(before, manifest);
  RETURN_IF_ERROR(put_object(uri_child(folder, kManifestName), manifest.to_text()));
  remove_unnamed(folder, before, manifest);
  return {};
}

Status fetch_folder(const std::string& folder, const fs::path& to) {
  for (int tries = 0;; ++tries) {
    ASSIGN_OR_RETURN(const auto manifest, read_manifest(folder));
    std::error_code error;
    fs::remove_all(to, error);
    fs::create_directories(to, error);
    if (error) return Status::unavailable("'{}': {}", to.string(), error.message());
    const Status status = manifest ? fetch_saved(folder, *manifest, to) : fetch_plain(folder, to);
    if (status.code() != Code::not_found || !manifest) return status;
    // Its objects were removed after it was read: there is a newer one. Or they are lost.
    ASSIGN_OR_RETURN(const auto now, read_manifest(folder));
    if (now == manifest || tries == kMostReplacements)
      return status.with_context("'{}': a file of the newest save is lost; save again", folder);
  }
}

Result<std::string> folder_state(const std::string& folder) {
  ASSIGN_OR_RETURN(const auto manifest, read_manifest(folder));
  if (manifest) return manifest->id;
  ASSIGN_OR_RETURN(const auto objects, list_objects(folder, true));
  std::string state;
  for (const ObjectInfo& object : objects)
    if (!object.folder) state += fmt::format("{} {} {}\n", object.uri, object.size, object.modified_ns);
  return state;
}

}  // namespace argosy::data
