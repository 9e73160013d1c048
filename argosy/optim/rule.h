#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/status.h"

// The update rules: what an optimizer does to a parameter, its gradient and its state. Each rule is defined once, here; the
// Program's optimizer ops, the engine's kernel and the servers' tables all come from these definitions.
namespace argosy::optim {

// One piece of a rule's memory: an accumulator of the parameter's shape, or one number for the whole parameter.
struct StateSlot {
  enum Shape { element, scalar };

  std::string_view op_slot;    // the op's input, "Moment1"
  std::string_view op_output;  // the op's output for the new value, "Moment1Out", the same variable; empty: the op leaves it
  std::string_view suffix;     // "moment1" makes the variable fc_0.w_0_moment1_0
  Shape shape = element;
  float initial = 0;
  std::string_view initial_from = {};  // the hyper-parameter that is the initial value instead; empty: `initial` is
};

struct HyperParameter {
  enum Kind { number, boolean };

  std::string_view name;  // of the op's attribute, "beta1"
  float default_value = 0;
  Kind kind = number;
  bool is_attribute = true;  // false: not written into the op, which has the default
};

// What the rest of the project needs to know of a rule to make its op and its variables.
struct RuleInfo {
  std::string_view op_type;  // "adam"
  std::span<const HyperParameter> hyper_parameters;
  std::span<const StateSlot> states;
  bool uses_learning_rate = true;  // false: the op has no LearningRate input (adadelta), unless `rate_switch` is on
  bool elementwise = true;         // false: the update of an element depends on the others of the same call (lamb)
  std::string_view rate_switch = {};  // the boolean hyper-parameter that lets a rule use a learning rate that it would not
};

// The rule of batch_norm's running statistics on parameter servers: p = momentum p + (1 - momentum) g, where g is the batch's.
inline constexpr std::string_view kRunningMean = "running_mean";

// Every rule, in a fixed order.
std::span<const RuleInfo> all_rules();

// The description of `op_type`; an unknown one is not_found and names the nearest.
Result<const RuleInfo*> find_rule(std::string_view op_type);

// Values by attribute name; a boolean is 0 or 1. What is left out has its default.
using HyperParameters = std::map<std::string, float, std::less<>>;

// The constants of one step, from begin_step() to the apply() calls of the same rule. Copyable; holds no pointers.
struct Step {
  alignas(8) std::array<std::byte, 48> constants;
};

// Rows of arrays that share one geometry: row r of an array starts at base + r * stride. Separate arrays have
// stride == width; where a row and its state lie together, the bases differ by the offsets inside it.
struct Rows {
  float* param = nullptr;
  float* const* element_states = nullptr;  // as for Rule::apply
  size_t width = 0;
  size_t stride = 0;
  std::span<const int64_t> index;
  const float* grad = nullptr;  // index.size() rows of `width`, one after the other
};

inline constexpr size_t kMaxElementStates = 3;

// The numbers of a step whose formula is Adam's:
//   m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g g,  p = keep p - rate m / (root(v) + epsilon)
struct AdamStep {
  float rate, beta1, beta2, epsilon, keep;
};

class Array;  // array.h

// An update rule with its hyper-parameters. A step has two phases, so that what is common to all elements is computed once:
//
//   Step step = rule.begin_step(rate, scalars);           // once per parameter and step
//   rule.apply(step, param, grad, states, n);             // all of it, or any part of it, in any order
//
// Arithmetic is in float32 and gives the same bits on every machine and however a parameter is cut into calls (for rules
// with info().elementwise).
//
// Immutable, so safe to share between threads; the memory that is passed in is the caller's to guard.
class Rule {
 public:
  virtual ~Rule() = default;
  Rule(const Rule&) = delete;
  Rule& operator=(const Rule&) = delete;

  const RuleInfo& info() const { return info_; }
  // Whether begin_step() reads its learning rate, by info() and the hyper-parameters.
  bool uses_learning_rate() const;
  // info().states with every initial value settled by the hyper-parameters.
  std::span<const StateSlot> states() const { return states_; }
  size_t element_states() const { return element_states_; }
  size_t scalar_states() const { return states_.size() - element_states_; }
  // What begin_step()'s `scalars` hold before the first step.
  std::vector<float> initial_scalars() const;

  // Reads the scalar states and advances them, e.g. the powers of beta. REQUIRES: scalars.size() == scalar_states(), in the
  // order of states().
  virtual Step begin_step(float learning_rate, std::span<float> scalars) const = 0;

  // Updates n elements. element_states[k] is the k-th element slot in the order of states(). REQUIRES: no two arrays overlap.
  virtual void apply(const Step& step, float* param, const float* grad, float* const* element_states, size_t n) const = 0;

  // Updates the rows, each as apply() would, with the memory of later rows on its way while a row is computed. REQUIRES:
  // the indices are unique and inside the arrays; arrays may interleave (stride > width) but no two rows overlap.
  virtual void apply_rows(const Step& step, const Rows& rows) const = 0;

  // Updates whole arrays by the same formula: each becomes another value. `states` as element_states above. Rounding may differ
  // from the spans' by what the arrays' owner does differently (a fused product and sum, another order of a norm's sum).
  virtual void apply(const Step& step, Array& param, const Array& grad, std::span<Array> states) const = 0;

  // The step in numbers where its formula is Adam's, states in its order: for those that have a kernel of it.
  virtual std::optional<AdamStep> as_adam(const Step&) const { return std::nullopt; }

  // Both phases on arrays: the rate and the scalar states, which advance, are arrays of one number too, so that nobody need know
  // them here. That is what lets a device repeat a step by itself.
  virtual void step(const Array& rate, std::span<Array> scalars, Array& param, const Array& grad,
                    std::span<Array> states) const = 0;

 protected:
  Rule(const RuleInfo& info, std::vector<float> hyper_parameters);

  // The values, in the order of info().hyper_parameters.
  std::span<const float> hyper() const { return hyper_; }

 private:
  const RuleInfo& info_;
  std::vector<float> hyper_;
  std::vector<StateSlot> states_;
  size_t element_states_ = 0;
};

// An unknown rule or hyper-parameter, a value that is not finite, or a boolean that is neither 0 nor 1 is an error that names
// it and, where one is near, the name that was meant.
Result<std::unique_ptr<Rule>> make_rule(std::string_view op_type, const HyperParameters& hyper_parameters = {});

}  // namespace argosy::optim
