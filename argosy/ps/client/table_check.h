#pragma once

#include <cstddef>

#include "argosy/base/status.h"
#include "argosy/ps/spec/job_spec.h"

namespace argosy::ps {

// Whether the job has this table, and it is sparse or dense as the caller needs it; the error names it.
Status check_table_kind(const JobSpec& spec, int table, bool sparse);
// A dense one of so many values.
Status check_dense_size(const JobSpec& spec, int table, size_t values);

}  // namespace argosy::ps
