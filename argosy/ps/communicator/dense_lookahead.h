#pragma once

#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/base/step_gradients.h"
#include "argosy/optim/rule.h"
#include "argosy/ps/client/client_types.h"
#include "argosy/ps/spec/job_spec.h"

namespace argosy::ps {

// An async worker's dense parameters, with those of its own batches in them that the servers have not given back yet. Without it
// a worker computes with parameters that lack the batch before, which is on its way: gradients of old parameters add up to steps
// that are too long, and a model learns visibly less from its first pass.
//
// A batch moves the program's memory at once, by the step that this worker's own gradients lead to: the table's rule, with states
// that only this worker feeds, at the rate that the servers told last. What is received later takes the place of the guess: the
// memory is then what the servers hold, and the moves of those batches that are not in it. With one worker the guess is the
// servers' step, but for rounding and the last step of a schedule; with several it has this worker's momentum in place of all
// workers'. Nothing of it is ever sent. Tables whose rule needs a whole parameter at once (lamb) are not guessed.
//
// Memory: the rule's states, one copy of all dense parameters for receives, and one for each batch on its way.
//
// Thread-safe. The program reads its memory meanwhile; stores there are relaxed atomic ones.
class DenseLookahead {
 public:
  // REQUIRES: `spec` has passed check() and outlives this.
  static Result<std::unique_ptr<DenseLookahead>> make(const JobSpec& spec);

  // The program's memory of a dense table, for each of them, before anything else. It gets values by the first receive.
  void bind(int table, std::span<float> values) ARGOSY_EXCLUDES(mutex_);

  // A batch was computed and will be sent. A table whose gradient is not finite stays as it is: the servers decide about it.
  void advance(const StepGradients& gradients) ARGOSY_EXCLUDES(mutex_);
  // The servers have applied it.
  void sent(BatchId batch) ARGOSY_EXCLUDES(mutex_);

  // A receive: between the two calls the requests are filled with what the servers hold. One at a time. A batch that arrives
  // there meanwhile counts as not received: it may be in the values twice, until the next receive.
  std::span<const DenseRequest> begin_receive() ARGOSY_EXCLUDES(mutex_);
  void end_receive(bool received) ARGOSY_EXCLUDES(mutex_);  // false: it failed, and nothing is changed

  // Batches that were not received will never be: the next receive is all that there is.
  void forget() ARGOSY_EXCLUDES(mutex_);

 private:
  struct Table {
    std::span<float> values;            // the program's; empty: sparse
    std::unique_ptr<optim::Rule> rule;  // null: not guessed
    std::vector<float> scalars;
    std::vector<std::vector<float>> states;
    float rate = 0;
  };
  struct Move {
    BatchId batch = 0;
    bool sent = false;
    bool covered = false;                // by the receive that is under way
    std::vector<std::vector<float>> by;  // by table; empty: it was not moved
  };

  explicit DenseLookahead(const JobSpec& spec) : spec_(spec) {}
  Move new_move(BatchId batch) ARGOSY_REQUIRES(mutex_);
  void drop(std::deque<Move>::iterator begin, std::deque<Move>::iterator end) ARGOSY_REQUIRES(mutex_);
  void move_table(size_t number, std::span<const float> gradient, std::vector<float>& by) ARGOSY_REQUIRES(mutex_);

  const JobSpec& spec_;
  // The receive's, while it is under way.
  std::vector<std::vector<float>> received_;  // by table
  std::vector<float> received_rates_;         // by table
  std::vector<DenseRequest> requests_;        // over these

  Mutex mutex_;
  std::vector<Table> tables_ ARGOSY_GUARDED_BY(mutex_);
  std::deque<Move> moves_ ARGOSY_GUARDED_BY(mutex_);   // in no order once a receive has covered some
  std::vector<Move> spare_ ARGOSY_GUARDED_BY(mutex_);  // memory to be used again
};

}  // namespace argosy::ps
