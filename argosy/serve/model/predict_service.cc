#include "argosy/serve/model/predict_service.h"

#include <algorithm>
#include <utility>

namespace argosy::serve {

PredictService::PredictService(std::string name, const ServeLimits& limits, const ServedModel& model, Batcher& batcher,
                               ServeCounters& counters)
    : name_(std::move(name)), limits_(limits), model_(model), batcher_(batcher), counters_(counters) {}

Status PredictService::check_name(const std::string& asked) const {
  if (asked == name_) return {};
  return Status::not_found("there is no model '{}' here; '{}' is served", asked, name_);
}

Status PredictService::ready() const {
  if (closed_) return Status::unavailable("stopping");
  return model_.current()->ready();
}

Result<Prediction> PredictService::predict(std::optional<std::chrono::nanoseconds> wait, const Parse& parse) {
  const std::chrono::nanoseconds longest = limits_.deadline;
  const Deadline deadline = Deadline::after(wait ? std::min(*wait, longest) : longest);
  auto version = model_.current();
  ASSIGN_OR_RETURN(Inputs inputs, parse(*version));
  RETURN_IF_ERROR(check_inputs(version->inputs, inputs));
  ASSIGN_OR_RETURN(std::vector<Tensor> outputs, batcher_.predict(version, std::move(inputs), deadline));
  return Prediction{.version = std::move(version), .outputs = std::move(outputs)};
}

}  // namespace argosy::serve
