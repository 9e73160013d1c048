#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/base/thread.h"
#include "argosy/data/dataset.h"
#include "argosy/data/line_parser.h"
#include "argosy/data/record_store.h"

namespace argosy {
class Progress;
}

namespace argosy::data {

class FileFeed;

// Reads all files into memory once and gives out batches from there, any number of passes. After loading, the samples are
// in the order of the files, whatever the number of threads; a shuffle with one seed therefore gives one order.
//
// load, preload, shuffle, release and the exchange are called by one thread at a time, and not during a pass; next(), stop(),
// counters() and give_records() as BatchSource says or by anyone. Owns the thread "data-preload".
class InMemoryDataset : public BatchSource {
 public:
  explicit InMemoryDataset(DatasetOptions options) : options_(std::move(options)), store_(options_.slots) {}
  ~InMemoryDataset() override;

  // Reads the files with options().threads parsing threads; what was in memory before is replaced.
  Status load_into_memory();
  // The same in the background. wait_preload_done() says how it went; until then nothing else but stop() may be called.
  Status preload_into_memory();
  Status wait_preload_done();

  Status local_shuffle(uint64_t seed);
  // What a feature is worth: each sample gets the values of `slots` from another one (RecordStore::with_slots_of_others), of the
  // samples as they were before the first such call; these are kept, and so twice the memory is used until the next load.
  Status shuffle_slots(std::span<const std::string> slots, int64_t candidates, uint64_t seed);
  int64_t memory_data_size() const { return store_.size(); }  // samples
  size_t memory_bytes() const { return store_.bytes() + (original_ ? original_->bytes() : 0); }
  Status release_memory();

  // For a shuffle across workers: begin_exchange() sets all records aside; take_records() then deals some of them to one
  // block per worker (appended to what is in `blocks`) until it returns false; blocks go to give_records() of the worker
  // that they are for, which may run at any time from begin_exchange() on. end_exchange() fails if some were not taken.
  Status begin_exchange(uint64_t seed);
  bool take_records(std::span<std::string> blocks);
  Status give_records(std::string_view block);
  Status end_exchange();
  double exchange_ratio() const;  // how much of it has been dealt, from 0 to 1

  Status start(int threads) override;
  Result<bool> next(int thread, Batch& batch) override;
  void stop() override;
  void skip() override { same_pass_ = counted_ = false; }
  void repeat() override { same_pass_ = true; }
  // Of the load, until the second pass over it begins: later passes read no files.
  DatasetCounters counters() const override;
  std::optional<double> read_ratio() const override;
  const DatasetOptions& options() const override { return options_; }

 private:
  struct Segment;  // the samples of one block of text
  struct Lane;     // what one parsing thread has read

  Status check_idle(std::string_view call) const;
  Status load();
  Status fill_lane(FileFeed& feed, Lane& lane, Progress& progress) const;
  void merge(std::vector<Lane>& lanes);
  std::shared_ptr<FileFeed> feed() const;

  const DatasetOptions options_;
  RecordStore store_;                    // not changed during a pass
  std::optional<RecordStore> original_;  // set by shuffle_slots()
  bool loaded_ = false;
  std::optional<RecordStore> outgoing_;  // set during an exchange
  uint64_t exchange_seed_ = 0;
  int threads_ = 0;                      // of the current pass; 0 before the first
  std::atomic<int64_t> cursor_{0};       // the first sample that no thread has taken
  std::atomic<bool> stopped_{false};
  std::atomic<bool> counted_{true};      // counters() are those of feed_
  bool same_pass_ = false;               // the next start() begins the first pass over a load, or the last one again

  std::unique_ptr<LineParser> parser_;
  mutable Mutex mutex_;
  Mutex give_mutex_;                // guards store_ during an exchange
  std::shared_ptr<FileFeed> feed_ ARGOSY_GUARDED_BY(mutex_);  // of the last load
  Status preload_status_;                // written by the preload thread, read after the join
  bool preloading_ = false;
  Thread preload_;                       // last: uses all of the above
};

}  // namespace argosy::data
