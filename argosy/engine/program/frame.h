#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/base/step_gradients.h"
#include "argosy/engine/program/device.h"
#include "argosy/engine/program/prepared.h"
#include "argosy/engine/program/pulled_rows.h"
#include "argosy/engine/program/scope.h"
#include "argosy/engine/program/value.h"
#include "argosy/engine/remote/context.h"

namespace argosy::engine {

class CaptureNotes;

// A pending lookup: the leaf whose gradient the backward operator turns into rows of `table`.
struct PendingLookup {
  int32_t table;  // value index of the parameter
  at::Tensor leaf;
  // Without their gradient, which is the leaf's; a piece that has one already was computed with a loss, the leaf, whose gradient
  // is a factor of it.
  std::vector<LookupGradient::Piece> pieces;
};

// The values of one run of a program, and what a thread keeps from run to run. run_frame() runs it. Confined to one thread.
class Frame {
 public:
  // REQUIRES: scope and context outlive it.
  Frame(std::shared_ptr<const PreparedProgram> program, Scope& scope, const Context& context);

  // Sets a value that is fed, on the frame's device.
  void feed(int32_t index, Value value);
  // A tensor of the CPU on the frame's device, as DeviceCopies does it.
  at::Tensor bring(const at::Tensor& given) { return copies().to_device(given); }
  // A value of the run on the CPU, or rows; waits only for what computes it.
  Value fetch(int32_t index);
  void note_made(const Instruction& instruction);  // after it has run: what is fetched of its outputs can be waited for
  void forget_made() { made_.clear(); }            // fetches wait for all that was queued

  // Binds persistable variables to the scope's tensors; parameters become leaves of this thread that share their storage.
  Status begin();
  void bind_stored();  // begin()'s part of it, once more: the scope has other tensors
  void end();             // drops temporaries

  Value& value(int32_t index) { return values_[static_cast<size_t>(index)]; }
  const PreparedProgram& program() const { return *program_; }
  Scope& scope() { return scope_; }
  const std::vector<int32_t>& fed() const { return fed_; }  // since begin(), in their order
  std::vector<std::pair<int32_t, Value*>> stored() const;   // persistables that the scope has, as tensors
  const Context& context() const { return context_; }
  std::shared_ptr<void>& state(int32_t index) { return states_[static_cast<size_t>(index)]; }
  std::vector<PendingLookup>& pending_lookups() { return pending_lookups_; }
  PulledRows& pulled_rows(int32_t table) { return pulled_rows_[table]; }
  // Gives this run rows that were prefetched for its batch; `rows` gets memory back that can be used again. After begin().
  void take_rows(PulledTables& rows);
  std::unique_ptr<Frame> another() const;  // for another thread, over the same program, scope and context
  // Whether run_frame() adds up the seconds of each instruction; op_seconds() is empty where it does not.
  void measure(bool on);
  std::vector<double>& op_seconds() { return op_seconds_; }
  void store_persistable(int32_t index);  // after an operator has set a persistable output: the scope sees it

  // Runs of a segment (recompute.h): the first keeps nothing for the backward, the second changes nothing that outlives the run.
  enum class Segment { none, first, again };
  Segment segment = Segment::none;
  // A seed for the operator with this state: drawn in a segment's first run, the same in its second.
  int64_t segment_seed(int32_t state);

  c10::Device device = c10::Device(c10::DeviceType::CPU);  // of its tensors; constant once it has run
  CaptureNotes* notes = nullptr;  // set while a step is rehearsed or recorded (step_capture.h)
  bool bfloat16_matmul = false;
  bool check_finite = false;  // an operator that gives NaN or an infinity ends the run
  uint64_t step = 0;  // runs begun
  BatchId batch_id = 0;  // from RemoteParameters::begin_batch(), where the program sends
  uint32_t samples = 0;  // in it, in a pass over a dataset
  bool sent = false;  // its gradients were taken
  uint64_t stream = 0;  // of random numbers: another one for each thread

 private:
  void bind_leaf(size_t index, const Value& stored);
  void bind_remote(size_t index, const Value& stored);
  void bring_stored();
  DeviceCopies& copies();

  std::shared_ptr<const PreparedProgram> program_;
  Scope& scope_;
  const Context& context_;
  std::vector<Value> values_;
  std::vector<Value*> stored_;  // the scope's value of each persistable; null for others
  std::vector<int32_t> fed_;
  std::vector<std::shared_ptr<void>> states_;
  std::vector<PendingLookup> pending_lookups_;
  PulledTables pulled_rows_;
  std::vector<double> op_seconds_;
  std::optional<DeviceCopies> copies_;
  std::map<int32_t, int64_t> segment_seeds_;  // by the operator's state
  std::map<int32_t, c10::Event> made_;  // of fetched values, on devices other than the CPU
};

}  // namespace argosy::engine
