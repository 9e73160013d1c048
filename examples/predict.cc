// Predicts with the model that ctr_dnn has saved: a click's probability for two visitors, in C++ alone. The twin of predict.py.
//
//   predict model
#include <argosy/serve/predict/predictor.h>

#include <cstdio>

using namespace argosy;

int main(int argc, char** argv) try {
  if (argc != 2) return std::fprintf(stderr, "usage: %s MODEL\n", argv[0]), 2;
  const auto predictor = value_or_throw(serve::Predictor::open(argv[1]));

  serve::Inputs inputs;  // two samples: 13 numbers each, and 26 slots with one or two ids
  std::vector<float> dense;
  for (int i = 0; i < 2 * 13; ++i) dense.push_back(0.01f * static_cast<float>(i));
  inputs["dense_input"] = serve::Tensor::copy_of(dense, {2, 13});
  for (int64_t slot = 1; slot <= 26; ++slot)
    inputs["C" + std::to_string(slot)] = serve::Tensor::sequences<int64_t>({{slot}, {slot, 1000 + slot}});

  const auto outputs = value_or_throw(predictor.run(inputs));
  const auto probabilities = outputs[0].values<float>();  // [2, 2]: of no click, of a click
  for (size_t sample = 0; sample < 2; ++sample) std::printf("click of sample %zu: %.6f\n", sample, probabilities[2 * sample + 1]);
} catch (const Error& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
