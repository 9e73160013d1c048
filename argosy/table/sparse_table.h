#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/base/status.h"
#include "argosy/optim/rule.h"
#include "argosy/table/change_tracker.h"
#include "argosy/table/row_layout.h"
#include "argosy/table/row_record.h"
#include "argosy/table/spec.h"
#include "argosy/table/table_size.h"

namespace argosy::table {

class ColdRows;
class ColdStore;
class RowArena;
class Shard;
class ShardLock;
struct ColdAccess;
struct Probe;

// One step of a table, from begin_step() to the apply() or add() calls that belong to it. Copyable.
struct TableStep {
  optim::Step rule;      // unset for a geo table
  uint64_t number = 0;   // the first is 1
  uint32_t seconds = 0;  // the caller's clock; a replay gives the one that was logged
};

// The part of a table's state that is not in rows: what a snapshot keeps beside them.
struct TableProgress {
  uint64_t steps = 0;
  std::vector<float> scalars;  // of the rule, in the order of its states: the powers of beta

  friend bool operator==(const TableProgress&, const TableProgress&) = default;
};

// What the pushes of a table carry besides gradients: one number per key each, or empty spans, which mean show 1 and click 0.
struct Impressions {
  std::span<const float> shows;
  std::span<const float> clicks;
};

struct ShrinkCounts {
  uint64_t kept = 0;
  uint64_t dropped = 0;          // rows
  uint64_t dropped_waiting = 0;  // counters of keys that were not admitted yet
};

// The rows of a sparse parameter that one server holds, by 64-bit key: value, rule states and counters together. A row is
// made on first use; its first value depends on (seed, key) alone. With a memory limit, rows that have not been used for
// longest are moved to disk and come back when they are used; no result depends on it.
//
// Thread-safe: keys are dealt to shards, each with one lock, and a call locks one shard at a time; rows are whole, a batch is
// not (a pull that runs beside a push sees some of its rows). Rules' scalars and the step counter have a lock of their own.
// No lock is held while rows move to or from disk: calls for rows in memory do not wait for it. Of a shard's rows on disk many
// may be read at once, beside one eviction; while shrink() or clear() goes over them, calls for them wait, which ends with
// `unavailable` after 10 minutes. size() waits for nobody.
//
// Calls fail with invalid_argument for spans of wrong sizes and change nothing then. Rows that cannot be written to the overflow
// stay in memory, beyond the limit: no call fails for it but those that ask check_room(). An overflow that cannot be read is an
// error of the call.
class SparseTable {
 public:
  static Result<std::unique_ptr<SparseTable>> make(SparseSpec spec, const StoreOptions& options = {});
  ~SparseTable();
  SparseTable(const SparseTable&) = delete;
  SparseTable& operator=(const SparseTable&) = delete;

  const SparseSpec& spec() const { return spec_; }
  const RowCodec& codec() const { return codec_; }

  // Copies the values of `keys` to `rows`, in order. With `create`, rows that are not there and that every key gets are
  // made; without it, and for keys that are not admitted, the initial value is copied and nothing changes. `missing` gets the
  // places of keys that have no row, ascending.
  Status pull(std::span<const uint64_t> keys, std::span<float> rows, bool create, std::vector<uint64_t>* missing = nullptr);

  // Whether the memory limit can be kept, to be asked before rows are made: `unavailable` while the disk of the
  // overflow is full (tried again once per second), data_loss where it fails otherwise. Rows that are there stay readable.
  // pull() with `create` asks it itself.
  Status check_room();

  // Starts step number steps() + 1: advances the rule's scalars. Once for each push that is applied, or, where pushes of
  // several workers are merged, once for them together; also for a push without keys for this table.
  TableStep begin_step(float learning_rate, uint32_t seconds = 0);

  // Applies the rule to the rows of `keys`: regularization, then the update. A key that comes twice is updated twice.
  // REQUIRES: the spec's mode is gradient.
  Status apply(const TableStep& step, std::span<const uint64_t> keys, std::span<const float> gradients,
               const Impressions& impressions = {});

  // Adds differences from `worker` and remembers, for every other tracked worker, that the rows have changed.
  // REQUIRES: the spec's mode is geo.
  Status add(const TableStep& step, uint32_t worker, std::span<const uint64_t> keys, std::span<const float> deltas);

  // Whether keys are counted before they are admitted: they take memory then, see TableSize::waiting.
  bool keeps_waiting() const;

