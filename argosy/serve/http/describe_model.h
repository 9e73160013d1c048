#pragma once

#include <cstdint>
#include <string>

#include "argosy/serve/model/served_version.h"

namespace argosy::serve {

// The page of a model, as JSON: KServe's and TensorFlow Serving's fields, its inputs, outputs and settings, and why its newest
// version was refused, where it was.
std::string model_page(const std::string& name, const ServedVersion& version, const std::string& problem);

// {"parameters": [{"name", "dtype", "shape", "digest"}, …]}; resource_exhausted where a source has more bytes of rows.
Result<std::string> parameters_page(const ServedVersion& version, uint64_t most_rows_bytes);

// For /metrics: whether it can predict, and how the source of its parameters stands, where it has one.
std::string source_metrics(const ServedVersion& version);

}  // namespace argosy::serve
