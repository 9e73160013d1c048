#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "argosy/graph/tensor_file.h"

namespace argosy::inspect {

// What a person wants to know of a saved tensor. The numbers are of floating-point tensors only, over the finite elements.
struct TensorFacts {
  graph::DType dtype = graph::DType::float32;
  std::vector<int64_t> shape;
  size_t sequences = 0;  // 0: it has none
  uint64_t bytes = 0;
  bool numeric = false;
  double norm = 0, min = 0, max = 0, mean = 0;
  int64_t zero_rows = 0;   // rows of which every element is 0; -1: it has no rows
  int64_t not_finite = 0;  // elements

  std::string line() const;  // "float32 [1000, 10]  39.1 KiB  norm 12.3  [-0.5, 0.4]  3 rows are 0"
};

TensorFacts facts_of(const graph::TensorFile& tensor);

std::string bytes_text(uint64_t bytes);  // "39.1 KiB"

// How `b` differs from `a`: shape, type, or in how many rows and by how much at most; empty: not at all.
std::string difference_of(const graph::TensorFile& a, const graph::TensorFile& b);

}  // namespace argosy::inspect
