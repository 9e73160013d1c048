#include "argosy/optim/rule.h"

#include <algorithm>

#include "argosy/base/check.h"

namespace argosy::optim {

Rule::Rule(const RuleInfo& info, std::vector<float> hyper_parameters)
    : info_(info), hyper_(std::move(hyper_parameters)), states_(info.states.begin(), info.states.end()) {
  for (StateSlot& slot : states_) {
    if (slot.shape == StateSlot::element) ++element_states_;
    if (slot.initial_from.empty()) continue;
    const auto source = std::ranges::find(info.hyper_parameters, slot.initial_from, &HyperParameter::name);
    ARGOSY_CHECK(source != info.hyper_parameters.end(), slot.initial_from);
    slot.initial = hyper_[static_cast<size_t>(source - info.hyper_parameters.begin())];
  }
}

bool Rule::uses_learning_rate() const {
  const auto found = std::ranges::find(info_.hyper_parameters, info_.rate_switch, &HyperParameter::name);
  const bool on =
      found != info_.hyper_parameters.end() && hyper_[static_cast<size_t>(found - info_.hyper_parameters.begin())] != 0;
  return info_.uses_learning_rate || on;
}

std::vector<float> Rule::initial_scalars() const {
  std::vector<float> scalars;
  for (const StateSlot& slot : states_) {
    if (slot.shape == StateSlot::scalar) scalars.push_back(slot.initial);
  }
  return scalars;
}

}  // namespace argosy::optim
