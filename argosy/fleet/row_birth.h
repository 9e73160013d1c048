#pragma once

#include <cstdint>
#include <string>

#include "argosy/base/status.h"
#include "argosy/graph/op_desc.h"
#include "argosy/ps/spec/job_spec.h"

// What a program says of the rows that servers make on first use: their first values, and which keys get one.
namespace argosy::fleet {

// As `op`, the operator of the startup program that writes the table, would fill it; null: there is none, which is an error. The
// seed is the same on every process of a job, and another for each table.
Result<ps::RowInitializer> row_initializer(const graph::OpDesc* op, const std::string& table, int32_t program_seed);

// "none", "count_filter_entry:10", "probability_entry:0.5" or "show_click_entry:show:click", as sparse_embedding writes it.
Result<ps::Admission> read_entry(const std::string& entry, const std::string& table);

}  // namespace argosy::fleet
