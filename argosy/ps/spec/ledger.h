#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

// Whether what was read is what was applied. A worker says at the end of a pass what it has read, batch by batch; a server
// compares that with what it has, and records the pass only where both agree.
namespace argosy::ps {

// What a worker has read in one pass; wire::PassLedger has the meaning of the fields.
struct PassReading {
  uint32_t batches = 0;
  std::vector<uint32_t> empty;
  uint64_t samples = 0;
  uint64_t lines = 0, bad_lines = 0, files = 0;
  bool fed = false;
  uint32_t failed_runs = 0;
  double unsent = 0;
  uint64_t lines_of_lost = 0, lines_in_parts = 0;
  bool holds_back = false;
  uint32_t begun_again = 0;
  double given_up_differences = 0;
};

// What servers lack of a pass that a worker has left, as their durability or on_worker_loss allows: the most that one lacks.
struct PassLoss {
  uint64_t batches = 0, samples = 0;
};

// One pass of a job, all its workers and servers together; or all passes.
struct PassSummary {
  uint32_t round = 0;
  int workers = 0;  // that have left it
  uint64_t batches = 0, samples = 0, lines = 0, bad_lines = 0, files = 0;
  uint64_t given_up_batches = 0, given_up_samples = 0;  // by choice: on_worker_loss=shrink, durability=snapshot
  uint64_t failed_runs = 0;
  uint32_t restarts = 0;  // of workers
  double unsent = 0;      // geo
  bool fed = false;       // batches are runs of scripts that feed themselves; samples are not counted
  uint64_t lines_of_lost = 0;   // of files that lost workers had: they count for those workers, and were left out
  uint64_t lines_in_parts = 0;  // of these: on some servers only
  // Geo, and tables with wire_format=int8: a worker that is started again has lost what it held back, and nobody knows how much.
  // A geo worker that goes on after an error has lost at most this sum.
  bool holds_back = false;
  uint32_t begun_again = 0;  // of `restarts`: by a process that went on
  double given_up_differences = 0;

  uint64_t applied_samples() const { return samples - std::min(samples, given_up_samples); }
  bool unknown_differences() const { return holds_back && restarts > begun_again; }
  uint64_t applied_batches() const { return batches - std::min(batches, given_up_batches); }
  void add(const PassSummary& other);
  // "1,000,000 samples read, 1,000,000 applied once, 0 lost, 3 bad lines skipped", and what was given up, if anything.
  std::string text() const;
};

// A worker that has not finished its passes.
struct OpenPass {
  int worker = 0;
  std::string state;  // "not seen", "live", "lost", "done"
  uint32_t round = 0;
  uint64_t batches = 0, samples = 0;  // applied
  bool lost = false;  // the job goes on without the worker (on_worker_loss=shrink)
  uint64_t dropped_batches = 0, dropped_samples = 0;  // of its last step, which not all servers had
  uint32_t files_handed_on = 0;  // of files that servers hand out: others read on where this worker was
  uint32_t files_left = 0;  // and nobody has asked for these since
  uint32_t files_twice = 0;  // others read these from the beginning: what was trained of them counts twice

  // Of a lost worker: whether samples may be missing that nobody has counted.
  bool unknown_given_up() const { return lost && (files_handed_on == 0 || files_left > 0); }
  // "worker 1, which is lost, is in pass 0: 200 samples of it are applied; the rest of …"
  std::string text() const;
};

// The ledger of a job, as its servers have it.
struct JobLedger {
  std::vector<PassSummary> passes;  // finished by at least one worker; ascending
  std::vector<OpenPass> open;  // workers with batches in a pass that they have not finished
  PassSummary total;  // of all finished passes, also those that are no longer in `passes`
  // By table: gradients (of a row, or a dense table's part of a push) that were NaN or infinite, and by choice left out or
  // replaced (nonfinite=skip, clip).
  std::map<std::string, uint64_t> nonfinite = {};

  std::string to_json() const;
};

}  // namespace argosy::ps
