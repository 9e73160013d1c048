#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>

#include <algorithm>
#include <exception>
#include <vector>

#include "argosy/base/uri.h"
#include "argosy/data/object_module.h"
#include "argosy/stores/file_systems.h"
#include "argosy/stores/store_status.h"

// The one symbol of the shared library argosy_stores; argosy/data/object_module.h says who asks for it.
namespace argosy::stores_module {
namespace {

using arrow::fs::FileInfo;
using arrow::fs::FileType;
using data::ObjectInfo;

constexpr size_t kPiece = 8 << 20;  // of an object that is written

// The outcome of `work`. Nothing that is thrown leaves the module.
template <typename Work>
auto guarded(Work&& work) -> decltype(work()) {
  const NoPipeSignal no_signal;
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return Status::resource_exhausted("there is no memory for it");
  } catch (const std::exception& error) {
    return Status::internal("{}", error.what());
  }
}

ObjectInfo info_of(const FileInfo& file, std::string uri) {
  const bool folder = file.type() == FileType::Directory;
  const auto modified = file.mtime() == arrow::fs::kNoTime ? 0 : file.mtime().time_since_epoch().count();
  return {.uri = std::move(uri), .size = folder ? 0 : file.size(), .modified_ns = folder ? 0 : modified, .folder = folder};
}

class File : public data::ObjectFile {
 public:
  File(ObjectInfo info, std::shared_ptr<arrow::io::RandomAccessFile> file) : info_(std::move(info)), file_(std::move(file)) {}
  const ObjectInfo& info() const override { return info_; }

  Result<size_t> read_at(int64_t offset, std::span<char> room) override {
    return guarded([&]() -> Result<size_t> {
      const int64_t wanted = std::min<int64_t>(static_cast<int64_t>(room.size()), info_.size - offset);
      if (wanted <= 0) return size_t{0};
      ARGOSY_STORES_ASSIGN(const int64_t got, file_->ReadAt(offset, wanted, room.data()));
      if (got < wanted) return Status::unavailable("{} of {} bytes from byte {} on came", got, wanted, offset);
      return static_cast<size_t>(got);
    });
  }

 private:
  const ObjectInfo info_;
  const std::shared_ptr<arrow::io::RandomAccessFile> file_;
};

class Stores : public data::ObjectStores {
 public:
  Result<ObjectInfo> info(const std::string& uri) override {
    return guarded([&]() -> Result<ObjectInfo> {
      ASSIGN_OR_RETURN(const StorePath place, systems_.find(uri));
      ASSIGN_OR_RETURN(const FileInfo file, find(place));
      return info_of(file, uri);
    });
  }

  Result<std::vector<ObjectInfo>> list(const std::string& folder, bool recursive) override {
    return guarded([&]() -> Result<std::vector<ObjectInfo>> {
      ASSIGN_OR_RETURN(const StorePath place, systems_.find(folder));
      arrow::fs::FileSelector all;
      all.base_dir = place.path;
      while (all.base_dir.ends_with('/')) all.base_dir.pop_back();
      all.allow_not_found = true;
      all.recursive = recursive;
      ARGOSY_STORES_ASSIGN(const std::vector<FileInfo> files, place.files->GetFileInfo(all));
      std::vector<ObjectInfo> found;
      for (const FileInfo& file : files)
        found.push_back(info_of(file, uri_child(folder, std::string_view(file.path()).substr(all.base_dir.size() + 1))));
      return found;
    });
  }

  Result<std::shared_ptr<data::ObjectFile>> open(const std::string& uri) override {
    return guarded([&]() -> Result<std::shared_ptr<data::ObjectFile>> {
      ASSIGN_OR_RETURN(const StorePath place, systems_.find(uri));
      ASSIGN_OR_RETURN(const FileInfo file, find(place));
      if (file.type() != FileType::File) return Status::invalid_argument("it is a folder; name the objects in it");
      ARGOSY_STORES_ASSIGN(auto opened, place.files->OpenInputFile(file));
      return std::shared_ptr<data::ObjectFile>(std::make_shared<File>(info_of(file, uri), std::move(opened)));
    });
  }

  Status put(const std::string& uri, data::ByteStream& content, data::StoreRetry& retry) override {
    return guarded([&]() -> Status {
      ASSIGN_OR_RETURN(const StorePath place, systems_.find(uri));
      std::shared_ptr<arrow::io::OutputStream> out;
      const Status status = write(place, content, retry, out);
      if (!status.ok() && out != nullptr) (void)out->Abort();  // tried once: the store may be away
      return status;
    });
  }

  Status remove(const std::string& uri) override {
    return guarded([&]() -> Status {
      ASSIGN_OR_RETURN(const StorePath place, systems_.find(uri));
      return status_of(place.files->DeleteFile(place.path));
    });
  }

  Status remove_folder(const std::string& uri) override {
    return guarded([&]() -> Status {
      ASSIGN_OR_RETURN(const StorePath place, systems_.find(uri));
      return status_of(place.files->DeleteDir(place.path));
    });
  }

 private:
  static Result<FileInfo> find(const StorePath& place) {
    ARGOSY_STORES_ASSIGN(FileInfo file, place.files->GetFileInfo(place.path));
    if (file.type() != FileType::NotFound) return file;
    return Status::not_found("there is no such object, or no such bucket; look at both names");
  }

  static Status write(const StorePath& place, data::ByteStream& content, data::StoreRetry& retry,
                      std::shared_ptr<arrow::io::OutputStream>& out) {
    const TriesAgain parts(retry);
    ARGOSY_STORES_ASSIGN(out, place.files->OpenOutputStream(place.path, nullptr));
    std::vector<char> piece(kPiece);
    for (;;) {
      ASSIGN_OR_RETURN(const size_t got, content.read(piece));
      if (got == 0) return status_of(out->Close());
      ARGOSY_STORES_RETURN_IF_ERROR(out->Write(piece.data(), static_cast<int64_t>(got)));
    }
  }

  FileSystems systems_;
};

}  // namespace
}  // namespace argosy::stores_module

extern "C" __attribute__((visibility("default"))) void* argosy_object_stores(int version) {
  static argosy::data::ObjectStores* const stores =
      new argosy::stores_module::Stores;  // never destroyed: threads may be reading at exit
  return version == argosy::data::kObjectStoresVersion ? stores : nullptr;
}
