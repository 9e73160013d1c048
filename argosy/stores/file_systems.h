#pragma once

#include <arrow/filesystem/filesystem.h>

#include <map>
#include <memory>
#include <string>

#include "argosy/base/mutex.h"
#include "argosy/base/status.h"
#include "argosy/data/store_retry.h"

namespace argosy::stores_module {

// A file system of Arrow's, and a path in it.
struct StorePath {
  std::shared_ptr<arrow::fs::FileSystem> files;
  std::string path;
};

// One file system for each bucket's store and its settings. Requests are made once, but for those of a TriesAgain. Thread-safe.
class FileSystems {
 public:
  Result<StorePath> find(const std::string& uri);

 private:
  Result<StorePath> make(const std::string& uri);

  Mutex mutex_;
  std::map<std::string, std::shared_ptr<arrow::fs::FileSystem>> known_ ARGOSY_GUARDED_BY(mutex_);  // by the URI without its path
};

// While it lives, this thread's requests of S3 that fail are made again as `retry` says.
class TriesAgain {
 public:
  explicit TriesAgain(data::StoreRetry& retry);
  ~TriesAgain();
};

// While it lives, a connection that the other side has closed does not end the process: SIGPIPE is kept from this thread.
class NoPipeSignal {
 public:
  NoPipeSignal();
  ~NoPipeSignal();

 private:
  bool was_pending_ = false, was_blocked_ = false;
};

}  // namespace argosy::stores_module
