#pragma once

#include <optional>
#include <span>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/optim/regularize.h"
#include "argosy/optim/rule.h"
#include "argosy/ps/spec/job_spec.h"

namespace argosy::ps {

// A geo worker's copy of one dense parameter, over the memory that the program trains. Beside it stands the *base*, as in
// GeoRows: what the servers would hold if they had only this worker's sent differences and what it has received. values - base is
// the unsent part. The rule's element states are this worker's alone.
//
// Threads: train() may be called by several at once. Everything else is the exchange's, one thread at a time; those that say so
// are called while no thread trains, so that what they do to values, differences and base is one step to every thread.
class GeoDense {
 public:
  // `values` are the parameter as the servers have it, and stay valid; `rule` trains them, and outlives this. Before anything
  // else; without it there is nothing here.
  void begin(std::span<float> values, const optim::Rule& rule);

  // A step of the rule on the `wanted` parts of the parameter. REQUIRES: gradient.size() is the parameter's.
  void train(std::span<const float> gradient, std::span<const Range> wanted, const optim::Step& step,
             const std::optional<optim::Regularization>& regularization);

  // Makes `differences` share * (values - base), and adds that to the base. While no thread trains.
  void collect(float share, std::vector<float>& differences);

  // Where the exchange puts what the servers hold now, and then: others' changes are added to the values, the unsent part stays.
  // While no thread trains.
  std::span<float> received() { return received_; }
  void receive();

  // The rule begins anew, as with the first step. While no thread trains.
  void forget_states();

  // The servers hold these: nothing is unsent of what is equal to them. REQUIRES: values.size() is the parameter's.
  void settle(std::span<const float> values);

  // The sum of the absolute values of the unsent parts.
  double unsent() const;

 private:
  void forget_states_locked() ARGOSY_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::span<float> values_ ARGOSY_GUARDED_BY(mutex_);            // the program's
  const optim::Rule* rule_ ARGOSY_GUARDED_BY(mutex_) = nullptr;  // null: there is nothing here
  std::vector<float> states_ ARGOSY_GUARDED_BY(mutex_);          // as initial_element_states() lays them
  std::vector<float> base_ ARGOSY_GUARDED_BY(mutex_);
  std::vector<float> received_;  // the exchange's alone
};

}  // namespace argosy::ps
