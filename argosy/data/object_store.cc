#include "argosy/data/object_store.h"

#include <fnmatch.h>
#include <glob.h>

#include <algorithm>
#include <cstring>

#include "argosy/base/uri.h"
#include "argosy/data/object_module.h"

namespace argosy::data {
namespace {

constexpr size_t kRequestPiece = 8 << 20;  // of a request: large enough to hide its round trip, small enough to be sent again

// Where the calls below begin.
Result<ObjectStores*> stores_for(const std::string& uri) {
  RETURN_IF_ERROR(check_store_uri(uri));
  auto stores = object_stores();
  if (!stores.ok()) return stores.status().with_context("'{}'", uri);
  return stores;
}

class RetriedFile : public ObjectFile {
 public:
  RetriedFile(std::shared_ptr<ObjectFile> file, const StopSignal* stop) : file_(std::move(file)), stop_(stop) {}
  const ObjectInfo& info() const override { return file_->info(); }
  Result<size_t> read_at(int64_t offset, std::span<char> room) override {
    return retried(info().uri, "read", stop_, [&] { return file_->read_at(offset, room); });
  }

 private:
  const std::shared_ptr<ObjectFile> file_;
  const StopSignal* const stop_;
};

// Piece by piece: where a request fails, what came before stays, and reading goes on at its end.
class ObjectStream : public ByteStream {
 public:
  ObjectStream(std::shared_ptr<ObjectFile> file, const StopSignal& stop)
      : file_(std::move(file)),
        stop_(stop),
        piece_(std::min<size_t>(kRequestPiece, static_cast<size_t>(std::max<int64_t>(1, file_->info().size)))) {}

  Result<size_t> read(std::span<char> room) override {
    if (stop_.stopped()) return Status::cancelled("reading was stopped");
    if (begin_ == end_) {
      if (offset_ >= file_->info().size) return at_end();
      ASSIGN_OR_RETURN(end_, file_->read_at(offset_, piece_));
      begin_ = 0;
      offset_ += static_cast<int64_t>(end_);
      ++pieces_;
    }
    const size_t count = std::min(room.size(), end_ - begin_);
    std::memcpy(room.data(), piece_.data() + begin_, count);
    begin_ += count;
    return count;
  }

 private:
  // Pieces of two objects of one name are neither.
  Result<size_t> at_end() {
    if (pieces_ <= 1 || std::exchange(compared_, true)) return size_t{0};
    const ObjectInfo& before = file_->info();
    ASSIGN_OR_RETURN(const ObjectInfo now, object_info(before.uri));
    if (now == before) return size_t{0};
    return Status::data_loss("'{}' was replaced while it was read ({} bytes before, {} now); write new data under new names",
                             before.uri, before.size, now.size);
  }