  // Who must be told of changed rows, in geo mode. See ChangeTracker.
  ChangeTracker& changes() { return changes_; }

  // The rows that others have changed since `worker`'s last call but one was acknowledged; see ChangeTracker::take for
  // `number` and `most`. `rows` becomes keys.size() rows of values. Returns whether there are more.
  Result<bool> take_changed(uint32_t worker, uint64_t number, uint64_t most, std::vector<uint64_t>& keys,
                            std::vector<float>& rows);

  // Gives rows a value, as loading a model does. Admitted whatever the admission says; states become the rule's initial ones.
  Status set_rows(std::span<const uint64_t> keys, std::span<const float> rows);

  // One state of the rule, by its place in optim::Rule::states(): a row of it for each key, or without keys the one number
  // of a scalar. Reading makes no rows: one that is not there has the rule's initial state. Writing makes them, as set_rows
  // does.
  Status copy_state(size_t state, std::span<const uint64_t> keys, std::span<float> out);
  Status set_state(size_t state, std::span<const uint64_t> keys, std::span<const float> values);

  // Drops rows by `expiry`, after the counters have decayed. Uses the steps so far and `now_seconds` as the present.
  // failed_precondition if it asks for a counter that this table does not keep. With `erased`, the keys of what was dropped, rows
  // and counters of waiting keys, are appended to it.
  Result<ShrinkCounts> shrink(const Expiry& expiry, uint32_t now_seconds, std::vector<uint64_t>* erased = nullptr);
  // Whether shrink() changes the counters of rows that stay.
  bool decays() const { return layout_.counts_show_click() && spec_.show_click.decay != 1; }

  // Removes the rows and the counters of these keys, where there are any.
  Status erase(std::span<const uint64_t> keys);

  // All rows as records of codec(), some at a time. Each row that is there from beginning to end comes at least once; one
  // that is changed meanwhile may come twice, the newer last. A caller who needs the state of one moment keeps
  // apply, add, set_rows, import and shrink away until it is done; then each row comes once. While an Export is open no
  // row is moved to disk. Thread-compatible; must not outlive the table.
  class Export {
   public:
    Export(Export&& other) noexcept;
    Export& operator=(Export&&) = delete;
    ~Export();
    // Appends about max_bytes of records to `out`, at least one; false: there are no more, and nothing was appended.
    Result<bool> next(size_t max_bytes, std::string& out);

   private:
    friend class SparseTable;
    struct State;
    explicit Export(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
  };
  // With changed_since: only rows that got a gradient in a later step than that one, or a value or state by set_rows or
  // set_state since then. Rows that were dropped leave no trace in it, nor do counters that shrink() changed.
  Export begin_export(std::optional<uint64_t> changed_since = {}) const;

  // All rows as they were when it was made, each once, as records of codec(), some at a time, while everybody goes on changing
  // the table: what is changed before it was read is copied first (copy on write, row by row; a shard's lock is held for a piece
  // of it). The copies are written out as they come, and are never more than the table. Waiting keys come as they were, too. A
  // shard keeps its rows in memory until it was read. Thread-compatible; must not outlive the table.
  class Cut {
   public:
    Cut(Cut&& other) noexcept;
    Cut& operator=(Cut&&) = delete;
    ~Cut();
    // As Export::next().
    Result<bool> next(size_t max_bytes, std::string& out);
    const TableProgress& progress() const;
    uint64_t rows() const;  // with waiting keys, of all steps

   private:
    friend class SparseTable;
    struct State;
    explicit Cut(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
  };
  // In a few microseconds per shard. changed_since: as begin_export(). failed_precondition while another one is open.
  // REQUIRES: no apply, add, set_rows, import, shrink or erase is under way, so that it is one moment.
  Result<Cut> begin_cut(std::optional<uint64_t> changed_since = {});

  // Takes the rows, waiting keys and progress of a table of the same spec, which gets those of this one. Pulls see one or the
  // other for a shard. Remembered changes are forgotten. failed_precondition while a Cut is open. REQUIRES: nobody else uses
  // `other`; no change of this table is under way.
  Status swap_rows(SparseTable& other);

  // Puts records of an equal codec() in, counters included, replacing rows with the same key. The bytes may come from anywhere:
  // damage is data_loss and nothing changes.
  Status import_records(std::string_view records);

  // Removes every row, waiting key and remembered change; progress starts anew.
  Status clear();

