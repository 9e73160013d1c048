#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/base/status.h"

namespace argosy::engine {

// Measures of a model over many batches. Every class is thread-safe and exact: each update counts once, from any thread.
// Predictions are probabilities of class 1 and labels are 0 or 1, unless said otherwise. REQUIRES: equal sizes in an update.

// The area under the ROC curve, from counts of positives and negatives in buckets of the prediction.
class AucMetric {
 public:
  explicit AucMetric(int num_thresholds = 4095);
  // A prediction that is not in [0, 1] is an error, and then no sample of the update counts.
  Status update(std::span<const float> predictions, std::span<const int64_t> labels);
  double value() const;  // 0 while one of the classes has not been seen
  void reset();

 private:
  std::vector<std::atomic<int64_t>> positive_, negative_;
};

// The area for counts by ascending prediction: the trapezoid rule. 0 where a class is empty.
double auc_of_counts(std::span<const int64_t> positive, std::span<const int64_t> negative);

class PrecisionMetric {
 public:
  void update(std::span<const float> predictions, std::span<const int64_t> labels);
  double value() const;  // true positives / predicted positives; 0 where nothing was predicted
  int64_t true_positives() const { return true_positive_; }
  int64_t false_positives() const { return false_positive_; }
  void reset();

 private:
  std::atomic<int64_t> true_positive_{0}, false_positive_{0};
};

class RecallMetric {
 public:
  void update(std::span<const float> predictions, std::span<const int64_t> labels);
  double value() const;  // true positives / positives; 0 where there were none
  int64_t true_positives() const { return true_positive_; }
  int64_t false_negatives() const { return false_negative_; }
  void reset();

 private:
  std::atomic<int64_t> true_positive_{0}, false_negative_{0};
};

// A mean of values with weights: the accuracy of batches of different sizes.
class MeanMetric {
 public:
  void update(double value, double weight);
  double value() const;  // 0 while the weights sum to 0
  double weight() const;
  void reset();

 private:
  mutable Mutex mutex_;
  double sum_ ARGOSY_GUARDED_BY(mutex_) = 0, weight_ ARGOSY_GUARDED_BY(mutex_) = 0;
};

// Mean absolute and root mean squared error of predictions against real-valued labels.
class ErrorMetric {
 public:
  void update(std::span<const float> predictions, std::span<const float> labels);
  double mean_absolute() const;
  double root_mean_squared() const;
  int64_t count() const;
  void reset();

 private:
  mutable Mutex mutex_;
  double absolute_ ARGOSY_GUARDED_BY(mutex_) = 0, squared_ ARGOSY_GUARDED_BY(mutex_) = 0;
  int64_t count_ ARGOSY_GUARDED_BY(mutex_) = 0;
};

}  // namespace argosy::engine