  const std::shared_ptr<ObjectFile> file_;
  const StopSignal& stop_;
  std::vector<char> piece_;
  size_t begin_ = 0, end_ = 0;  // of piece_, not yet given out
  int64_t offset_ = 0, pieces_ = 0;
  bool compared_ = false;
};

class BytesStream : public ByteStream {
 public:
  explicit BytesStream(std::string_view bytes) : bytes_(bytes) {}
  Result<size_t> read(std::span<char> room) override {
    const size_t count = std::min(room.size(), bytes_.size());
    std::memcpy(room.data(), bytes_.data(), count);
    bytes_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view bytes_;
};

Result<std::vector<std::string>> matching_local(const std::string& pattern) {
  ::glob_t found{};
  const int failed = ::glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + (failed == 0 ? found.gl_pathc : 0));
  ::globfree(&found);
  if (failed != 0 && failed != GLOB_NOMATCH) return Status::unavailable("the files '{}' could not be listed", pattern);
  return paths;
}

Result<std::vector<std::string>> matching_objects(const std::string& pattern) {
  const std::string_view path = without_query(pattern);
  const size_t wild = path.find_first_of("*[");
  if (wild == std::string_view::npos) {
    const auto there = object_info(pattern);
    if (there.status().code() == Code::not_found) return std::vector<std::string>();
    if (!there.ok()) return there.status();
    return std::vector<std::string>{pattern};
  }
  const size_t slash = path.rfind('/', wild);
  const std::string folder = fmt::format("{}{}", path.substr(0, slash), std::string_view(pattern).substr(path.size()));
  const std::string wanted = decode_uri_path(path.substr(slash + 1));
  ASSIGN_OR_RETURN(const auto objects, list_objects(folder, wanted.find('/') != std::string::npos));
  std::vector<std::string> found;
  for (const ObjectInfo& object : objects) {
    const std::string name = decode_uri_path(without_query(object.uri).substr(slash + 1));
    if (!object.folder && ::fnmatch(wanted.c_str(), name.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0) found.push_back(object.uri);
  }
  return found;
}

}  // namespace

Result<ObjectInfo> object_info(const std::string& uri) {
  ASSIGN_OR_RETURN(ObjectStores * stores, stores_for(uri));
  return retried(uri, "found", nullptr, [&] { return stores->info(uri); });
}

Result<std::vector<ObjectInfo>> list_objects(const std::string& folder, bool recursive) {
  ASSIGN_OR_RETURN(ObjectStores * stores, stores_for(folder));
  auto found = retried(folder, "listed", nullptr, [&] { return stores->list(folder, recursive); });
  if (found.ok()) std::ranges::sort(*found, {}, &ObjectInfo::uri);
  return found;
}

Result<std::shared_ptr<ObjectFile>> open_object(const std::string& uri, const StopSignal* stop) {
  ASSIGN_OR_RETURN(ObjectStores * stores, stores_for(uri));
  ASSIGN_OR_RETURN(auto file, retried(uri, "opened", stop, [&] { return stores->open(uri); }));
  return std::shared_ptr<ObjectFile>(std::make_shared<RetriedFile>(std::move(file), stop));
}

Result<std::string> read_object(const std::string& uri) {
  ASSIGN_OR_RETURN(const auto file, open_object(uri));
  std::string bytes(static_cast<size_t>(file->info().size), '\0');
  for (size_t at = 0; at < bytes.size();) {
    const size_t count = std::min(kRequestPiece, bytes.size() - at);
    ASSIGN_OR_RETURN(const size_t got, file->read_at(static_cast<int64_t>(at), {bytes.data() + at, count}));
    at += got;
  }
  return bytes;
}

Result<std::unique_ptr<ByteStream>> stream_object(const std::string& uri, const StopSignal& stop) {
  ASSIGN_OR_RETURN(auto file, open_object(uri, &stop));
  return std::unique_ptr<ByteStream>(std::make_unique<ObjectStream>(std::move(file), stop));
}

Status put_object(const std::string& uri, const std::function<Result<std::unique_ptr<ByteStream>>()>& open) {
  ASSIGN_OR_RETURN(ObjectStores * stores, stores_for(uri));
  ASSIGN_OR_RETURN(const StoreLimits limits, store_limits());
  return retried(uri, "written", nullptr, [&]() -> Status {
    ASSIGN_OR_RETURN(const auto content, open());
    StoreRetry of_parts(limits.seconds, nullptr);
    const Status status = stores->put(uri, *content, of_parts);
    return !status.ok() && of_parts.given_up() ? Status(Code::deadline_exceeded, status.message()) : status;
  });
}

Status put_object(const std::string& uri, std::string_view bytes) {
  return put_object(uri, [bytes]() -> Result<std::unique_ptr<ByteStream>> {
    return std::unique_ptr<ByteStream>(std::make_unique<BytesStream>(bytes));
  });
}

Status remove_object(const std::string& uri) {
  ASSIGN_OR_RETURN(ObjectStores * stores, stores_for(uri));
  const Status status = retried(uri, "removed", nullptr, [&] { return stores->remove(uri); });
  return status.code() == Code::not_found ? Status() : status;
}

Status remove_object_folder(const std::string& uri) {
  ASSIGN_OR_RETURN(ObjectStores * stores, stores_for(uri));
  const Status status = retried(uri, "removed", nullptr, [&] { return stores->remove_folder(uri); });
  return status.code() == Code::not_found ? Status() : status;
}

Result<std::vector<std::string>> matching_files(const std::string& pattern) {
  if (is_uri(pattern) && uri_scheme(pattern) != "file") return matching_objects(pattern);
  return matching_local(local_path(pattern));
}

}  // namespace argosy::data
