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
// the unsent part.
//
// Threads: train() may be called by several at once. Everything else is the exchange's, one thread at a time, and those that say
// so are called while no thread trains.
class GeoDense {
 public:
  // `values` are the parameter as the servers have it, and stay valid. Before anything else; without it there is nothing here.
  void begin(std::span<float> values);

  // A step of a rule without states on the `wanted` parts of the parameter. REQUIRES: gradient.size() is the parameter's.
  void train(std::span<const float> gradient, std::span<const Range> wanted, const optim::Rule& rule, const optim::Step& step,
             const std::optional<optim::Regularization>& regularization);

  // Makes `differences` share * (values - base), and adds that to the base. While no thread trains.
  void collect(float share, std::vector<float>& differences);

  // Where the exchange puts what the servers hold now, and then: others' changes are added to the values, the unsent part stays.
  // While no thread trains.
  std::span<float> received() { return received_; }
  void receive();

  // The servers hold these: nothing is unsent of what is equal to them. REQUIRES: values.size() is the parameter's.
  void settle(std::span<const float> values);

  // The sum of the absolute values of the unsent parts.
  double unsent() const;

 private:
  Mutex mutex_;                // held while a thread trains; the exchange keeps out by its gate
  std::span<float> values_;    // the program's
  std::vector<float> base_;
  std::vector<float> received_;
};

}  // namespace argosy::ps