  TableProgress progress() const;
  // invalid_argument if the number of scalars is not the rule's.
  Status set_progress(const TableProgress& progress);
  uint64_t steps() const;

  TableSize size() const;

  // The Euclidean norms of about `most` rows that are in memory, spread evenly over the table, for people to look at. Rows are of
  // moments close to each other. A shard's lock is held while its share of the rows is read.
  std::vector<float> sample_norms(size_t most) const;

  // For tests, before other threads use the table: asked before each look at the overflow; an error is the disk's.
  void set_overflow_read_fault(std::function<Status()> fault);

 private:
  // The keys of a batch that fall into one shard, some at a time, with the slots of those rows that are in memory, and with
  // copies of those that stay on disk.
  struct Block {
    Shard& shard;
    std::span<const Probe> probes;
    uint32_t* slots;
    const ColdRows& cold;
  };
  using BlockWork = std::function<Status(const Block&)>;

  SparseTable(SparseSpec spec, const StoreOptions& options, std::unique_ptr<optim::Rule> rule);
  Status open(const StoreOptions& options);

  Status check_rows(std::span<const uint64_t> keys, size_t numbers) const;
  // Deals the keys to their shards and does the work on each block under its shard's lock.
  Status for_blocks(std::span<const uint64_t> keys, const ColdAccess& access, const BlockWork& work);
  Status for_blocks_in_use(std::span<const uint64_t> keys, const BlockWork& work);  // brings rows back into memory
  // Moves rows to disk where the shard has too many; an error is kept for check_room(). Gives the lock back meanwhile.
  void evict(Shard& shard, ShardLock& lock);
  bool may_evict(const Shard& shard) const;
  void keep_overflow_error(const Status& status);
  Status overflow_trouble() const ARGOSY_REQUIRES(overflow_mutex_);  // REQUIRES: overflow_error_ is not ok
  Status pull_block(const Block& block, float* rows, bool create, std::vector<uint64_t>* missing);
  Status copy_state_block(const Block& block, size_t element_state, float initial, float* out);
  Status set_state_block(const Block& block, size_t element_state, const float* values);
  Status apply_block(const Block& block, const TableStep& step, const float* gradients, const Impressions& impressions);
  Status add_block(const Block& block, const TableStep& step, const float* deltas);
  Status import_block(const Block& block, std::span<const RowView> rows);
  // The row of a key that gets a gradient and has none: made, or kNoSlot while the key waits for its admission.
  Result<uint32_t> admit(Shard& shard, const Probe& probe, const RowCounters& gradient);
  // What a gradient of this step adds to the counters that the table keeps.
  RowCounters counters_of(const TableStep& step) const;
  Result<uint32_t> find_or_create(Shard& shard, const Probe& probe);
  bool drawn(uint64_t key) const;

  struct Shrinking;
  void shrink_rows(Shard& shard, Shrinking& shrinking);
  Status shrink_cold(Shard& shard, Shrinking& shrinking);
  Status clear_shard(Shard& shard);

  const SparseSpec spec_;
  const std::unique_ptr<optim::Rule> rule_;  // null in geo mode
  const RowLayout layout_;
  const RowCodec codec_;
  const unsigned shard_bits_;
  const size_t block_rows_;
  std::unique_ptr<RowArena> arena_;
  std::shared_ptr<ColdStore> cold_;  // that of all shards; null without a memory limit
  std::vector<std::unique_ptr<Shard>> shards_;
  std::atomic<bool> is_cut_{false};
  mutable std::atomic<int> exports_{0};  // open ones; while there are any, no row moves to disk
  std::atomic<uint32_t> first_shard_{0};  // calls begin at different shards, so that they do not queue up behind each other
  ChangeTracker changes_;

  std::atomic<bool> overflow_failed_ = false;  // overflow_error_ is not ok
  mutable Mutex overflow_mutex_;
  Status overflow_error_ ARGOSY_GUARDED_BY(overflow_mutex_);  // of the last eviction
  SteadyClock::time_point overflow_retry_ ARGOSY_GUARDED_BY(overflow_mutex_) = {};  // no eviction before

  mutable Mutex step_mutex_;
  uint64_t steps_ ARGOSY_GUARDED_BY(step_mutex_) = 0;
  std::vector<float> scalars_ ARGOSY_GUARDED_BY(step_mutex_);
};

}  // namespace argosy::table
