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
// Of a setting's text. REQUIRES: it is one of the names.
Nonfinite nonfinite_named(std::string_view name);
// The end of an error about a gradient that is refused: what to do.
inline constexpr std::string_view kNonfiniteAdvice =
    "a smaller learning rate or clipping keeps gradients finite, and the setting nonfinite=skip or clip lets the job go on "
    "without them";

}  // namespace argosy::ps
