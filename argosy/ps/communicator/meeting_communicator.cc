#include "argosy/ps/communicator/meeting_communicator.h"

#include <algorithm>

namespace argosy::ps {

MeetingCommunicator::MeetingCommunicator(const CommunicatorOptions& options, Client& client, Clipper clipper)
    : CommunicatorBase(options, client, std::move(clipper)),
      meeting_([this](std::span<const StepGradients> batches) { return keep(act(batches)); }) {}

Status MeetingCommunicator::step(const StepGradients& gradients) {
  RETURN_IF_ERROR(check_step(gradients));
  if (!clipper().clips_batches()) return arrive(gradients);
  const auto copy = copies_.take();
  copy->assign(spec(), gradients);
  clipper().clip(*copy);
  return arrive(copy->view());
}

// Another thread's error is not one of this worker's connection: nothing was sent.
Status MeetingCommunicator::arrive(const StepGradients& gradients) {
  Status status = meeting_.arrive(gradients, options().sync_wait_seconds);
  reads().step_done();
  return meeting_.failed() ? status : keep(std::move(status));
}

Status MeetingCommunicator::thread_done() {
  RETURN_IF_ERROR(failure());
  return meeting_.leave();
}

Status MeetingCommunicator::act(std::span<const StepGradients> batches) {
  if (std::ranges::all_of(batches, [&](const StepGradients& batch) { return client().all_had(batch.batch_id); })) return {};
  pushes_ += 1;
  merged_batches_ += batches.size();
  if (batches.size() == 1) {
    const StepGradients& only = batches.front();
    return send({.batches = std::span(&only.batch_id, 1),
                 .samples = std::span(&only.samples, 1),
                 .dense = only.dense,
                 .rows = only.rows});
  }
  const auto merged = merged_.take();
  merged->merge(spec(), batches, 1.0f / static_cast<float>(batches.size()));
  return send({.batches = merged->batches(),
               .samples = merged->samples(),
               .dense = merged->dense(),
               .rows = merged->rows(),
               .owner = merged});
}

}  // namespace argosy::ps
