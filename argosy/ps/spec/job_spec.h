#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/random.h"
#include "argosy/base/status.h"
#include "argosy/optim/regularize.h"
#include "argosy/optim/rule.h"
#include "argosy/optim/schedule.h"
#include "argosy/ps/spec/mode.h"
#include "argosy/ps/spec/wire_format.h"
#include "argosy/table/spec.h"

// What a job trains: its tables, the same on all its workers and servers.
namespace argosy::ps {

// Of messages.proto. Processes of different versions refuse each other.
inline constexpr uint32_t kProtocolVersion = 4;

// Of a sparse table; see table/spec.h.
using table::Admission;
using table::Expiry;
using table::RowInitializer;
using table::ShowClick;

struct ValueClip {
  float min = 0, max = 0;

  friend bool operator==(const ValueClip&, const ValueClip&) = default;
};

struct TableSpec {
  std::string name;
  bool sparse = false;
  uint64_t size = 0;           // dense: elements
  uint32_t width = 0;          // sparse: floats per row
  uint64_t declared_rows = 0;  // sparse: keys 0 … n-1 exist for a user who asks for all of them; 0: no such size
  RowInitializer initializer;     // sparse; a row's first values are a function of (initializer.seed, key)
  std::string rule = "sgd";    // of optim::make_rule
  optim::HyperParameters hyper_parameters;
  optim::Schedule schedule;  // the learning rate; a number has the kind "constant"
  float rate_factor = 1;
  std::optional<optim::Regularization> regularization;
  std::string clip_group;               // sync: tables of one group share one norm; empty: not clipped by norm
  std::optional<ValueClip> value_clip;  // sync
  Admission admission;                  // sparse
  Expiry expiry;                        // sparse
  ShowClick show_click;                 // sparse
  bool geo = false;                     // pushes are differences to add, by no rule
  WireFormat wire_format = WireFormat::float32;  // of gradients, and of values that are pulled for training

  // What the table room takes. REQUIRES: the table is of that kind.
  table::SparseSpec sparse_spec() const;
  table::DenseSpec dense_spec(uint64_t elements) const;

  friend bool operator==(const TableSpec&, const TableSpec&) = default;
};

struct JobSpec {
  Mode mode = Mode::sync;
  int workers = 1;
  std::vector<TableSpec> tables;  // a table's number is its place here

  // Whether every field can be used; the message names the table and the field, what it is and what it may be.
  Status check() const;

  // The clip groups, in the order of their first tables.
  std::vector<std::string> clip_groups() const;

  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

// The first difference, as "table 'fc_0.w_0': rule is 'adam' at <ours> and 'sgd' at <theirs>"; nullopt where there is none.
std::optional<std::string> difference(const JobSpec& ours, std::string_view our_name, const JobSpec& theirs,
                                      std::string_view their_name);

// The spec as bytes, and back; bytes that are none are refused. The result of decoding still has to pass check().
std::string encode_job_spec(const JobSpec& spec);
Result<JobSpec> decode_job_spec(std::string_view bytes);

// The smallest piece that a dense table is cut into, in elements.
inline constexpr uint64_t kDenseBlock = 8192;

// Elements [begin, end) of a dense table.
struct Range {
  uint64_t begin = 0, end = 0;

  uint64_t size() const { return end - begin; }
  friend bool operator==(const Range&, const Range&) = default;
};

// What `server` holds of a dense table; empty where it holds nothing. A table is cut into as many equal blocks as there are
// servers, but none below kDenseBlock (one block where the rule needs the whole parameter at once, as lamb does), and
// the blocks of all tables are dealt to the servers in turn. So a server has at most one range of a table.
// REQUIRES: spec.check() is ok; the table is dense.
Range dense_range(const JobSpec& spec, size_t table, int servers, int server);

// The server that holds a sparse row.
inline int server_of(uint64_t key, int servers) { return static_cast<int>(mix64(key) % static_cast<uint64_t>(servers)); }

// Batch ids: which pass over data, and which batch of it.
constexpr uint64_t batch_id(uint32_t round, uint32_t index) { return uint64_t{round} << 32 | index; }
constexpr uint32_t round_of(uint64_t batch) { return static_cast<uint32_t>(batch >> 32); }
constexpr uint32_t index_of(uint64_t batch) { return static_cast<uint32_t>(batch); }

// A place in a sync job: `step` steps of `round` have been applied.
struct Position {
  uint32_t round = 0, step = 0;

  friend auto operator<=>(const Position&, const Position&) = default;
};

}  // namespace argosy::ps
