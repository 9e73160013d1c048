#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/line_range.h"
#include "argosy/base/status.h"
#include "argosy/base/step_gradients.h"

namespace argosy::engine {

class Scope;

// A variable of a program whose values live on parameter servers.
struct RemoteVariable {
  enum Kind {
    dense,  // the scope has a copy, which is refreshed as the mode of training says
    rows,   // the scope has nothing: a run pulls the rows that it looks up
    state,  // of an optimizer; the scope has nothing
  };
  Kind kind = dense;
  int table = 0;               // number of the table; of its parameter, for a state
  std::vector<int64_t> shape;  // as the program declares it
};

// What the engine needs of parameter servers. fleet implements it; the engine knows no more about servers than this.
//
// A scope that has one (Scope::set_remote) runs programs on the servers' values: lookups of row tables pull, the `send`
// operator pushes, saving and loading fetch and store. Thread-safe: trainer threads call it at the same time.
class RemoteParameters {
 public:
  virtual ~RemoteParameters() = default;

  virtual const RemoteVariable* find(std::string_view name) const = 0;  // null: the variable is local

  // Called by the `recv` operator of the startup program: connects where that has not happened yet, gives the servers their
  // first values (the first worker does) and receives all dense parameters into the tensors of `scope`, where later refreshes
  // and, in geo mode, the training itself write.
  virtual Status attach(Scope& scope) = 0;

  // A pass over data by several threads. false: this worker had finished the pass before it was started again; skip it.
  virtual Result<bool> begin_round(int threads) = 0;
  virtual Status thread_done() = 0;  // one of these threads has no more data
  // In place of it, after an error of a thread, also of a parallel run: where threads share a step, the others' part of it is not
  // taken without this one's.
  virtual void thread_failed(const Status& why) = 0;
  // The pass is finished; an error where a server has not applied exactly what was read.
  virtual Status end_round(const ReadCounters& counters) = 0;
  // In place of it, after an error: the pass is not finished, and the next begin_round() goes on in it.
  virtual void abandon_round(const Status& why) = 0;
  // Whether the error is that a server lost batches which it had acknowledged: a pass that is begun again trains these, and
  // skips the others.
  virtual bool lost_batches() const { return false; }
  // Outside a pass: the next runs come from so many threads at once, one run each.
  virtual Status begin_parallel(int threads) = 0;
  virtual Status end_parallel() = 0;

  // A thread takes a batch. The answer identifies it also after this worker was started again. In a pass the caller says which
  // batch of the pass it is; outside, batches are told apart by their order. `lines`: that it was made of, where the data says.
  virtual BatchId begin_batch() = 0;
  virtual BatchId begin_batch(uint32_t number, uint32_t samples, std::span<const FileLineRange> lines) = 0;
  // A batch from begin_batch() whose run failed before step().
  virtual void drop_batch(BatchId) {}
  // false: every server has this batch already (see begin_batch), so that it need not be computed.
  virtual bool wants(BatchId batch) const = 0;
  virtual Status pull(std::span<const RowRequest> requests) = 0;
  // Whether the rows of a thread's next batch may be pulled while it computes the one before, whose gradients they then lack.
  virtual bool may_prefetch() const { return false; }
  // Before each such pull: waits until servers have the batches whose gradients the rows are not to lack.
  virtual Status before_prefetch() { return {}; }
  virtual Status step(const StepGradients& gradients) = 0;  // waits as the mode says

  // Everything that was sent has been applied, and the scope's dense parameters are the servers' current ones.
  virtual Status refresh() = 0;
  // All values of a variable, in its declared shape; a row that nobody has touched holds what a new one would.
  virtual Status fetch(std::string_view name, std::span<float> values) = 0;
  virtual Status store(std::string_view name, std::span<const float> values) = 0;

  // What was read, applied and given up so far, as JSON, for saved models; empty: nobody keeps account.
  virtual Result<std::string> ledger() { return std::string(); }

  // What changes or publishes state (a save, a load, a value that is set) counts once, also where this worker is started again
  // and its script comes to the same place of the data: `body` is then not run, and what it answered before is returned. `target`
  // says what it is done to. An operation whose body fails is not done. `body` gets the operation's number, the same for the next
  // process where this one dies in it. After close() `body` is run, with the number 0.
  struct Outcome {
    bool before = false;  // it had been done; nothing was done now
    bool dropped = false;  // so long ago that the answer is not known any more
    std::string answer;
  };
  using OperationBody = std::function<Result<std::string>(uint64_t number)>;
  virtual Result<Outcome> once(const std::string& kind, const std::string& target, const OperationBody& body) = 0;

  virtual Status close() = 0;  // this worker is done; safe to call twice
};

}  // namespace argosy::engine
