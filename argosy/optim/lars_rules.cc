#include <cmath>

#include "argosy/optim/kernel_rule.h"

namespace argosy::optim::internal {
namespace {

constexpr HyperParameter kHyper[] = {{"mu", 0.9f}, {"lars_coeff", 0.001f}, {"lars_weight_decay", 0.0005f}, {"epsilon", 0}};
constexpr StateSlot kSlots[] = {{"Velocity", "VelocityOut", "velocity"}};

// As in Paddle: the rate is scaled to the parameter's own norm where there is weight decay, and is taken as given without.
template <typename C>
struct Lars {
  C rate;
  float mu, coefficient, weight_decay, epsilon;

  static Lars begin(std::span<const float> hyper, const C& rate, std::span<C>) {
    return {rate, hyper[0], hyper[1], hyper[2], hyper[3]};
  }

  // Of the rate, by the norms of the parameter and of its gradient; 1 where one of them is 0.
  template <typename T>
  T share(const T& param, const T& grad) const {
    return ratio(mask_above(grad, 0, coefficient * param), grad + weight_decay * param + epsilon);
  }

  template <typename R, typename T>
  void move(const R& own_rate, T& p, const T& g, T& velocity) const {
    velocity = mu * velocity + own_rate * (g + weight_decay * p);
    p -= velocity;
  }
};

// Sums are kept by lane, so that they do not depend on how wide the processor's vectors are.
ARGOSY_SIMD_CLONES double squared_norm(const float* __restrict values, size_t n) {
  constexpr size_t kLanes = 16;
  double sums[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] += static_cast<double>(values[i + lane]) * values[i + lane];
  }
  for (size_t lane = 0; i < n; ++i, ++lane) sums[lane] += static_cast<double>(values[i]) * values[i];
  double sum = 0;
  for (const double one : sums) sum += one;
  return sum;
}

ARGOSY_SIMD_CLONES void move_all(Lars<float> k, float own_rate, float* __restrict p, const float* __restrict g,
                                 float* __restrict velocity, size_t n) {
  for (size_t i = 0; i < n; ++i) k.move(own_rate, p[i], g[i], velocity[i]);
}

// One share of the rate for all elements of a call.
class LarsRule final : public Rule {
 public:
  LarsRule(const RuleInfo& info, std::vector<float> hyper) : Rule(info, std::move(hyper)) {}

  static std::unique_ptr<Rule> make(const RuleInfo& info, std::vector<float> hyper) {
    return std::make_unique<LarsRule>(info, std::move(hyper));
  }

  Step begin_step(float learning_rate, std::span<float> scalars) const override {
    return pack(Lars<float>::begin(hyper(), learning_rate, scalars));
  }

  void apply(const Step& step, float* param, const float* grad, float* const* states, size_t n) const override {
    update(unpack<Lars<float>>(step), param, grad, states[0], n);
  }

  void apply_rows(const Step& step, const Rows& rows) const override {
    const Lars<float> k = unpack<Lars<float>>(step);
    for (size_t i = 0; i < rows.index.size(); ++i) {
      const size_t at = static_cast<size_t>(rows.index[i]) * rows.stride;
      update(k, rows.param + at, rows.grad + i * rows.width, rows.element_states[0] + at, rows.width);
    }
  }

  void apply(const Step& step, Array& param, const Array& grad, std::span<Array> states) const override {
    move_arrays(unpack<Lars<float>>(step), param, grad, states);
  }

  void step(const Array& rate, std::span<Array> scalars, Array& param, const Array& grad,
            std::span<Array> states) const override {
    move_arrays(Lars<Array>::begin(hyper(), rate, scalars), param, grad, states);
  }

 private:
  template <typename C>
  static void move_arrays(const Lars<C>& k, Array& param, const Array& grad, std::span<Array> states) {
    if (k.weight_decay > 0) {
      k.move(k.rate * k.share(norm(param), norm(grad)), param, grad, states[0]);
    } else {
      k.move(k.rate, param, grad, states[0]);
    }
  }

  static void update(const Lars<float>& k, float* param, const float* grad, float* velocity, size_t n) {
    float own_rate = k.rate;
    if (k.weight_decay > 0) {
      own_rate *=
          k.share(static_cast<float>(std::sqrt(squared_norm(param, n))), static_cast<float>(std::sqrt(squared_norm(grad, n))));
    }
    move_all(k, own_rate, param, grad, velocity, n);
  }
};

}  // namespace

std::span<const RuleEntry> lars_rules() {
  static const RuleEntry rules[] = {
      {{.op_type = "lars_momentum", .hyper_parameters = kHyper, .states = kSlots, .elementwise = false}, LarsRule::make},
  };
  return rules;
}

}  // namespace argosy::optim::internal
