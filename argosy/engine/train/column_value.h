#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/data/batch.h"
#include "argosy/data/slot.h"
#include "argosy/engine/program/value.h"
#include "argosy/graph/program.h"

// Where a dataset's columns and a program's variables meet.
namespace argosy::engine {

// The slots that a dataset must have so that it can feed these variables, in order. An element type that datasets do not
// carry is an error that names the variable.
Result<std::vector<data::SlotSpec>> slots_of(const graph::Program& program, const std::vector<std::string>& variables);

// A batch's column as the value of `variable`, laid over its memory: good until the batch is changed.
Value column_value(const data::Column& column, int64_t samples, const graph::VarDesc& variable);

}  // namespace argosy::engine
