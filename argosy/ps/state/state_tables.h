#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/ps/spec/job_spec.h"
#include "argosy/ps/spec/messages.pb.h"
#include "argosy/table/dense_table.h"
#include "argosy/table/sparse_table.h"

namespace argosy::ps {

using Sections = google::protobuf::RepeatedPtrField<wire::Section>;

// A table's part of a push, laid over the memory that it arrived in.
struct TableGradient {
  size_t table = 0;
  std::span<const uint64_t> keys;  // sparse
  std::span<const float> values;   // keys.size() rows; or this server's range of a dense table, or nothing
  std::span<const float> shows;    // one per key, or none
  std::span<const float> clicks;
};

struct TablesOptions {
  int servers = 1;
  int server = 0;
  uint64_t mem_limit_bytes = 0;     // of the rows of all sparse tables; 0: no limit
  std::filesystem::path directory;  // for what the limit moves to disk
};

// The parts of a job's tables that one server holds, and their learning rates.
//
// Thread-safe.
class Tables {
 public:
  // REQUIRES: spec.check() is ok.
  static Result<std::unique_ptr<Tables>> make(const JobSpec& spec, const TablesOptions& options);

  const JobSpec& spec() const { return spec_; }
  int servers() const { return servers_; }
  int server() const { return server_; }
  size_t size() const { return entries_.size(); }

  bool is_sparse(size_t table) const { return entries_[table].sparse != nullptr; }
  table::SparseTable& sparse(size_t table) const { return *entries_[table].sparse; }  // REQUIRES: is_sparse(table)
  table::DenseTable* dense(size_t table) const { return entries_[table].dense.get(); }  // null: this server has no part
  Range range(size_t table) const { return entries_[table].range; }

  // Tables like these without rows and values, for who fills them beside the ones in use; and takes some of them over, which then
  // hold what was in use. Pulls see a table's old rows or its new ones. REQUIRES of adopt(): `filled` is of make_empty(), and
  // no change is under way.
  Result<std::unique_ptr<Tables>> make_empty() const;
  Status adopt(Tables& filled, const std::set<size_t>& which);

  // Refuses by name a table number of a peer that does not exist or is of the other kind.
  Status check_sparse(uint64_t table) const;
  Status check_dense(uint64_t table) const;

  // A push as its tables' parts. The message is checked against the payload and the tables: sizes, order, and that the keys
  // are this server's.
  Result<std::vector<TableGradient>> lay_out(const Sections& sections, std::span<const std::byte> payload) const;
  // A pull's keys, without values.
  Result<std::vector<TableGradient>> lay_out_keys(const Sections& sections, std::span<const std::byte> payload) const;

  // The keys and values of one state of a table; see wire::ImportStateRequest. The sizes are still to be checked.
  Result<TableGradient> lay_out_state(uint64_t table, uint64_t keys, std::span<const std::byte> payload) const;
  // How many numbers a state of a table has here, of `keys` rows; refuses one that the rule does not have.
  Result<uint64_t> state_numbers(size_t table, uint64_t state, uint64_t keys) const;

  // The dense tables whose part here has no value yet.
  std::vector<uint32_t> uninitialised() const;
  // Whether apply() can be done: failed_precondition names the dense table that has no value.
  Status check_initialised(std::span<const TableGradient> gradients) const;

  // Whether rows of these tables may be made: not while the disk that they would overflow to is full.
  Status check_room(std::span<const TableGradient> gradients) const;

  // One step of every table that is named, at the rates of step number `step`. REQUIRES: check_initialised() was ok.
  Status apply(std::span<const TableGradient> gradients, uint64_t step, uint32_t seconds, uint32_t worker) const;

  // Rows, and parts of dense tables, that came with a gradient which is not finite. Those that were left out or replaced
  // (nonfinite=skip, clip) are part of the state: each counts once, also after a restart. Those that were refused are counted
  // since the process began.
  uint64_t left_out(size_t table) const { return entries_[table].left_out.load(std::memory_order_relaxed); }
  uint64_t nonfinite(size_t table) const { return left_out(table) + entries_[table].refused.load(std::memory_order_relaxed); }
  void count_left_out(const Sections& sections);  // what a push says of each. REQUIRES: its tables exist
  void set_left_out(size_t table, uint64_t rows) { entries_[table].left_out.store(rows); }
  void count_refused(size_t table, uint64_t rows) { entries_[table].refused.fetch_add(rows); }

  // By the schedule or what set_rate() put in its place, times the table's factor.
  float rate(size_t table, uint64_t step) const;
  void set_rate(size_t table, std::optional<float> rate);
  std::optional<float> set_rate_of(size_t table) const;  // what set_rate() was given

 private:
  struct Entry {
    std::unique_ptr<table::SparseTable> sparse;
    std::unique_ptr<table::DenseTable> dense;
    Range range;
    std::atomic<float> rate;  // not a number: by the schedule
    std::atomic<uint64_t> left_out = 0, refused = 0;  // of gradients that are not finite
  };

  Tables(const JobSpec& spec, const TablesOptions& options);
  Status make_entries(const TablesOptions& options);
  Status check_order(const Sections& sections) const;
  Status check_statistics(size_t table) const;  // whether a push may bring shows and clicks
  Status check_owner(std::span<const uint64_t> keys, size_t table) const;

  const JobSpec spec_;
  const TablesOptions options_;
  const int servers_, server_;
  mutable std::atomic<uint64_t> copies_ = 0;  // that make_empty() has made
  std::vector<Entry> entries_;  // constant after make(), but for what is inside
};

}  // namespace argosy::ps
