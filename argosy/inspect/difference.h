#pragma once

#include <string>

namespace argosy::inspect {

// What differs between two things that were saved.
struct Difference {
  bool equal = true;
  std::string text;  // a line for each thing that differs, or that nothing does
};

}  // namespace argosy::inspect
