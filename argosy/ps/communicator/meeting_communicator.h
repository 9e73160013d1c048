#pragma once

#include "argosy/ps/communicator/communicator_base.h"
#include "argosy/ps/communicator/thread_meeting.h"

namespace argosy::ps {

// What sync and half_async share: the threads of this worker meet in each step, and one of them sends their mean gradient.
class MeetingCommunicator : public CommunicatorBase {
 public:
  MeetingCommunicator(const CommunicatorOptions& options, Client& client, Clipper clipper);

  Status step(const StepGradients& gradients) override;
  Status thread_done() override;
  void thread_failed(const Status& why) override { meeting_.fail(why); }

 protected:
  // Sends the mean of `batches`, and receives what the threads shall see next. The threads wait meanwhile.
  virtual Status send(const Push& push) = 0;

  void set_threads(int threads) override { meeting_.open(threads); }
  Status flush() override { return {}; }

 private:
  Status arrive(const StepGradients& gradients);
  Status act(std::span<const StepGradients> batches);

  ThreadMeeting meeting_;
  Pool<MergedGradients> merged_;
  Pool<GradientCopy> copies_;
};

}  // namespace argosy::ps
