#pragma once

#include <cstdint>

namespace argosy {

// Lines of one file, by their numbers from 1.
struct LineRange {
  uint64_t first = 0, count = 0;

  friend bool operator==(const LineRange&, const LineRange&) = default;
};

// Lines of one of several files, which is named by its place in their list.
struct FileLineRange {
  uint64_t file = 0;
  LineRange lines = {};

  friend bool operator==(const FileLineRange&, const FileLineRange&) = default;
};

}  // namespace argosy
