#pragma once

#include <string_view>

namespace argosy::ps {

// What becomes of gradients that are not finite numbers.
enum class Nonfinite {
  refuse,  // the push fails, naming table, key, worker and batch
  skip,    // the row, or the dense table's part of the push, is left out
  clip,    // NaN is taken for 0, an infinity for the bound of the table's value_clip, or 0 where there is none
};
std::string_view nonfinite_name(Nonfinite policy);
std::string_view nonfinite_outcome(Nonfinite policy);  // what they are then: "left out"

}  // namespace argosy::ps
