#include "argosy/engine/train/evaluation_metrics.h"

#include <algorithm>
#include <cmath>

#include "argosy/base/mutex.h"

namespace argosy::engine {
namespace {

double ratio(int64_t part, int64_t rest) {
  return part + rest == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(part + rest);
}

bool predicts_positive(float prediction) { return std::rint(prediction) == 1.0f; }

std::vector<int64_t> snapshot(const std::vector<std::atomic<int64_t>>& counts) { return {counts.begin(), counts.end()}; }

}  // namespace

AucMetric::AucMetric(int num_thresholds) : positive_(static_cast<size_t>(num_thresholds) + 1), negative_(positive_.size()) {}

Status AucMetric::update(std::span<const float> predictions, std::span<const int64_t> labels) {
  const auto wrong = std::find_if(predictions.begin(), predictions.end(), [](float p) { return !(p >= 0.0f && p <= 1.0f); });
  if (wrong != predictions.end()) {
    return Status::invalid_argument("AUC: prediction {} is {}, expected a probability from 0 to 1", wrong - predictions.begin(),
                                    *wrong);
  }
  const auto last = static_cast<double>(positive_.size() - 1);
  for (size_t i = 0; i < predictions.size(); ++i) {
    const auto bucket = static_cast<size_t>(static_cast<double>(predictions[i]) * last);
    (labels[i] != 0 ? positive_ : negative_)[bucket].fetch_add(1, std::memory_order_relaxed);
  }
  return {};
}

double AucMetric::value() const { return auc_of_counts(snapshot(positive_), snapshot(negative_)); }

void AucMetric::reset() {
  for (auto* counts : {&positive_, &negative_}) {
    for (auto& count : *counts) count = 0;
  }
}

double auc_of_counts(std::span<const int64_t> positive, std::span<const int64_t> negative) {
  double area = 0, positives = 0, negatives = 0;
  for (size_t i = positive.size(); i-- > 0;) {
    const double more_positives = positives + static_cast<double>(positive[i]);
    const double more_negatives = negatives + static_cast<double>(negative[i]);
    area += (more_negatives - negatives) * (positives + more_positives) / 2;
    positives = more_positives;
    negatives = more_negatives;
  }
  return positives > 0 && negatives > 0 ? area / positives / negatives : 0.0;
}

void PrecisionMetric::update(std::span<const float> predictions, std::span<const int64_t> labels) {
  for (size_t i = 0; i < predictions.size(); ++i) {
    if (predicts_positive(predictions[i])) ++(labels[i] == 1 ? true_positive_ : false_positive_);
  }
}

double PrecisionMetric::value() const { return ratio(true_positive_, false_positive_); }
void PrecisionMetric::reset() { true_positive_ = false_positive_ = 0; }

void RecallMetric::update(std::span<const float> predictions, std::span<const int64_t> labels) {
  for (size_t i = 0; i < predictions.size(); ++i) {
    if (labels[i] == 1) ++(predicts_positive(predictions[i]) ? true_positive_ : false_negative_);
  }
}

double RecallMetric::value() const { return ratio(true_positive_, false_negative_); }
void RecallMetric::reset() { true_positive_ = false_negative_ = 0; }

void MeanMetric::update(double value, double weight) {
  MutexLock lock(mutex_);
  sum_ += value * weight;
  weight_ += weight;
}

double MeanMetric::value() const {
  MutexLock lock(mutex_);
  return weight_ == 0 ? 0.0 : sum_ / weight_;
}

double MeanMetric::weight() const {
  MutexLock lock(mutex_);
  return weight_;
}

void MeanMetric::reset() {
  MutexLock lock(mutex_);
  sum_ = weight_ = 0;
}

void ErrorMetric::update(std::span<const float> predictions, std::span<const float> labels) {
  double absolute = 0, squared = 0;
  for (size_t i = 0; i < predictions.size(); ++i) {
    const double error = static_cast<double>(predictions[i]) - static_cast<double>(labels[i]);
    absolute += std::abs(error);
    squared += error * error;
  }
  MutexLock lock(mutex_);
  absolute_ += absolute;
  squared_ += squared;
  count_ += static_cast<int64_t>(predictions.size());
}

double ErrorMetric::mean_absolute() const {
  MutexLock lock(mutex_);
  return count_ == 0 ? 0.0 : absolute_ / static_cast<double>(count_);
}

double ErrorMetric::root_mean_squared() const {
  MutexLock lock(mutex_);
  return count_ == 0 ? 0.0 : std::sqrt(squared_ / static_cast<double>(count_));
}

int64_t ErrorMetric::count() const {
  MutexLock lock(mutex_);
  return count_;
}

void ErrorMetric::reset() {
  MutexLock lock(mutex_);
  absolute_ = squared_ = 0;
  count_ = 0;
}

}  // namespace argosy::engine
