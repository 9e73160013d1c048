#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "argosy/graph/dtype.h"

namespace argosy::engine {

// Levels of sequence boundaries, outermost first; each level holds offsets that begin at 0 ("level of detail").
using Lod = std::vector<std::vector<int64_t>>;
using LodPtr = std::shared_ptr<const Lod>;  // shared: operators hand it on unchanged; null where there is none

// The gradient of a table of which only some rows were looked up, not yet merged: the same row may occur many times. Each
// piece is one lookup. `gradient` is that of the pooled (or unpooled) output, [samples, stride]; id i of sample s owes it
// the columns [column, column + width), times the sample's scale.
struct LookupGradient {
  struct Piece {
    at::Tensor ids;        // int64, flat
    LodPtr lod;            // sample boundaries in ids where the lookup was pooled; null: one id a row
    bool average = false;  // the pooling divided by the sample's length
    at::Tensor gradient;   // float32, rows contiguous
    int64_t column = 0;
    int64_t skip_id = -1;  // padding_idx: ids equal to it get no gradient
    bool unique = false;   // no id is there twice: nothing is left to add up
    LodPtr samples = nullptr;  // sample boundaries in ids where the lookup was not pooled; null: samples have equally many ids
  };
  int64_t height = 0, width = 0;
  std::vector<Piece> pieces;
  float scale = 1.0f;  // clipping multiplies here instead of touching every row
  bool dense = false;  // of the whole table: rows that no piece has get a gradient of 0, and an update moves them too

  at::Tensor to_dense() const;  // [height, width]; for fetches and tests
  LookupGradient on_cpu() const;
};

// What a variable holds during a run.
struct Value {
  at::Tensor tensor;
  LodPtr lod;
  std::shared_ptr<const std::vector<Value>> array;  // of a variable that is a list of tensors; tensor is then undefined
  std::shared_ptr<LookupGradient> rows;  // set for the gradient of a sparsely looked up table; tensor is then undefined
  at::Tensor fed = {};  // where it was fed to another device: the same on the CPU, which can be looked at without waiting

  bool defined() const { return tensor.defined() || rows != nullptr || array != nullptr; }
  // The innermost level. REQUIRES: lod.
  const std::vector<int64_t>& offsets() const { return lod->back(); }
};

at::ScalarType scalar_type(graph::DType dtype);
graph::DType dtype_of(const at::Tensor& tensor);

}  // namespace argosy::engine
