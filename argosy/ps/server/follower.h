#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/base/thread.h"
#include "argosy/observe/metrics.h"
#include "argosy/ps/server/adoption.h"
#include "argosy/ps/server/ending.h"
#include "argosy/ps/server/log_stream.h"
#include "argosy/ps/server/parking.h"
#include "argosy/ps/server/primary_link.h"
#include "argosy/ps/server/state_holder.h"
#include "argosy/table/snapshot.h"

namespace argosy::ps {

// What a follower does with records besides applying them, where it can become the server itself (Standby). Called by the thread
// "ps-follow".
class ReplicaLog {
 public:
  virtual ~ReplicaLog() = default;
  virtual void ask(wire::FollowRequest& request) const = 0;
  virtual Status heard(const wire::FollowReply& reply) = 0;
  // Before records are applied; after ok, applied() follows when they are.
  virtual Status keep(std::span<const LogStream::One> records) = 0;
  virtual void applied(size_t records) = 0;
  // Before the state is replaced by a snapshot's; after ok, replaced() follows, with what came of it.
  virtual Status begin_replacing() = 0;
  virtual Status replaced(Status status) = 0;
};

// Keeps a state equal to another server's, by feeding it the records of that server's log: from the newest snapshot, where the
// log alone does not say everything, and then record by record as they come. Calls read the state meanwhile, as they read that of
// the server which is followed: it is in the slot once it has caught up for the first time.
//
// A server that is away is waited for; when it is back the follower goes on where it was. What is not the next piece of the same
// log (LogStream), or cannot be applied, ends the process (Ending::fatal): started again it begins from what the server has. So
// does `aborted`, where the other process of a server with two has become the primary: its log is another one.
//
// Owns: the thread "ps-follow", the way to the server, the state until it is in the slot. Thread-safe.
class Follower {
 public:
  // What it is given; all of it outlives this.
  struct Uses {
    const Adoption& adoption;
    StateHolder& state;
    Parking& parking;
    Ending& ending;
    ReplicaLog* replica_log = nullptr;  // null: it only reads
    WireFormat format = WireFormat::float32;  // that gradients are to come in. REQUIRES: float32 where there is a replica_log
  };
  // `directory`: for copies of snapshots. REQUIRES: primary->find() was ok.
  Follower(const Uses& uses, std::unique_ptr<PrimaryLink> primary, std::filesystem::path directory);
  ~Follower() { stop(); }

  void start();
  void stop();  // safe to call twice

  const std::string& primary() const { return primary_; }
  // Held while the state is changed, and by who needs it at one moment.
  Mutex& applying() { return applying_; }
  // How it stands; any thread.
  wire::StatsReply::Following report() const;

 private:
  void run();
  // One try; how long to wait before the next is the result of report_trouble(), and nothing: there is none.
  Status go_on();
  Status try_to_go_on();  // an error for what it throws, too
  std::optional<double> report_trouble(const Status& status);
  Status begin_from_snapshot();
  Status replace_state(const table::Snapshot& snapshot);
  Status read_more();
  void ask_for_more();
  Status apply_all(std::span<const LogStream::One> records);
  Status make_state();
  Status apply(const LogStream::One& one);
  Status apply_record(const LogStream::One& one, const Record& record);
  void note_progress(uint64_t primary_version);
  void set_waiting(const std::string& for_what);
  void pause(double seconds);
  bool is_finished() const;  // all workers are done
  void read_metrics(observe::Readings& readings) const;

  const Adoption& adoption_;
  StateHolder& slot_;
  Parking& parking_;
  Ending& ending_;
  ReplicaLog* const replica_log_;
  const WireFormat format_;
  const std::unique_ptr<PrimaryLink> link_;
  const std::string primary_;
  const std::filesystem::path directory_;
  const JobSpec rounded_spec_;  // the job's, with tables in that format

  // Of the thread.
  LogStream stream_;
  std::unique_ptr<State> made_;  // until it is in the slot
  bool greeted_ = true;          // by find()
  uint64_t log_ = 0;             // whose log it is, of a server with two processes; 0: of one, or not heard yet
  bool verified_ = false;        // the server has the last record that this one has, as far as this connection goes
  bool snapshot_first_ = false;
  bool all_ = false;             // it has all that the server had when it answered last
  bool told_end_ = false;        // the user was told that the run is over
  bool asked_ = false;           // for more records, already
  bool asked_to_wait_ = false;   // until there is one

  Mutex applying_;
  std::atomic<State*> state_ = nullptr;
  mutable Mutex mutex_;
  ConditionVariable changed_;
  bool stopping_ ARGOSY_GUARDED_BY(mutex_) = false;
  std::string waits_for_ ARGOSY_GUARDED_BY(mutex_);        // empty: only for the next record
  std::optional<Stopwatch> told_ ARGOSY_GUARDED_BY(mutex_);  // since the log last said what it waits for
  Stopwatch since_equal_ ARGOSY_GUARDED_BY(mutex_);        // when it last had everything
  bool equal_ ARGOSY_GUARDED_BY(mutex_) = false;           // it has, as far as it can know
  uint64_t primary_version_ ARGOSY_GUARDED_BY(mutex_) = 0;  // as it was last told
  uint64_t snapshots_ ARGOSY_GUARDED_BY(mutex_) = 0;
  observe::Registry::Collection metrics_;
  Thread thread_;
};

}  // namespace argosy::ps
