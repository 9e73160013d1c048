#include "argosy/ps/communicator/finite_gradients.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "argosy/base/notice.h"
#include "argosy/optim/finite.h"

namespace argosy::ps {

FiniteGradients::FiniteGradients(const JobSpec& spec, int servers, int worker, Nonfinite policy)
    : spec_(spec),
      servers_(servers),
      worker_(worker),
      policy_(policy),
      counts_(static_cast<size_t>(servers) * spec.tables.size()),
      said_(spec.tables.size()) {}

bool FiniteGradients::is_finite(const StepGradients& gradients) const {
  return std::ranges::all_of(gradients.dense, [](const DenseGradient& dense) { return optim::all_finite(dense.values); }) &&
         std::ranges::all_of(gradients.rows, [&](const RowGradients& rows) {
           return optim::all_finite({rows.values, rows.keys.size() * spec_.tables[static_cast<size_t>(rows.table)].width});
         });
}

template <typename Body>
void FiniteGradients::for_bad(const StepGradients& gradients, const Body& body) const {
  for (const DenseGradient& dense : gradients.dense) {
    for (int server = 0; server < servers_; ++server) {
      const Range range = dense_range(spec_, static_cast<size_t>(dense.table), servers_, server);
      const auto values = dense.values.subspan(range.begin, range.size());
      if (optim::all_finite(values)) continue;
      body(Part{.table = dense.table, .server = server, .values = values, .name = {}, .begin = range.begin});
    }
  }
  for (const RowGradients& rows : gradients.rows) {
    const size_t width = spec_.tables[static_cast<size_t>(rows.table)].width;
    for (size_t i = 0; i < rows.keys.size(); ++i) {
      const std::span<const float> values(rows.values + i * width, width);
      if (optim::all_finite(values)) continue;
      body(Part{.table = rows.table,
                .server = server_of(rows.keys[i], servers_),
                .values = values,
                .name = fmt::format("key {}", rows.keys[i])});
    }
  }
}

std::string FiniteGradients::describe(const StepGradients& gradients, const Part& part) const {
  const auto bad = std::ranges::find_if_not(part.values, [](float number) { return std::isfinite(number); });
  const auto index = static_cast<size_t>(bad - part.values.begin());
  const std::string what = part.name.empty() ? fmt::format("element {}: the gradient is {}", part.begin + index, *bad)
                                             : fmt::format("{}: number {} of its gradient is {}", part.name, index, *bad);
  return fmt::format("worker {}, batch {} of pass {}: table '{}', {}", worker_, index_of(gradients.batch_id),
                     round_of(gradients.batch_id), spec_.tables[static_cast<size_t>(part.table)].name, what);
}

Status FiniteGradients::refusal(const StepGradients& gradients) const {
  std::string first;
  for_bad(gradients, [&](const Part& part) {
    if (first.empty()) first = describe(gradients, part);
  });
  return Status::invalid_argument("{}; {}", first, kNonfiniteAdvice);
}

void FiniteGradients::make_finite(GradientCopy& gradients) {
  for_bad(gradients.view(), [&](const Part& part) {
    if (!said_[static_cast<size_t>(part.table)].exchange(true)) {
      notice(LogLevel::warning, "{}; it is {}, as nonfinite={} says, and so are all later ones, which are counted",
             describe(gradients.view(), part), nonfinite_outcome(policy_), nonfinite_name(policy_));
    }
    counts_[place(part.server, part.table)] += 1;
    const std::span<float> all = gradients.values(part.table);
    for (float& number : all.subspan(static_cast<size_t>(part.values.data() - all.data()), part.values.size())) {
      if (policy_ == Nonfinite::skip || !std::isfinite(number)) number = 0;
    }
  });
}

void FiniteGradients::take_counts(std::vector<uint64_t>& counts) {
  if (std::ranges::all_of(counts_, [](const auto& count) { return count.load() == 0; })) return;
  for (auto& count : counts_) counts.push_back(count.exchange(0));
}

}  // namespace argosy::ps
