#pragma once

#include <cstdint>
#include <string_view>

namespace argosy {

// Mixes 64 bits so that near inputs give unrelated outputs (splitmix64's finaliser). The same on every machine: values made
// from it are part of what a saved table or a shuffle means.
constexpr uint64_t mix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// The same for text: a number that stands for it on every machine.
constexpr uint64_t mix64(std::string_view text, uint64_t seed = 0) {
  uint64_t mixed = mix64(seed);
  for (const char c : text) mixed = mix64(mixed ^ static_cast<unsigned char>(c));
  return mixed;
}

// A random sequence that is a function of its seed alone. Satisfies UniformRandomBitGenerator. Thread-compatible.
class Random {
 public:
  using result_type = uint64_t;
  explicit Random(uint64_t seed) : state_(mix64(seed)) {}
  // The sequence for one key of a seed: independent of every other key, in whatever order they are drawn.
  Random(uint64_t seed, uint64_t key) : state_(mix64(mix64(seed) ^ mix64(key + 0x632be59bd9b4e019ULL))) {}

  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return ~uint64_t{0}; }
  uint64_t operator()() { return mix64(state_ += 0x9e3779b97f4a7c15ULL); }

  // In [0, 1).
  double uniform() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }
  // In [0, bound), without bias. REQUIRES: bound > 0.
  uint64_t below(uint64_t bound) {
    for (;;) {
      const uint64_t draw = (*this)();
      const unsigned __int128 product = static_cast<unsigned __int128>(draw) * bound;
      if (static_cast<uint64_t>(product) >= (-bound) % bound) return static_cast<uint64_t>(product >> 64);
    }
  }
  // From the normal distribution with mean 0 and deviation 1.
  double normal();

 private:
  uint64_t state_;
};

}  // namespace argosy
