#pragma once

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/base/uri.h"
#include "argosy/data/object_module.h"

namespace argosy::data {

// A store in memory, which fails when a test says so. While it lives, it is what object_store.h works on.
class FakeStores : public ObjectStores {
 public:
  FakeStores() {
    set_object_stores(this);
    ::setenv("ARGOSY_STORE_SECONDS", "2", 1);
  }
  ~FakeStores() override {
    set_object_stores(nullptr);
    ::unsetenv("ARGOSY_STORE_SECONDS");
  }

  // Asked before each request, with its kind ("info", "list", "open", "read", "put", "remove") and URI; what is not ok is its
  // outcome.
  std::function<Status(const std::string& kind, const std::string& uri)> fault;
  std::function<void(const std::string& kind, const std::string& uri)> after;
  std::atomic<int> requests = 0;

  Result<ObjectInfo> info(const std::string& uri) override {
    RETURN_IF_ERROR(begin("info", uri));
    MutexLock lock(mutex_);
    return info_of(uri);
  }

  Result<std::vector<ObjectInfo>> list(const std::string& folder, bool recursive) override {
    RETURN_IF_ERROR(begin("list", folder));
    MutexLock lock(mutex_);
    std::map<std::string, ObjectInfo> found;
    const std::string prefix = uri_child(folder, "");
    for (const auto& [uri, object] : objects_) {
      if (!uri.starts_with(prefix)) continue;
      const size_t slash = uri.find('/', prefix.size());
      const bool inside = slash != std::string::npos;
      if (inside && !recursive) found[uri.substr(0, slash)] = {.uri = uri.substr(0, slash), .folder = true};
      if (!inside || recursive) found[uri] = *info_of(uri);
    }
    std::vector<ObjectInfo> listed;
    for (const auto& [uri, one] : found) listed.push_back(one);
    return listed;
  }

  Result<std::shared_ptr<ObjectFile>> open(const std::string& uri) override {
    RETURN_IF_ERROR(begin("open", uri));
    MutexLock lock(mutex_);
    ASSIGN_OR_RETURN(ObjectInfo info, info_of(uri));
    return std::shared_ptr<ObjectFile>(std::make_shared<File>(*this, std::move(info)));
  }

  Status put(const std::string& uri, ByteStream& content, StoreRetry&) override {
    RETURN_IF_ERROR(begin("put", uri));
    std::string bytes;
    char piece[1000];
    for (;;) {
      ASSIGN_OR_RETURN(const size_t got, content.read(piece));
      if (got == 0) break;
      bytes.append(piece, got);
    }
    set(uri, bytes);
    if (after) after("put", uri);
    return {};
  }

  Status remove(const std::string& uri) override {
    RETURN_IF_ERROR(begin("remove", uri));
    MutexLock lock(mutex_);
    return objects_.erase(uri) == 1 ? Status() : Status::not_found("no such object");
  }

  Status remove_folder(const std::string& uri) override {
    RETURN_IF_ERROR(begin("remove", uri));
    MutexLock lock(mutex_);
    return std::erase_if(objects_, [&](const auto& object) { return object.first.starts_with(uri + "/"); }) > 0
               ? Status()
               : Status::not_found("none");
  }

  void set(const std::string& uri, std::string bytes) {
    MutexLock lock(mutex_);
    objects_[uri] = {.bytes = std::move(bytes), .modified_ns = ++clock_};
  }
  void set_modified(const std::string& uri, int64_t ns) {
    MutexLock lock(mutex_);
    objects_.at(uri).modified_ns = ns;
  }
  std::string get(const std::string& uri) const {
    MutexLock lock(mutex_);
    return objects_.at(uri).bytes;
  }
  std::vector<std::string> uris() const {
    MutexLock lock(mutex_);
    std::vector<std::string> found;
    for (const auto& [uri, object] : objects_) found.push_back(uri);
    return found;
  }

 private:
  struct Object {
    std::string bytes;
    int64_t modified_ns = 0;
  };

  class File : public ObjectFile {
   public:
    File(FakeStores& stores, ObjectInfo info) : stores_(stores), info_(std::move(info)) {}
    const ObjectInfo& info() const override { return info_; }
    Result<size_t> read_at(int64_t offset, std::span<char> room) override {
      RETURN_IF_ERROR(stores_.begin("read", info_.uri));
      MutexLock lock(stores_.mutex_);
      const auto object = stores_.objects_.find(info_.uri);
      if (object == stores_.objects_.end()) return Status::not_found("no such object");
      const std::string bytes =
          object->second.bytes.substr(std::min(static_cast<size_t>(offset), object->second.bytes.size()), room.size());
      std::memcpy(room.data(), bytes.data(), bytes.size());
      return bytes.size();
    }

   private:
    FakeStores& stores_;
    const ObjectInfo info_;
  };

  Status begin(const std::string& kind, const std::string& uri) {
    ++requests;
    return fault ? fault(kind, uri) : Status();
  }

  Result<ObjectInfo> info_of(const std::string& uri) const ARGOSY_REQUIRES(mutex_) {
    const auto object = objects_.find(uri);
    if (object == objects_.end()) return Status::not_found("no such object");
    return ObjectInfo{
        .uri = uri, .size = static_cast<int64_t>(object->second.bytes.size()), .modified_ns = object->second.modified_ns};
  }

  mutable Mutex mutex_;
  std::map<std::string, Object> objects_ ARGOSY_GUARDED_BY(mutex_);
  int64_t clock_ ARGOSY_GUARDED_BY(mutex_) = 0;
};

}  // namespace argosy::data
