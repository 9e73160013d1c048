#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "argosy/base/status.h"
#include "argosy/ps/spec/messages.pb.h"

namespace argosy::ps {

struct OperationLimits {
  uint64_t operations_bytes = uint64_t{16} << 20;  // of what is remembered, all workers together; each has an equal share
  uint64_t answer_bytes = uint64_t{1} << 20;       // of one operation
  uint64_t name_bytes = 8192;                      // of its kind and its target
};

// The operations that workers have done, with their answers (see wire::Operation): what a worker that is started again need not,
// and must not, do again. Belongs to one run of a job: the next one begins with none.
//
// A worker makes its operations in the order of its data. Where a worker's share of the memory is full, those of its oldest
// positions are dropped: an operation at a position before them counts as done, and has no answer any more. What it does at
// one position alone must fit, else more there is refused (operations_bytes).
//
// Thread-compatible: the caller serialises all calls.
class Operations {
 public:
  explicit Operations(int workers, OperationLimits limits = {});

  // ---- Records.

  // The run begins: `run` tells its operations' numbers from those of other runs. The first one counts.
  void begin_run(uint64_t run) { run_ = run_ == 0 ? run : run_; }
  // REQUIRES: check(operation) is ok. One that is done already stays as it is.
  void end(uint32_t worker, const wire::Operation& operation, std::string answer);

  // ---- Questions.

  // Whether there can be such an operation, and whether there is room for it: resource_exhausted, with the limit's name.
  Status check(uint32_t worker, const wire::Operation& operation) const;
  Status check_answer(const wire::Operation& operation, uint64_t answer_bytes) const;
  bool done(uint32_t worker, const wire::Operation& operation) const;
  wire::BeginOperationReply find(uint32_t worker, const wire::Operation& operation) const;
  uint64_t bytes() const;

  void save(wire::OperationsImage* image) const;
  Status restore(const wire::OperationsImage& image);

 private:
  using Name = std::tuple<std::string, std::string, uint32_t>;  // kind, target, occurrence
  struct AtPosition {
    uint64_t bytes = 0;
    std::map<Name, std::string> answers;
  };
  struct Worker {
    uint64_t bytes = 0;
    uint64_t dropped_before = 0;  // a position
    std::map<uint64_t, AtPosition> places;  // by position
  };

  uint64_t number(uint32_t worker, const wire::Operation& operation) const;
  const std::string* answer(uint32_t worker, const wire::Operation& operation) const;
  uint64_t share() const { return limits_.operations_bytes / workers_; }

  const uint64_t workers_;
  const OperationLimits limits_;
  uint64_t run_ = 0;
  std::map<uint32_t, Worker> done_;
};

}  // namespace argosy::ps
