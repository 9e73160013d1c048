// A two-layer perceptron that learns whether the sum of its inputs is above a half of their number. The twin of mlp.py:
// with the same seed both print the same losses.
#include <ATen/ATen.h>
#include <argosy/argosy.h>

#include <cstdio>

using namespace argosy;
namespace L = argosy::layers;

namespace {

// The same numbers in C++ and Python: a small generator of our own (Park and Miller's).
class Draws {
 public:
  float next() {
    state_ = state_ * 48271 % 2147483647;
    return static_cast<float>(static_cast<double>(state_) / 2147483647.0);
  }

 private:
  int64_t state_ = 1;
};

Feed next_batch(Draws& draws, int64_t size, int64_t width) {
  at::Tensor x = at::empty({size, width}), y = at::empty({size, 1}, at::kLong);
  float* value = x.data_ptr<float>();
  for (int64_t i = 0; i < size; ++i) {
    double sum = 0;
    for (int64_t k = 0; k < width; ++k) sum += * value++ = draws.next();
    y.data_ptr<int64_t>()[i] = sum > static_cast<double>(width) / 2 ? 1 : 0;
  }
  return {{"x", {.tensor = x}}, {"y", {.tensor = y}}};
}

}  // namespace

int main() {
  default_startup_program()->random_seed = 1;
  const Variable x = L::data("x", {32});
  const Variable y = L::data("y", {1}, kInt64);
  Variable h = L::fc(x, 128, {.act = "tanh"});
  h = L::fc(h, 128, {.act = "tanh"});
  const Variable predict = L::fc(h, 2, {.act = "softmax"});
  const Variable loss = L::mean(L::cross_entropy(predict, y));
  minimize(optim::SGD{.learning_rate = 0.1}, loss);

  Executor exe;
  exe.run(default_startup_program());
  Draws draws;
  for (int step = 0; step < 100; ++step) {
    const auto fetched = exe.run(default_main_program(), next_batch(draws, 64, 32), {loss});
    if (step % 10 == 9) std::printf("step %d loss %.6f\n", step, fetched[0].tensor.item<float>());
  }
}
