#include "argosy/optim/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "argosy/base/text.h"

namespace argosy::optim {
namespace {

using Floats = std::span<const float>;
using Ints = std::span<const int64_t>;

constexpr size_t kMany = static_cast<size_t>(-1);  // all that are left

// One schedule: its numbers, a test of them and its formula. The formula of a schedule with an inner one is in evaluate().
struct Kind {
  std::string_view name;
  size_t floats;
  size_t ints;
  const char* (*wrong)(Floats, Ints);  // what is wrong with the numbers; null: nothing
  double (*value)(Floats, Ints, double step);
};

const char* no_objection(Floats, Ints) { return nullptr; }
const char* first_int_is_positive(Floats, Ints i) { return i[0] > 0 ? nullptr : "its number of steps is not positive"; }

// Steps over decay_steps: ints are decay_steps, staircase.
double periods(Ints i, double step) {
  const double ratio = step / static_cast<double>(i[0]);
  return i[1] != 0 ? std::floor(ratio) : ratio;
}

double noam(Floats f, Ints i, double step) {
  const auto warmup = static_cast<double>(i[1]);
  const double falling = step > 0 ? std::pow(step, -0.5) : 1.0;
  return f[0] * std::pow(static_cast<double>(i[0]), -0.5) * std::min(falling, std::pow(warmup, -1.5) * step);
}

double exponential(Floats f, Ints i, double step) { return f[0] * std::pow(f[1], periods(i, step)); }
double natural_exp(Floats f, Ints i, double step) { return f[0] * std::exp(-f[1] * periods(i, step)); }
double inverse_time(Floats f, Ints i, double step) { return f[0] / (1 + f[1] * periods(i, step)); }

// Floats: rate, end, power. Ints: decay_steps, cycle.
double polynomial(Floats f, Ints i, double step) {
  auto length = static_cast<double>(i[0]);
  if (i[1] != 0) {
    length *= step == 0 ? 1 : std::ceil(step / length);
  } else {
    step = std::min(step, length);
  }
  return (f[0] - f[1]) * std::pow(1 - step / length, f[2]) + f[1];
}

// Floats are the values, ints the boundaries between them.
double piecewise(Floats f, Ints i, double step) {
  return f[static_cast<size_t>(std::ranges::count_if(i, [&](int64_t b) { return static_cast<double>(b) <= step; }))];
}

// Ints: step_each_epoch, epochs.
double cosine(Floats f, Ints i, double step) {
  const double epoch = std::floor(step / static_cast<double>(i[0]));
  return f[0] * 0.5 * (std::cos(epoch * std::numbers::pi / static_cast<double>(i[1])) + 1);
}

// Floats: rate, eta_min. Ints: T_max.
double cosine_annealing(Floats f, Ints i, double step) {
  return f[1] + (f[0] - f[1]) * (1 + std::cos(std::numbers::pi * step / static_cast<double>(i[0]))) / 2;
}

// Floats: rate, gamma. Ints are the milestones.
double multi_step(Floats f, Ints i, double step) {
  return f[0] * std::pow(f[1], std::ranges::count_if(i, [&](int64_t m) { return static_cast<double>(m) <= step; }));
}

const char* wrong_noam(Floats, Ints i) { return i[0] > 0 && i[1] > 0 ? nullptr : "d_model and warmup_steps must be positive"; }
const char* wrong_cosine(Floats, Ints i) {
  return i[0] > 0 && i[1] > 0 ? nullptr : "step_each_epoch and epochs must be positive";
}
const char* wrong_milestones(Floats, Ints i) { return std::ranges::is_sorted(i) ? nullptr : "its milestones do not ascend"; }
const char* wrong_pieces(Floats f, Ints i) {
  if (f.size() != i.size() + 1) return "piecewise needs one value more than boundaries";
  return std::ranges::is_sorted(i) ? nullptr : "its boundaries do not ascend";
}

// Floats: start_lr, end_lr. Ints: warmup_steps, whether the inner schedule starts after the warm-up.
double warmup(Floats f, Ints i, double step) { return f[0] + (f[1] - f[0]) * (step / static_cast<double>(i[0])); }

constexpr std::string_view kWarmup = "linear_warmup";

constexpr Kind kKinds[] = {
    {"constant", 1, 0, no_objection, [](Floats f, Ints, double) -> double { return f[0]; }},
    {"noam", 1, 3, wrong_noam, noam},  // ints: d_model, warmup_steps, the first step's number
    {"exponential", 2, 2, first_int_is_positive, exponential},
    {"natural_exp", 2, 2, first_int_is_positive, natural_exp},
    {"inverse_time", 2, 2, first_int_is_positive, inverse_time},
    {"polynomial", 3, 2, first_int_is_positive, polynomial},
    {"piecewise", kMany, kMany, wrong_pieces, piecewise},
    {"cosine", 1, 2, wrong_cosine, cosine},
    {"cosine_annealing", 2, 1, first_int_is_positive, cosine_annealing},
    {"multi_step", 2, kMany, wrong_milestones, multi_step},
    {kWarmup, 2, 2, first_int_is_positive, warmup},
};

// One schedule of a chain, with its own numbers.
struct Link {
  const Kind* kind;
  Floats floats;
  Ints ints;
};

Status unknown_kind(std::string_view name) {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  const auto meant = nearest_name(name, names);
  return Status::invalid_argument("no learning-rate schedule is named '{}'; {}", name,
                                  meant ? fmt::format("did you mean '{}'?", *meant) : "there are: " + join(names, ", "));
}

// Takes the first `count` numbers off `rest`, or all of them; nullopt where there are too few.
template <typename Numbers>
std::optional<Numbers> take(Numbers& rest, size_t count) {
  if (count == kMany) return std::exchange(rest, {});
  if (count > rest.size()) return std::nullopt;
  const Numbers taken = rest.first(count);
  rest = rest.subspan(count);
  return taken;
}

Result<std::vector<Link>> read_chain(const Schedule& schedule) {
  std::vector<Link> chain;
  Floats floats = schedule.floats;
  Ints ints = schedule.ints;
  for (const std::string& name : split(schedule.kind, '/')) {
    const auto kind = std::ranges::find(kKinds, name, &Kind::name);
    if (kind == std::end(kKinds)) return unknown_kind(name);
    const auto own_floats = take(floats, kind->floats);
    const auto own_ints = take(ints, kind->ints);
    if (!own_floats || !own_ints) {
      return Status::invalid_argument("learning-rate schedule '{}' has {} floats and {} ints, too few for its '{}'",
                                      schedule.kind, schedule.floats.size(), schedule.ints.size(), name);
    }
    chain.push_back({kind, *own_floats, *own_ints});
  }
  if (chain.empty()) return unknown_kind("");
  if (!floats.empty() || !ints.empty()) {
    return Status::invalid_argument("learning-rate schedule '{}' has {} floats and {} ints too many", schedule.kind,
                                    floats.size(), ints.size());
  }
  return chain;
}

Result<std::vector<Link>> checked_chain(const Schedule& schedule) {
  ASSIGN_OR_RETURN(std::vector<Link> chain, read_chain(schedule));
  for (const Link& link : chain) {
    if ((link.kind->name == kWarmup) == (&link == &chain.back())) {
      return Status::invalid_argument("learning-rate schedule '{}': {} contains another schedule, and only it does",
                                      schedule.kind, kWarmup);
    }
    if (const char* wrong = link.kind->wrong(link.floats, link.ints)) {
      return Status::invalid_argument("learning-rate schedule '{}': {}", schedule.kind, wrong);
    }
  }
  if (!std::ranges::all_of(schedule.floats, [](float f) { return std::isfinite(f); })) {
    return Status::invalid_argument("learning-rate schedule '{}' has a number that is not finite", schedule.kind);
  }
  return chain;
}

double evaluate(std::span<const Link> chain, double step) {
  const Link& outer = chain.front();
  if (outer.kind->name != kWarmup || step < static_cast<double>(outer.ints[0])) {
    return outer.kind->value(outer.floats, outer.ints, step);
  }
  return evaluate(chain.subspan(1), outer.ints[1] != 0 ? step - static_cast<double>(outer.ints[0]) : step);
}

// The number of the first step. All schedules of a chain share one counter, and noam says where it starts.
double first_step(const Link& innermost) { return innermost.kind->name == "noam" ? static_cast<double>(innermost.ints[2]) : 0; }

Schedule period_schedule(std::string kind, double learning_rate, double decay_rate, int64_t decay_steps, bool staircase) {
  return {std::move(kind), {static_cast<float>(learning_rate), static_cast<float>(decay_rate)}, {decay_steps, staircase}};
}

Schedule warmed_up(const LearningRate& inner, int64_t warmup_steps, double start_lr, double end_lr, bool starts_after) {
  const Schedule rest = inner.to_schedule();
  Schedule all{std::string(kWarmup) + "/" + rest.kind,
               {static_cast<float>(start_lr), static_cast<float>(end_lr)},
               {warmup_steps, starts_after}};
  all.floats.insert(all.floats.end(), rest.floats.begin(), rest.floats.end());
  all.ints.insert(all.ints.end(), rest.ints.begin(), rest.ints.end());
  return all;
}

}  // namespace

Status Schedule::check() const { return checked_chain(*this).status(); }

float Schedule::value(int64_t step) const {
  const auto chain = checked_chain(*this);
  ARGOSY_CHECK(chain.ok(), chain.status().message());
  return static_cast<float>(evaluate(*chain, static_cast<double>(step) + first_step(chain->back())));
}

Schedule LearningRate::to_schedule() const {
  if (const Schedule* given = schedule()) return *given;
  return {"constant", {std::get<float>(rate_)}, {}};
}

Schedule noam_decay(int64_t d_model, int64_t warmup_steps, double learning_rate) {
  return {"noam", {static_cast<float>(learning_rate)}, {d_model, warmup_steps, 1}};
}

Schedule exponential_decay(double learning_rate, int64_t decay_steps, double decay_rate, bool staircase) {
  return period_schedule("exponential", learning_rate, decay_rate, decay_steps, staircase);
}

Schedule natural_exp_decay(double learning_rate, int64_t decay_steps, double decay_rate, bool staircase) {
  return period_schedule("natural_exp", learning_rate, decay_rate, decay_steps, staircase);
}

Schedule inverse_time_decay(double learning_rate, int64_t decay_steps, double decay_rate, bool staircase) {
  return period_schedule("inverse_time", learning_rate, decay_rate, decay_steps, staircase);
}

Schedule polynomial_decay(double learning_rate, int64_t decay_steps, double end_learning_rate, double power, bool cycle) {
  return {"polynomial",
          {static_cast<float>(learning_rate), static_cast<float>(end_learning_rate), static_cast<float>(power)},
          {decay_steps, cycle}};
}

Schedule piecewise_decay(const std::vector<int64_t>& boundaries, const std::vector<double>& values) {
  return {"piecewise", std::vector<float>(values.begin(), values.end()), boundaries};
}

Schedule cosine_decay(double learning_rate, int64_t step_each_epoch, int64_t epochs) {
  return {"cosine", {static_cast<float>(learning_rate)}, {step_each_epoch, epochs}};
}

Schedule linear_lr_warmup(const LearningRate& learning_rate, int64_t warmup_steps, double start_lr, double end_lr) {
  return warmed_up(learning_rate, warmup_steps, start_lr, end_lr, false);
}

namespace lr {

NoamDecay::operator LearningRate() const {
  return Schedule{"noam", {static_cast<float>(learning_rate)}, {d_model, warmup_steps, 0}};
}
ExponentialDecay::operator LearningRate() const { return exponential_decay(learning_rate, 1, gamma); }
NaturalExpDecay::operator LearningRate() const { return natural_exp_decay(learning_rate, 1, gamma); }
InverseTimeDecay::operator LearningRate() const { return inverse_time_decay(learning_rate, 1, gamma); }
PolynomialDecay::operator LearningRate() const { return polynomial_decay(learning_rate, decay_steps, end_lr, power, cycle); }
PiecewiseDecay::operator LearningRate() const { return piecewise_decay(boundaries, values); }
CosineAnnealingDecay::operator LearningRate() const {
  return Schedule{"cosine_annealing", {static_cast<float>(learning_rate), static_cast<float>(eta_min)}, {T_max}};
}
StepDecay::operator LearningRate() const { return exponential_decay(learning_rate, step_size, gamma, /*staircase=*/true); }
MultiStepDecay::operator LearningRate() const {
  return Schedule{"multi_step", {static_cast<float>(learning_rate), static_cast<float>(gamma)}, milestones};
}
LinearWarmup::operator LearningRate() const { return warmed_up(learning_rate, warmup_steps, start_lr, end_lr, true); }

}  // namespace lr
}  // namespace argosy::optim
