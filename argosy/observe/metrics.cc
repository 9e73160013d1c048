#include "argosy/observe/metrics.h"

#include <algorithm>
#include <cmath>

#include "argosy/base/check.h"
#include "argosy/base/text.h"

namespace argosy::observe {
namespace {

constexpr std::string_view kCounter = "counter", kGauge = "gauge", kHistogram = "histogram";

std::string escaped(std::string_view text, bool quotes) {
  std::string result;
  for (const char c : text) {
    if (c == '\n')
      result += "\\n";
    else if (c == '\\' || (quotes && c == '"'))
      result += {'\\', c};
    else
      result += c;
  }
  return result;
}

std::string labels_text(const Labels& labels) {
  if (labels.empty()) return "";
  std::vector<std::string> parts;
  for (const auto& [name, value] : labels) parts.push_back(fmt::format("{}=\"{}\"", name, escaped(value, true)));
  return fmt::format("{{{}}}", join(parts, ","));
}

// One more label in a text of labels.
std::string with_label(const std::string& labels, std::string_view name, std::string_view value) {
  const std::string more = fmt::format("{}=\"{}\"", name, value);
  return labels.empty() ? fmt::format("{{{}}}", more) : labels.substr(0, labels.size() - 1) + "," + more + "}";
}

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

Labels all_other(Labels labels) {
  for (auto& [name, value] : labels) value = "other";
  return labels;
}

}  // namespace

Histogram::Histogram(std::vector<double> bounds) : bounds_(std::move(bounds)), buckets_(bounds_.size() + 1) {
  ARGOSY_CHECK(std::is_sorted(bounds_.begin(), bounds_.end()), "ascending bounds");
}

void Histogram::observe(double value) {
  const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  buckets_[static_cast<size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

Histogram::Counts Histogram::counts() const {
  Counts counts{.cumulative = {}, .sum = sum_.load(std::memory_order_relaxed)};
  uint64_t all = 0;
  for (const auto& bucket : buckets_) counts.cumulative.push_back(all += bucket.load(std::memory_order_relaxed));
  return counts;
}

std::vector<double> seconds_bounds() {
  return {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 100};
}

std::string_view Sample::label(std::string_view label_name) const {
  for (const auto& [found, text] : labels) {
    if (found == label_name) return text;
  }
  return {};
}

void Readings::add(std::string_view type, std::string_view name, std::string_view help, Labels labels, double value) {
  Row& row = rows_.try_emplace(std::string(name), Row{.type = type, .help = help, .lines = {}}).first->second;
  if (row.lines.size() >= Registry::kMostSeries) {
    if (row.lines.size() > Registry::kMostSeries) return;
    labels = all_other(std::move(labels));
  }
  row.lines.emplace_back(labels_text(labels), number_text(value));
}

void Readings::counter(std::string_view name, std::string_view help, double value, Labels labels) {
  add(kCounter, name, help, std::move(labels), value);
}

void Readings::gauge(std::string_view name, std::string_view help, double value, Labels labels) {
  add(kGauge, name, help, std::move(labels), value);
}

// Leaked on purpose: threads may count while static objects are destroyed.
Registry& Registry::process() {
  static Registry& instance = *new Registry;
  return instance;
}

Registry::Series& Registry::series_of(std::string_view type, std::string_view name, std::string_view help, const Labels& labels) {
  Family& family = families_.try_emplace(std::string(name), Family{.type = type, .help = help, .series = {}}).first->second;
  ARGOSY_CHECK(family.type == type, "a metric has one type");
  const std::string key = labels_text(labels);
  if (!family.series.contains(key) && family.series.size() >= kMostSeries) return family.series[labels_text(all_other(labels))];
  return family.series[key];
}

Counter& Registry::counter(std::string_view name, std::string_view help, const Labels& labels) {
  MutexLock lock(mutex_);
  Series& series = series_of(kCounter, name, help, labels);
  if (series.counter == nullptr) series.counter = std::make_unique<Counter>();
  return *series.counter;
}

Gauge& Registry::gauge(std::string_view name, std::string_view help, const Labels& labels) {
  MutexLock lock(mutex_);
  Series& series = series_of(kGauge, name, help, labels);
  if (series.gauge == nullptr) series.gauge = std::make_unique<Gauge>();
  return *series.gauge;
}

Histogram& Registry::histogram(std::string_view name, std::string_view help, std::vector<double> bounds, const Labels& labels) {
  MutexLock lock(mutex_);
  Series& series = series_of(kHistogram, name, help, labels);
  if (series.histogram == nullptr) series.histogram = std::make_unique<Histogram>(std::move(bounds));
  return *series.histogram;
}

Registry::Collection& Registry::Collection::operator=(Collection&& other) noexcept {
  end();
  registry_ = std::exchange(other.registry_, nullptr);
  id_ = other.id_;
  return *this;
}

void Registry::Collection::end() {
  if (registry_ == nullptr) return;
  MutexLock lock(registry_->collectors_mutex_);
  registry_->collectors_.erase(id_);
  registry_ = nullptr;
}

Registry::Collection Registry::collect(Collector collector) {
  MutexLock lock(collectors_mutex_);
  collectors_.emplace(next_id_, std::move(collector));
  return Collection(*this, next_id_++);
}

void Registry::read_histogram(Readings& readings, std::string_view name, const Family& family, const std::string& labels,
                              const Histogram& histogram) {
  const Histogram::Counts counts = histogram.counts();
  Readings::Row& row = readings.rows_.try_emplace(std::string(name), Readings::Row{family.type, family.help, {}}).first->second;
  for (size_t i = 0; i < counts.cumulative.size(); ++i) {
    const std::string bound = i < histogram.bounds().size() ? number_text(histogram.bounds()[i]) : "+Inf";
    row.lines.emplace_back("_bucket" + with_label(labels, "le", bound), std::to_string(counts.cumulative[i]));
  }
  row.lines.emplace_back("_sum" + labels, number_text(counts.sum));
  row.lines.emplace_back("_count" + labels, std::to_string(counts.cumulative.back()));
}

Readings Registry::read() const {
  Readings readings;
  {
    MutexLock lock(collectors_mutex_);
    for (const auto& [id, collector] : collectors_) collector(readings);
  }
  MutexLock lock(mutex_);
  for (const auto& [name, family] : families_) {
    Readings::Row& row = readings.rows_.try_emplace(name, Readings::Row{family.type, family.help, {}}).first->second;
    for (const auto& [labels, series] : family.series) {
      if (series.counter) row.lines.emplace_back(labels, number_text(series.counter->value()));
      if (series.gauge) row.lines.emplace_back(labels, number_text(series.gauge->value()));
      if (series.histogram) read_histogram(readings, name, family, labels, *series.histogram);
    }
  }
  return readings;
}

std::string Registry::text() const {
  const Readings readings = read();
  std::string text;
  for (const auto& [name, row] : readings.rows_) {
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, escaped(row.help, false), row.type);
    for (const auto& [labels, value] : row.lines) text += fmt::format("{}{} {}\n", name, labels, value);
  }
  return text;
}

std::string Registry::brief() const {
  const Readings readings = read();
  std::string text;
  for (const auto& [name, row] : readings.rows_) {
    for (const auto& [labels, value] : row.lines) text += fmt::format("{}{} {}\n", name, labels, value);
  }
  return text;
}

}  // namespace argosy::observe
