#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/base/status.h"

namespace argosy::observe {

// What a process tells of itself in numbers, by Prometheus' conventions: names in snake_case with the unit last, counters end in
// _total, seconds and bytes and never their multiples.

using Labels = std::vector<std::pair<std::string, std::string>>;  // (name, value), in the order in which they are shown

// Only grows. Thread-safe, without a lock.
class Counter {
 public:
  void add(double by = 1) { value_.fetch_add(by, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

// What it is now. Thread-safe, without a lock.
class Gauge {
 public:
  void set(double value) { value_.store(value, std::memory_order_relaxed); }
  void add(double by) { value_.fetch_add(by, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

// How often values of which size came: one count per bound (values up to it), and their sum. Thread-safe, without a lock.
class Histogram {
 public:
  explicit Histogram(std::vector<double> bounds);  // REQUIRES: ascending

  void observe(double value);

  struct Counts {
    std::vector<uint64_t> cumulative;  // per bound, and at last of all values
    double sum = 0;
  };
  Counts counts() const;
  const std::vector<double>& bounds() const { return bounds_; }

 private:
  const std::vector<double> bounds_;
  std::vector<std::atomic<uint64_t>> buckets_;  // one more than bounds
  std::atomic<double> sum_{0};
};

// Bounds of a histogram of seconds, from 0.1 ms to 100 s.
std::vector<double> seconds_bounds();

// One line of the text format: a name, its labels, its value.
struct Sample {
  std::string name;
  Labels labels;
  double value = 0;

  std::string_view label(std::string_view label_name) const;  // empty where it has none of that name
};

// What a collector tells at the moment of a reading.
class Readings {
 public:
  void counter(std::string_view name, std::string_view help, double value, Labels labels = {});
  void gauge(std::string_view name, std::string_view help, double value, Labels labels = {});

 private:
  friend class Registry;
  struct Row {
    std::string_view type, help;
    std::vector<std::pair<std::string, std::string>> lines;  // (what follows the name, value)
  };
  void add(std::string_view type, std::string_view name, std::string_view help, Labels labels, double value);
  std::map<std::string, Row, std::less<>> rows_;
};

// All numbers of a process. A family of one name has at most kMostSeries combinations of labels: further ones share one series
// whose labels are all "other", so that no caller can make a process, or who stores its numbers, grow without bound.
//
// Thread-safe. Metrics live as long as the registry. Names and help texts are literals of the program.
class Registry {
 public:
  static constexpr size_t kMostSeries = 256;

  Registry() = default;
  Registry(const Registry&) = delete;

  // That of this process, which lives until its end.
  static Registry& process();

  // The metric of this name and these labels, made on first use. REQUIRES: a name has one type.
  Counter& counter(std::string_view name, std::string_view help, const Labels& labels = {});
  Gauge& gauge(std::string_view name, std::string_view help, const Labels& labels = {});
  Histogram& histogram(std::string_view name, std::string_view help, std::vector<double> bounds, const Labels& labels = {});

  // Called at each reading, by the thread that reads, until the handle is gone; its destructor waits for a call under way.
  using Collector = std::function<void(Readings&)>;
  class [[nodiscard]] Collection {
   public:
    Collection() = default;
    Collection(Registry& registry, uint64_t id) : registry_(&registry), id_(id) {}
    Collection(Collection&& other) noexcept : registry_(std::exchange(other.registry_, nullptr)), id_(other.id_) {}
    Collection& operator=(Collection&& other) noexcept;
    ~Collection() { end(); }
    void end();  // safe to call twice

   private:
    Registry* registry_ = nullptr;
    uint64_t id_ = 0;
  };
  Collection collect(Collector collector);

  // Everything, in Prometheus' text format 0.0.4, in the order of the names.
  std::string text() const;
  // The same for who knows what it means: without comments.
  std::string brief() const;

 private:
  struct Series {
    std::unique_ptr<Counter> counter;
    std::unique_ptr<Gauge> gauge;
    std::unique_ptr<Histogram> histogram;
  };
  struct Family {
    std::string_view type, help;
    std::map<std::string, Series> series;  // by the labels as text
  };
  Series& series_of(std::string_view type, std::string_view name, std::string_view help, const Labels& labels)
      ARGOSY_REQUIRES(mutex_);
  Readings read() const;
  static void read_histogram(Readings& readings, std::string_view name, const Family& family, const std::string& labels,
                             const Histogram& histogram);

  mutable Mutex mutex_;
  std::map<std::string, Family, std::less<>> families_ ARGOSY_GUARDED_BY(mutex_);
  mutable Mutex collectors_mutex_;  // held while they are called
  std::map<uint64_t, Collector> collectors_ ARGOSY_GUARDED_BY(collectors_mutex_);
  uint64_t next_id_ ARGOSY_GUARDED_BY(collectors_mutex_) = 1;
};

// The samples of a text in that format; comments are left out. An error names the line.
Result<std::vector<Sample>> parse_samples(std::string_view text);

}  // namespace argosy::observe
