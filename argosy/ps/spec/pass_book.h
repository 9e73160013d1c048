#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "argosy/ps/spec/file_lines.h"
#include "argosy/ps/spec/ledger.h"
#include "argosy/ps/spec/messages.pb.h"
#include "argosy/ps/spec/window.h"

namespace argosy::ps {

wire::PassLedger to_wire(const PassReading& reading);

// What a window lacks of a pass, and has beyond it: how many batches, and the numbers of the first of them, ascending.
struct PassDifference {
  uint64_t missing = 0, unexpected = 0;
  std::vector<uint32_t> missing_batches, unexpected_batches;

  bool any() const { return missing > 0 || unexpected > 0; }
};

// REQUIRES: the window has not left the round.
PassDifference compare(const Window& window, uint32_t round, const wire::PassLedger& ledger);

// "3, 7 to 12, 40": for messages; at most a few pieces, then how many more of `count` there are.
std::string list_batches(std::span<const uint32_t> ascending, uint64_t count);

// What one server has recorded of one worker's passes: of the open one sums, of the last ones what the worker said.
//
// Thread-compatible.
class PassBook {
 public:
  static constexpr size_t kPasses = 1000;  // that are kept one by one; of earlier ones the sums are

  // ---- Records of the log.
  void applied(uint32_t round, uint64_t batches, uint64_t samples, const FileLines& lines = {});
  // Of what counted as applied: held for a step that came without the worker.
  void dropped(uint64_t batches, uint64_t samples, const FileLines& lines = {});
  void sent_again(uint64_t batches, uint64_t samples);  // of what was dropped, and is applied now
  void restarted();  // the worker
  void left(uint32_t round, const wire::PassLedger& ledger, uint64_t lost_batches, uint64_t lost_samples);

  uint64_t open_samples(uint32_t round) const { return open_.round() == round ? open_.ledger().samples() : 0; }
  const wire::PassRecord* find(uint32_t round) const;  // null: not left, or too long ago

  wire::WorkerLedger image() const;
  void restore(const wire::WorkerLedger& saved);

 private:
  wire::PassRecord& open(uint32_t round);

  wire::PassRecord open_;  // without its lines
  FileLines open_lines_;
  std::deque<wire::PassRecord> passes_;
  wire::PassRecord earlier_;
};

// What one record says; where several servers have one of the same pass of a worker, merge() takes what any of them lacks.
PassSummary summary_of(const wire::PassRecord& record);
void merge(PassSummary& into, const PassSummary& of_another_server);

// The same for the pass that a worker has not left.
OpenPass open_pass(const wire::WorkerLedger& worker);
void merge(OpenPass& into, const OpenPass& of_another_server);

// From the answers of all servers of a job.
JobLedger join_ledgers(std::span<const wire::LedgerReply> servers);

}  // namespace argosy::ps
