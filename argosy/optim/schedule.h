#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "argosy/base/status.h"

// Learning-rate schedules: the rate as a function of the number of steps taken so far.
namespace argosy::optim {

// A schedule as it stands in a Program: the attributes of an op `learning_rate_schedule`. Make one with the functions or the
// structs below. `kind` is a name such as "exponential", or, where one schedule contains another, the names from the outside
// in ("linear_warmup/exponential"); the numbers follow in the same order.
//
// Thread-compatible; value() is a pure function.
struct Schedule {
  std::string kind;
  std::vector<float> floats;
  std::vector<int64_t> ints;

  // Whether kind is known, has its numbers, and they are usable. Code that reads a schedule from outside calls it once.
  Status check() const;

  // The rate of the step that `step` steps came before; 0 is the first. Computed in float64. REQUIRES: check() is ok.
  float value(int64_t step) const;

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

// A number, or a schedule.
class LearningRate {
 public:
  LearningRate(double rate) : rate_(static_cast<float>(rate)) {}
  LearningRate(Schedule schedule) : rate_(std::move(schedule)) {}

  const Schedule* schedule() const { return std::get_if<Schedule>(&rate_); }  // null: a number
  float value(int64_t step) const { return schedule() ? schedule()->value(step) : std::get<float>(rate_); }
  // The same as a schedule; a number has the kind "constant".
  Schedule to_schedule() const;

  friend bool operator==(const LearningRate&, const LearningRate&) = default;

 private:
  std::variant<float, Schedule> rate_;
};

// fluid.layers' schedules, with its names, arguments and meaning.
Schedule noam_decay(int64_t d_model, int64_t warmup_steps, double learning_rate = 1.0);  // counts from 1
Schedule exponential_decay(double learning_rate, int64_t decay_steps, double decay_rate, bool staircase = false);
Schedule natural_exp_decay(double learning_rate, int64_t decay_steps, double decay_rate, bool staircase = false);
Schedule inverse_time_decay(double learning_rate, int64_t decay_steps, double decay_rate, bool staircase = false);
Schedule polynomial_decay(double learning_rate, int64_t decay_steps, double end_learning_rate = 0.0001, double power = 1.0,
                          bool cycle = false);
Schedule piecewise_decay(const std::vector<int64_t>& boundaries, const std::vector<double>& values);
Schedule cosine_decay(double learning_rate, int64_t step_each_epoch, int64_t epochs);
// After the warm-up an inner schedule is at the step where it would be without it.
Schedule linear_lr_warmup(const LearningRate& learning_rate, int64_t warmup_steps, double start_lr, double end_lr);

// A number that a designated initialiser cannot leave out.
template <typename T>
struct Required {
  Required(T given) : value(given) {}
  operator T() const { return value; }
  T value;
};

// paddle.optimizer.lr's schedules. They count calls of step() there and steps of training here.
namespace lr {

struct NoamDecay {  // counts from 0, where the rate is 0
  Required<int64_t> d_model;
  Required<int64_t> warmup_steps;
  double learning_rate = 1.0;
  operator LearningRate() const;
};

struct ExponentialDecay {
  Required<double> learning_rate;
  Required<double> gamma;
  operator LearningRate() const;
};

struct NaturalExpDecay {
  Required<double> learning_rate;
  Required<double> gamma;
  operator LearningRate() const;
};

struct InverseTimeDecay {
  Required<double> learning_rate;
  Required<double> gamma;
  operator LearningRate() const;
};

struct PolynomialDecay {
  Required<double> learning_rate;
  Required<int64_t> decay_steps;
  double end_lr = 0.0001;
  double power = 1.0;
  bool cycle = false;
  operator LearningRate() const;
};

struct PiecewiseDecay {
  std::vector<int64_t> boundaries;
  std::vector<double> values;
  operator LearningRate() const;
};

struct CosineAnnealingDecay {
  Required<double> learning_rate;
  Required<int64_t> T_max;
  double eta_min = 0;
  operator LearningRate() const;
};

struct StepDecay {
  Required<double> learning_rate;
  Required<int64_t> step_size;
  double gamma = 0.1;
  operator LearningRate() const;
};

struct MultiStepDecay {
  Required<double> learning_rate;
  std::vector<int64_t> milestones;
  double gamma = 0.1;
  operator LearningRate() const;
};

struct LinearWarmup {  // an inner schedule starts after the warm-up
  LearningRate learning_rate;
  Required<int64_t> warmup_steps;
  Required<double> start_lr;
  Required<double> end_lr;
  operator LearningRate() const;
};

}  // namespace lr
}  // namespace argosy::optim
