#pragma once

#include "argosy/base/status.h"
#include "argosy/ps/client/client.h"
#include "argosy/ps/communicator/communicator_options.h"
#include "argosy/ps/communicator/gradients.h"

namespace argosy::ps {

// A worker's gradient clipping: of one batch's gradients before anything is merged (all modes but sync), or the factors for a
// step whose norms the servers know (sync). Immutable, so safe to share between threads.
class Clipper {
 public:
  // Names an unknown table, a limit that is none, a group that the job's spec lacks or has otherwise.
  static Result<Clipper> make(const JobSpec& spec, const CommunicatorOptions& options);

  // Whether clip() changes anything.
  bool clips_batches() const { return clips_batches_; }
  void clip(GradientCopy& gradients) const;

  // REQUIRES: sync mode; norms are those of all the job's groups.
  std::vector<ClipFactor> factors(std::span<const StepNorm> norms) const;

 private:
  std::vector<NormClip> norms_;
  std::vector<TableValueClip> values_;
  bool clips_batches_ = false;
};

}  // namespace argosy::ps
