#include <fmt/format.h>
#include <fmt/ranges.h>

#include "argosy/ps/spec/job_spec.h"

namespace argosy::ps {
namespace {

std::string text(const std::string& value) { return fmt::format("'{}'", value); }
std::string text(bool value) { return value ? "true" : "false"; }
template <typename T>
  requires std::is_arithmetic_v<T>
std::string text(T value) {
  return fmt::format("{}", value);
}
std::string text(Mode mode) { return std::string(mode_name(mode)); }
std::string text(WireFormat format) { return std::string(wire_format_name(format)); }

std::string text(const RowInitializer& init) {
  constexpr std::string_view names[] = {"constant", "uniform", "normal", "truncated_normal"};
  return fmt::format("{}({}, {}; seed {})", names[static_cast<size_t>(init.kind)], init.a, init.b, init.seed);
}

std::string text(const optim::HyperParameters& values) {
  std::string all;
  for (const auto& [name, value] : values) all += fmt::format("{}{}={}", all.empty() ? "" : ", ", name, value);
  return "{" + all + "}";
}

std::string text(const optim::Schedule& schedule) {
  return fmt::format("{}({}{}{})", schedule.kind, fmt::join(schedule.floats, ", "), schedule.ints.empty() ? "" : "; ",
                     fmt::join(schedule.ints, ", "));
}

std::string text(const std::optional<optim::Regularization>& value) {
  return value ? fmt::format("{}({})", value->kind == optim::Regularization::l1 ? "l1" : "l2", value->coeff) : "none";
}

std::string text(const std::optional<ValueClip>& value) {
  return value ? fmt::format("[{}, {}]", value->min, value->max) : "none";
}

std::string text(const Admission& a) {
  constexpr std::string_view names[] = {"all", "probability", "count", "show_click"};
  return fmt::format("{}(probability {}, count {}, score {}, seed {})", names[static_cast<size_t>(a.kind)], a.probability,
                     a.count, a.score, a.seed);
}

std::string text(const Expiry& e) {
  return fmt::format("(score {}, unseen_steps {}, ttl_seconds {})", e.score, e.unseen_steps, e.ttl_seconds);
}

std::string text(const ShowClick& s) {
  return fmt::format("(enabled {}, weights {} and {}, decay {})", s.enabled, s.non_click_weight, s.click_weight, s.decay);
}

// Collects the first difference.
class Comparison {
 public:
  Comparison(std::string_view our_name, std::string_view their_name) : our_name_(our_name), their_name_(their_name) {}

  template <typename T>
  void field(std::string_view what, const T& ours, const T& theirs) {
    if (found_ || ours == theirs) return;
    found_ = fmt::format("{}{} is {} at {} and {} at {}", where_, what, text(ours), our_name_, text(theirs), their_name_);
  }
  void set_where(std::string where) { where_ = std::move(where); }
  const std::optional<std::string>& found() const { return found_; }

 private:
  std::string_view our_name_, their_name_;
  std::string where_;
  std::optional<std::string> found_;
};

void compare(Comparison& c, const TableSpec& a, const TableSpec& b) {
  c.field("name", a.name, b.name);
  c.set_where(fmt::format("table '{}': ", a.name));
  c.field("sparse", a.sparse, b.sparse);
  c.field("size", a.size, b.size);
  c.field("width", a.width, b.width);
  c.field("declared_rows", a.declared_rows, b.declared_rows);
  c.field("initializer", a.initializer, b.initializer);
  c.field("rule", a.rule, b.rule);
  c.field("hyper_parameters", a.hyper_parameters, b.hyper_parameters);
  c.field("schedule", a.schedule, b.schedule);
  c.field("rate_factor", a.rate_factor, b.rate_factor);
  c.field("regularization", a.regularization, b.regularization);
  c.field("clip_group", a.clip_group, b.clip_group);
  c.field("value_clip", a.value_clip, b.value_clip);
  c.field("admission", a.admission, b.admission);
  c.field("expiry", a.expiry, b.expiry);
  c.field("show_click", a.show_click, b.show_click);
  c.field("geo", a.geo, b.geo);
  c.field("wire_format", a.wire_format, b.wire_format);
}

}  // namespace

std::optional<std::string> difference(const JobSpec& ours, std::string_view our_name, const JobSpec& theirs,
                                      std::string_view their_name) {
  Comparison c(our_name, their_name);
  c.field("mode", ours.mode, theirs.mode);
  c.field("the number of workers", ours.workers, theirs.workers);
  for (size_t i = 0; i < std::min(ours.tables.size(), theirs.tables.size()); ++i) {
    c.set_where(fmt::format("table {}: ", i));
    compare(c, ours.tables[i], theirs.tables[i]);
  }
  c.set_where("");
  c.field("the number of tables", ours.tables.size(), theirs.tables.size());
  return c.found();
}

}  // namespace argosy::ps
