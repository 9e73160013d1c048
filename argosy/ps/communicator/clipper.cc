#include "argosy/ps/communicator/clipper.h"

#include <algorithm>
#include <cmath>

#include "argosy/optim/clip.h"

namespace argosy::ps {
namespace {

Status check_table(const JobSpec& spec, int table, std::string_view what) {
  if (table >= 0 && static_cast<size_t>(table) < spec.tables.size()) return {};
  return Status::invalid_argument("{} names table {} of a job with {} tables", what, table, spec.tables.size());
}

Status check_norm(const JobSpec& spec, const NormClip& clip) {
  if (!(clip.clip_norm > 0) || !std::isfinite(clip.clip_norm)) {
    return Status::invalid_argument("clip group '{}': clip_norm is {}; expected a number above 0", clip.group, clip.clip_norm);
  }
  for (const int table : clip.tables) {
    RETURN_IF_ERROR(check_table(spec, table, "clip group '" + clip.group + "'"));
    const TableSpec& named = spec.tables[static_cast<size_t>(table)];
    if (spec.mode == Mode::sync && named.clip_group != clip.group) {
      return Status::invalid_argument(
          "table '{}' is in the worker's clip group '{}' and in the servers' '{}'; both must be the same", named.name, clip.group,
          named.clip_group);
    }
  }
  return {};
}

Status check_value(const JobSpec& spec, const TableValueClip& clip) {
  RETURN_IF_ERROR(check_table(spec, clip.table, "value_clips"));
  const std::string& name = spec.tables[static_cast<size_t>(clip.table)].name;
  if (spec.mode == Mode::sync) {
    return Status::invalid_argument("table '{}': value_clips is for the other modes; in sync mode the spec's value_clip says it",
                                    name);
  }
  if (clip.clip.min <= clip.clip.max) return {};
  return Status::invalid_argument("table '{}': clip from {} to {}; the maximum is below the minimum", name, clip.clip.min,
                                  clip.clip.max);
}

}  // namespace

Result<Clipper> Clipper::make(const JobSpec& spec, const CommunicatorOptions& options) {
  for (const NormClip& clip : options.norm_clips) RETURN_IF_ERROR(check_norm(spec, clip));
  for (const TableValueClip& clip : options.value_clips) RETURN_IF_ERROR(check_value(spec, clip));
  for (const std::string& group : spec.clip_groups()) {
    if (std::ranges::find(options.norm_clips, group, &NormClip::group) == options.norm_clips.end()) {
      return Status::invalid_argument("clip group '{}' of the job has no clip_norm: norm_clips does not name it", group);
    }
  }
  Clipper clipper;
  clipper.norms_ = options.norm_clips;
  clipper.values_ = options.value_clips;
  clipper.clips_batches_ = spec.mode != Mode::sync && (!clipper.norms_.empty() || !clipper.values_.empty());
  return clipper;
}

void Clipper::clip(GradientCopy& gradients) const {
  for (const TableValueClip& clip : values_) optim::clip_by_value(gradients.values(clip.table), clip.clip.min, clip.clip.max);
  for (const NormClip& clip : norms_) {
    double sum = 0;
    for (const int table : clip.tables) sum += optim::sum_of_squares(gradients.values(table));
    const float factor = optim::clip_factor(sum, clip.clip_norm);
    if (factor == 1.0f) continue;
    for (const int table : clip.tables) optim::scale(gradients.values(table), factor);
  }
}

std::vector<ClipFactor> Clipper::factors(std::span<const StepNorm> norms) const {
  std::vector<ClipFactor> factors;
  for (const StepNorm& norm : norms) {
    const auto clip = std::ranges::find(norms_, norm.group, &NormClip::group);
    factors.push_back({norm.group, optim::clip_factor(norm.sum_of_squares, clip->clip_norm)});
  }
  return factors;
}

}  // namespace argosy::ps
