#include <cmath>

#include "argosy/optim/kernel_rule.h"

namespace argosy::optim::internal {
namespace {

// As in Paddle 1.8: without bias_correction the moments are not corrected for their start at 0, so nothing reads the powers of
// beta, and the op does not advance them. They are there because a checkpoint has them. Paddle 2 corrects, and without
// always_adapt it takes the rate as given where there is no weight decay.
constexpr HyperParameter kHyper[] = {{"beta1", 0.9f},
                                     {"beta2", 0.999f},
                                     {"epsilon", 1e-6f},
                                     {"weight_decay", 0.01f},
                                     {"bias_correction", 0, HyperParameter::boolean},
                                     {"always_adapt", 1, HyperParameter::boolean, /*is_attribute=*/false}};
constexpr StateSlot kSlots[] = {{"Moment1", "Moment1Out", "moment1"},
                                {"Moment2", "Moment2Out", "moment2"},
                                {"Beta1Pow", "", "beta1_pow_acc", StateSlot::scalar, 0, "beta1"},
                                {"Beta2Pow", "", "beta2_pow_acc", StateSlot::scalar, 0, "beta2"}};

template <typename C>
struct Lamb {
  C rate;
  float beta1, beta2, epsilon, weight_decay;
  bool adapts;       // to the norms
  C scale1, scale2;  // of the moments

  static Lamb begin(std::span<const float> hyper, const C& rate, std::span<C> powers) {
    const bool corrects = hyper[4] != 0;
    const C scale1 = corrects ? 1.0f / (1.0f - powers[0]) : one_like(rate);
    const C scale2 = corrects ? 1.0f / (1.0f - powers[1]) : one_like(rate);
    if (corrects) {
      powers[0] = powers[0] * hyper[0];
      powers[1] = powers[1] * hyper[1];
    }
    return {rate, hyper[0], hyper[1], hyper[2], hyper[3], hyper[5] != 0 || hyper[3] != 0, scale1, scale2};
  }

  template <typename T>
  void move(const T& g, T& m, T& v) const {
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * g;
  }

  template <typename T>
  T direction(const T& p, const T& m, const T& v) const {
    return scale1 * m / (root(scale2 * v) + epsilon) + weight_decay * p;
  }
};

struct Norms {
  double param, direction;
};

// Moves the moments; the squared norms of the parameter and of the direction. Sums are kept by lane, so that they do not
// depend on how wide the processor's vectors are.
ARGOSY_SIMD_CLONES Norms move_moments(Lamb<float> k, const float* __restrict p, const float* __restrict g, float* __restrict m,
                                      float* __restrict v, size_t n) {
  constexpr size_t kLanes = 16;
  double param[kLanes] = {}, direction[kLanes] = {};
  const auto move = [&](size_t i, size_t lane) {
    float mean = m[i], square = v[i];
    k.move(g[i], mean, square);
    const double along = k.direction(p[i], mean, square), value = p[i];
    m[i] = mean;
    v[i] = square;
    param[lane] += value * value;
    direction[lane] += along * along;
  };
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) move(i + lane, lane);
  }
  for (size_t lane = 0; i < n; ++i, ++lane) move(i, lane);
  Norms sum{};
  for (size_t lane = 0; lane < kLanes; ++lane) {
    sum.param += param[lane];
    sum.direction += direction[lane];
  }
  return sum;
}

ARGOSY_SIMD_CLONES void move_param(Lamb<float> k, float trusted_rate, float* __restrict p, const float* __restrict m,
                                   const float* __restrict v, size_t n) {
  for (size_t i = 0; i < n; ++i) p[i] -= trusted_rate * k.direction(p[i], m[i], v[i]);
}

// The step has the length of the parameter, times the rate: one ratio for all elements of a call.
class LambRule final : public Rule {
 public:
  LambRule(const RuleInfo& info, std::vector<float> hyper) : Rule(info, std::move(hyper)) {}

  static std::unique_ptr<Rule> make(const RuleInfo& info, std::vector<float> hyper) {
    return std::make_unique<LambRule>(info, std::move(hyper));
  }

  Step begin_step(float learning_rate, std::span<float> scalars) const override {
    ARGOSY_CHECK(scalars.size() == scalar_states());
    return pack(Lamb<float>::begin(hyper(), learning_rate, scalars));
  }

  void apply(const Step& step, float* param, const float* grad, float* const* states, size_t n) const override {
    update(unpack<Lamb<float>>(step), param, grad, states[0], states[1], n);
  }

  void apply_rows(const Step& step, const Rows& rows) const override {
    const Lamb<float> k = unpack<Lamb<float>>(step);
    for (size_t i = 0; i < rows.index.size(); ++i) {
      const size_t at = static_cast<size_t>(rows.index[i]) * rows.stride;
      update(k, rows.param + at, rows.grad + i * rows.width, rows.element_states[0] + at, rows.element_states[1] + at,
             rows.width);
    }
  }

  void apply(const Step& step, Array& param, const Array& grad, std::span<Array> states) const override {
    move_arrays(unpack<Lamb<float>>(step), param, grad, states);
  }

  void step(const Array& rate, std::span<Array> scalars, Array& param, const Array& grad,
            std::span<Array> states) const override {
    move_arrays(Lamb<Array>::begin(hyper(), rate, scalars), param, grad, states);
  }

 private:
  template <typename C>
  static void move_arrays(const Lamb<C>& k, Array& param, const Array& grad, std::span<Array> states) {
    k.move(grad, states[0], states[1]);
    const Array along = k.direction(param, states[0], states[1]);
    param -= k.adapts ? k.rate * ratio(norm(param), norm(along)) * along : k.rate * along;
  }

  static void update(const Lamb<float>& k, float* param, const float* grad, float* moment1, float* moment2, size_t n) {
    const Norms squared = move_moments(k, param, grad, moment1, moment2, n);
    const auto param_norm = static_cast<float>(std::sqrt(squared.param));
    const auto direction_norm = static_cast<float>(std::sqrt(squared.direction));
    move_param(k, k.adapts ? k.rate * ratio(param_norm, direction_norm) : k.rate, param, moment1, moment2, n);
  }
};

}  // namespace

std::span<const RuleEntry> lamb_rules() {
  static const RuleEntry rules[] = {
      {{.op_type = "lamb", .hyper_parameters = kHyper, .states = kSlots, .elementwise = false}, LambRule::make},
  };
  return rules;
}

}  // namespace argosy::optim::internal
