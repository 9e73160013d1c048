#pragma once

#include <cstdint>

// What the fields of Criteo's text are, and how they become numbers.
namespace argosy::data {

inline constexpr int kCriteoDense = 13, kCriteoCategories = 26;

enum class CriteoScheme {
  span,   // (value - minimum) / span per field; id = crc32("<field number><text>")
  log1p,  // log1p(max(value, 0)) / 5 to six decimals; id = crc32("<field number>_<text>")
};

struct CriteoOptions {
  int64_t hash_dim = 1'000'001;  // ids are crc32 % hash_dim
  CriteoScheme scheme = CriteoScheme::span;
};

}  // namespace argosy::data
