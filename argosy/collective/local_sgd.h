#pragma once

#include <memory>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/collective/data_parallel.h"

namespace argosy::collective {

struct LocalSgdOptions {
  int k_steps = 1;     // own steps between two averages of the parameters
  int begin_step = 1;  // until it, every step averages
  // Chooses k anew at each average: ceil(sqrt(k_steps * first rate * loss / (rate * first loss))), from 1 to 16; few steps while
  // the loss falls fast, more as the learning rate decays.
  bool adaptive = false;
};

// Each process trains on its own, and every k steps the parameters become their mean over the group. Every member makes the
// same calls. Thread-compatible.
class LocalSgd {
 public:
  LocalSgd(std::shared_ptr<Group> group, std::vector<at::Tensor> parameters, LocalSgdOptions options);

  // After an optimizer's step. `loss` and `learning_rate` are for the adaptive choice alone. Returns whether it averaged.
  Result<bool> step(double loss = 0, double learning_rate = 0);
  int k_steps() const { return k_steps_; }

 private:
  Status average();
  Status choose(double loss, double learning_rate);

  std::shared_ptr<Group> group_;
  std::vector<at::Tensor> parameters_;
  const LocalSgdOptions options_;
  int k_steps_;
  int64_t steps_ = 0, since_average_ = 0;
  double first_loss_ = 0, first_rate_ = 0;
};

}  // namespace argosy::collective
