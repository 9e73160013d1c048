#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/base/status.h"
#include "argosy/publish/published_head.h"
#include "argosy/publish/redis_connection.h"

namespace argosy::publish {

// Reads what a Publisher has put into Redis: each call sees one version. A row that is not there is read as the value that it
// would begin with.
//
// Thread-safe: each call has a connection of its own.
class PublishedTables {
 public:
  // not_found where nothing is published under the name.
  static Result<std::unique_ptr<PublishedTables>> open(const std::string& redis, const std::string& name, double seconds);

  const ps::JobSpec& spec() const { return spec_; }
  Result<PublishedHead> head();
  struct Standing {
    PublishedHead head;
    double redis_seconds = 0;  // Redis' clock when it was read
  };
  Result<Standing> standing();  // head(), and how old it is
  // REQUIRES: rows.size() == keys.size() * width.
  Status pull_rows(size_t table, std::span<const uint64_t> keys, std::span<float> rows);
  // REQUIRES: values.size() is the table's size.
  Status pull_dense(size_t table, std::span<float> values);

 private:
  PublishedTables(std::string redis, std::string name, double seconds)
      : redis_(std::move(redis)), name_(std::move(name)), seconds_(seconds) {}

  std::unique_ptr<RedisConnection> take();
  void give_back(std::unique_ptr<RedisConnection> connection);
  Result<Standing> read_head();
  // The answer to `words` of a table of the generation in use.
  Result<RedisValue> read(size_t table, RedisConnection::Words words);

  const std::string redis_, name_;
  const double seconds_;
  ps::JobSpec spec_;  // constant after open()
  std::string spec_bytes_;
  Mutex mutex_;
  uint64_t generation_ ARGOSY_GUARDED_BY(mutex_) = 0;  // that was in use last
  std::vector<std::unique_ptr<RedisConnection>> idle_ ARGOSY_GUARDED_BY(mutex_);
};

}  // namespace argosy::publish
