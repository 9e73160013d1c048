#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "argosy/engine/program/op.h"
#include "argosy/engine/program/value.h"

// Operators that only move whole rows of sequences: they find which row goes where, in one pass over the boundaries, and move
// them all at once.
namespace argosy::engine {

inline constexpr int64_t kNoRow = -1;  // in a list of rows: the filling goes here

// Rows of x in the order of `rows`. REQUIRES: each is in [0, x.size(0)).
at::Tensor take_rows(const at::Tensor& x, const std::vector<int64_t>& rows);
// The same with `filling`, of a row's shape, at kNoRow. It gets a gradient too.
at::Tensor take_rows_or(const at::Tensor& x, const std::vector<int64_t>& rows, const at::Tensor& filling);

LodPtr one_level(std::vector<int64_t> offsets);
// Boundaries of `slot` whose end is checked against the number of rows.
const std::vector<int64_t>& checked_offsets(const OpContext& op, std::string_view slot, size_t index = 0);

}  // namespace argosy::engine
