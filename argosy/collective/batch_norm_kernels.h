#pragma once

#include <cstddef>

// The CUDA kernels of FusedBatchNorm, for tensors whose channels lie together (channels last). Plain C++, so that both compilers
// read it. Everything is queued on a stream and nothing waits; a function returns the text of CUDA's error, or null.
namespace argosy::collective::kernels {

enum class Number { float32, float16, bfloat16 };

constexpr int kLeastComputeCapability = 8;  // major: conversions to bfloat16 are instructions from there on
constexpr int kChannelsTogether = 8;        // the number of channels is a multiple of it

struct NormSize {
  int rows = 0, channels = 0;  // a row is one position of one image
  Number element = Number::float32;    // of the input, the output and their gradients
  Number parameter = Number::float32;  // of weight, bias and the running values; float32 or as the elements
};

struct Workspace {
  size_t partial_floats = 0;  // sums of each block; need no first value
  size_t counts = 0;          // unsigned numbers that are 0 before a call, and 0 again after it
};
Workspace workspace_of(const NormSize& size);

// Floats for each channel that a forward leaves to its backward: mean, 1 / deviation, scale, shift.
constexpr int kSavedPerChannel = 4;
// Floats for each channel that a backward needs for itself.
constexpr int kCoefficientsPerChannel = 3;

enum class After { nothing, relu, add_relu };  // what follows the normalisation in the same pass

struct NormForward {
  const void *input = nullptr, *weight = nullptr, *bias = nullptr;  // weight and bias: both or none
  const void* added = nullptr;                                      // with After::add_relu
  void *running_mean = nullptr, *running_var = nullptr;             // both or none
  void* output = nullptr;
  float *saved = nullptr, *partial = nullptr;
  unsigned* counts = nullptr;
  float momentum = 0, epsilon = 0;
  After after = After::nothing;
};
const char* forward(const NormSize& size, const NormForward& call, void* stream);

struct NormBackward {
  const void *outer = nullptr,
             *outer2 = nullptr;  // gradients of the output, whose sum counts; outer2 may be null, and is with add_relu only
  const void *input = nullptr, *output = nullptr;  // output: with After::add_relu
  const float* saved = nullptr;
  void* inner = nullptr;                                    // the input's gradient
  void* added = nullptr;                                    // that of what was added, with After::add_relu
  void *weight = nullptr, *bias = nullptr;                  // theirs; may be null
  float *coefficients = nullptr, *partial = nullptr;
  unsigned* counts = nullptr;
  After after = After::nothing;
};
const char* backward(const NormSize& size, const NormBackward& call, void* stream);

}  // namespace argosy::collective::kernels
