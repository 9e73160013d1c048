#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/base/status.h"
#include "argosy/observe/metrics.h"
#include "argosy/ps/client/row_reader.h"
#include "argosy/publish/published_head.h"
#include "argosy/publish/redis_connection.h"

namespace argosy::publish {

struct PublisherOptions {
  std::string redis;         // "host:port"
  std::string name;          // that it is published under; empty: the job's
  double redis_seconds = 10;  // after which Redis counts as away
  double grace_seconds = 60;  // that readers may go on with a generation which was replaced
  uint64_t most_delta_bytes = uint64_t{32} << 20;  // of changes in one transaction; more becomes a generation of its own
};

// Keeps the tables of a running job in Redis: everything at first, then what has changed (published_head.h says how). What was
// published last is held here too, to find the changes: as much memory as the tables.
//
// Nothing is lost by a kill: a publisher that is started again publishes everything anew, beside what readers use; and so does
// one whose Redis has lost what it had. Both are said in the log. Another publisher under the same name is found out and ends
// this one.
//
// publish() is called by one thread; the numbers are read by any.
class Publisher {
 public:
  // REQUIRES: the reader outlives it.
  Publisher(ps::RowReader& reader, PublisherOptions options);
  ~Publisher();

  struct Report {
    enum class Kind { nothing, full, delta };
    Kind kind = Kind::nothing;
    uint64_t version = 0;          // that Redis has now
    uint64_t rows = 0, removed = 0;  // written, and taken out
  };
  // One round. unavailable where a server or Redis is away: the next round goes on. failed_precondition is final.
  Result<Report> publish();

 private:
  using Rows = ps::RowReader::Rows;
  struct Read {
    std::vector<uint64_t> before;  // the servers' versions, before the tables were read
    std::string sources;           // for people: these, and where they are others after it, those too
    std::vector<Rows> rows;        // by table; of dense ones the values alone
  };
  struct Change {
    std::vector<RedisConnection::Words> commands;
    uint64_t rows = 0, removed = 0, bytes = 0;
  };

  Result<Report> publish_round();
  // From when on, by each clock, whatever a server has may be missing in what this round publishes.
  struct Since {
    Stopwatch begun;           // when the sources were asked
    double redis_seconds = 0;  // then, by Redis' clock
    double behind = 0;         // what the one that is furthest behind its server lacked then, in seconds
    double current() const { return redis_seconds - behind; }
  };
  Result<Read> read_tables(std::vector<uint64_t> versions);
  Result<Report> publish_full(Read read);
  Result<PublishedHead> replace_head(uint64_t generation, const Read& read);
  Result<Report> publish_delta(Read read, Change change);
  Status write_generation(uint64_t generation, const Read& read);
  Change changes(const Read& read) const;
  void add_row_changes(size_t table, const Rows& now, Change& change) const;
  PublishedHead next_head(uint64_t generation, uint64_t version, const Read& read) const;
  Result<Report> publish_nothing();
  Result<std::optional<PublishedHead>> watched_head(double* redis_seconds);
  Report note(const Report& report);
  void read_metrics(observe::Readings& readings) const;

  ps::RowReader& reader_;
  const PublisherOptions options_;
  const std::string name_;
  RedisConnection redis_;
  std::optional<PublishedHead> head_;  // that this publisher has written
  bool unsure_ = false;                // its last transaction was not answered, and may have been done: the next is a full one
  std::optional<Read> last_;           // with these tables
  Since since_;                        // of this round

  mutable Mutex mutex_;
  Since since_equal_ ARGOSY_GUARDED_BY(mutex_);  // of the round that was published last
  uint64_t version_ ARGOSY_GUARDED_BY(mutex_) = 0;
  uint64_t full_ ARGOSY_GUARDED_BY(mutex_) = 0, deltas_ ARGOSY_GUARDED_BY(mutex_) = 0, rows_ ARGOSY_GUARDED_BY(mutex_) = 0,
                 failures_ ARGOSY_GUARDED_BY(mutex_) = 0;
  observe::Registry::Collection metrics_;  // last: ends before what it reads
};

}  // namespace argosy::publish
