#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "argosy/collective/generations.h"
#include "argosy/collective/group.h"

namespace argosy::fleet {

// What a step loop asks of a model that is the same in all ranks. Calls are of the loop's thread.
struct LoopModel {
  std::function<void()> keep_buffers;      // as they are before a step
  std::function<void()> put_buffers_back;  // what the forward of a step that is taken again has changed
  std::function<void()> share_buffers;     // rank 0's to all, once a step's gradients are there
  std::function<void()> renew;             // the group has met again: no gradients, and a new reducer
  std::function<std::string()> lend;       // everything that has been learned, and the next step's place in the data
  std::function<void(const std::string&)> take;  // what another rank's lend() gave
};

struct LoopStep {
  std::function<void()> body;  // may wait for the others, changes nothing that lasts but gradients and buffers, may be run again
  std::function<void()> commit;  // may not wait for anybody: moves the parameters
};

// Steps that all ranks of a group take together. Where the group survives the loss of a rank (on_rank_loss=survive), a step
// counts once all ranks have its gradients, and moves the parameters then:
//
//   body      forward and backward: gradients are reduced while it runs
//   barrier   passed by one rank, it says that all have their gradients
//   commit    each for itself
//
// A rank that is lost ends body and barrier with an error. The group meets again with a newcomer in its place, and all say how
// many steps they have counted. Ranks are one apart at most: where one has passed the barrier, the others, who have the same
// gradients, commit too; where none has, the step is taken again from its beginning. The newcomer takes the model of a rank that
// is ahead. In other groups, and in a group of one, a step is its body and its commit, and an error is the caller's.
//
// Throws argosy::Error, and what a body throws. Confined to one thread.
class StepLoop {
 public:
  // An error of a body that is not to be taken for a lost rank's, such as the end of the program.
  struct Fatal {
    std::exception_ptr error;
  };

  // REQUIRES: the group is that of all ranks, and makes no other loop.
  StepLoop(std::shared_ptr<collective::Group> group, LoopModel model);

  // All ranks begin; one that was started again takes the model of another.
  void begin();
  void step(const LoopStep& step);
  // Returns when all ranks have come here: until then one may have to lend its model.
  void finish();

  int64_t counted() const { return counted_; }  // steps, of all ranks alike

 private:
  bool attempt(const LoopStep& step);  // whether the step counts
  bool lost() const;
  // Meets the others again. Returns how many steps count; `whole`: this rank has all gradients of the next one.
  int64_t regroup(bool whole);
  Status agree(bool whole, int64_t& count);
  Status settle(const std::vector<std::string>& said, bool whole, int64_t& count);
  Status copy(const std::vector<bool>& newcomers, int source, int64_t count);
  bool survives() const { return group_->generations() != nullptr; }

  const std::shared_ptr<collective::Group> group_;
  const LoopModel model_;
  int generation_ = 1;  // that this rank has met in
  bool has_model_ = true;
  bool in_step_ = false;
  bool met_with_gradients_ = false;  // the group has met again, and the step's gradients are the last thing of the old one
  int64_t counted_ = 0;
};

}  // namespace argosy::fleet
