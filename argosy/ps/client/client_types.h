#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "argosy/base/line_range.h"
#include "argosy/base/status.h"
#include "argosy/base/step_gradients.h"
#include "argosy/ps/client/server_stats.h"
#include "argosy/ps/spec/job_spec.h"
#include "argosy/ps/spec/window.h"
#include "argosy/rpc/channel.h"

// What a Client is given and what it returns.
namespace argosy::ps {

// Makes the channel to one server. For tests: in-process and faulty channels.
using ChannelMaker = std::function<Result<std::unique_ptr<rpc::Channel>>(const std::string& endpoint)>;

struct ClientOptions {
  std::vector<std::string> servers;  // "host:port", in the order that every process of the job has
  std::vector<std::string> followers = {};  // of the servers, in their order, with replicas=1; else none
  std::string job;
  std::string run = {};  // the run's id; empty: server 0 tells it
  int worker = 0;
  rpc::Security security;
  double server_wait_seconds = 600;  // how long a server may be away, at the start and later, before calls fail
  double call_seconds = 30;          // how long one try of a call may take
  double operation_seconds = 3600;   // how long saving or loading a snapshot may take before it is cancelled
  size_t max_message_bytes = size_t{256} << 20;
  ChannelMaker make_channel = {};  // empty: rpc::connect_channel
};

// Some of the lines that a batch was made of.
struct BatchLines {
  BatchId batch = 0;
  FileLineRange made_of = {};
};

// By server: what it told when it was read from (wire::PullDenseReply::read_at), of several readings the oldest. 0: it told
// nothing.
using ReadAt = std::vector<uint64_t>;

inline void keep_oldest(uint64_t& kept, uint64_t other) {
  if (kept == 0 || (other != 0 && other < kept)) kept = other;
}

// One send to all servers. The spans' memory is kept by `owner` and sent from where it lies; without an owner it is copied.
struct Push {
  std::span<const BatchId> batches;     // at least one, all of one round
  std::span<const uint32_t> samples = {};  // of each batch; empty: not counted
  std::span<const BatchLines> lines = {};  // of files that servers hand out
  std::optional<Position> step = {};    // sync
  std::span<const DenseGradient> dense;
  std::span<const RowGradients> rows;
  std::shared_ptr<const void> owner = {};
  // By server and table: gradients that were not finite and are left out or replaced already. Empty: none.
  std::span<const uint64_t> nonfinite = {};
  // What a server had when this worker connected is not in the gradients for it: each gets the numbers that it lacked.
  bool by_server = false;
  // What the gradients were computed from. Empty: not known.
  std::span<const uint64_t> rows_read_at = {}, dense_read_at = {};
};

// A reader asks for the next file of a list that servers hand out. wire::NextFileRequest has the meaning of the fields.
struct FileQuestion {
  enum class Use { script, pass, memory };
  std::string list;
  uint64_t files = 0;
  int reader = 0;
  Use use = Use::script;
  uint32_t round = 0;
  uint64_t lines = 0;  // of the reader's file before
};

struct HandedFile {
  uint64_t place = 0;
  std::vector<LineRange> skip;   // servers have these lines from workers that were lost; ascending
  uint64_t in_parts = 0;         // of these: on some servers only
  std::optional<uint64_t> lines;  // that it has, where that is known
};

// How pulled numbers come: as servers hold them, or rounded as the tables' wire_format says, which is what training computes
// with.
enum class Numbers { exact, on_wire };

// A dense table's values, and where they go.
struct DenseRequest {
  int table = 0;
  std::span<float> values;  // of the whole table
  float* rate = nullptr;    // the table's learning rate at the servers' next step; null: not wanted
};

// Rows that other workers have changed (geo), and where they go.
using ChangedRows = std::function<Status(int table, std::span<const uint64_t> keys, std::span<const float> rows)>;

// A clip group's share in the squared norm of a step's mean gradient, all servers together.
struct StepNorm {
  std::string group;
  double sum_of_squares = 0;
};

struct ClipFactor {
  std::string group;
  float factor = 1;
};

enum class SnapshotKind { full, delta, base };  // see wire::SnapshotKind in messages.proto

// What one server's part of a snapshot is.
struct ServerSnapshotPart {
  std::string part;
  uint64_t rows = 0;
  uint64_t bytes = 0;
  double pause_seconds = 0;
};

// Limits of one shrink(); what is left out is as in the table's spec.
struct ShrinkLimits {
  std::optional<float> score;
  std::optional<uint32_t> unseen_steps;
  std::optional<uint32_t> ttl_seconds;
};

struct ShrinkReport {
  uint64_t kept = 0;
  uint64_t dropped = 0;
  uint64_t dropped_waiting = 0;  // counters of keys that were not admitted yet
};

// Something other than a push that changes or publishes state, as a script calls it.
struct Operation {
  std::string kind;    // "save_vars", "set_rate", …
  std::string target;  // what it is done to: a folder, a variable, a table
  BatchId position = 0;  // in this worker's data: Communicator::next_batch()
};

// What came of it.
struct OperationOutcome {
  bool before = false;   // an earlier start of this worker had done it; nothing was done now
  bool dropped = false;  // … so long ago that its answer is not kept: `answer` is empty
  std::string answer;
};

enum class Reduce { sum, max, min };

// What a client did since connect().
struct ClientCounters {
  uint64_t calls = 0;    // tries included
  uint64_t retries = 0;
  uint64_t pushes = 0;          // messages, one per server
  uint64_t bytes_sent = 0;      // headers and payloads
  uint64_t bytes_received = 0;
};

// Visits some rows of a table.
using RowVisitor = std::function<Status(std::span<const uint64_t> keys, std::span<const float> values)>;

// What an operation does; see Client::once(). Its argument identifies the operation to servers, and to the next process where
// this one dies in it.
using OperationBody = std::function<Result<std::string>(uint64_t number)>;

// A message from another worker, or from this one.
struct Mail {
  int from = 0;
  std::string bytes;
};

}  // namespace argosy::ps
