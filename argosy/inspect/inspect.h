#pragma once

#include <filesystem>
#include <string>

#include "argosy/base/status.h"
#include "argosy/inspect/difference.h"

// What lies at a path, for people: `argosy inspect`. Torch-free.
namespace argosy::inspect {

// A summary of
//   a saved model           inputs, outputs, operators by type, parameters with sizes and norms, the ledger
//   a folder of tensors     as save_persistables leaves it: the same without a program
//   a tensor file           its facts
//   a program of fluid.save the program; its parameters are in a file of Python's
//   a snapshot              kind, step, servers, tables with rows and bytes
//   a directory of servers  of a job or of one server: its run, its snapshots
Result<std::string> summary(const std::filesystem::path& path);

// The program of a saved model as text, and its ledger.
Result<std::string> raw_text(const std::filesystem::path& path);

// Two models, folders of tensors or tensors; two snapshots, by their tables.
Result<Difference> compare(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace argosy::inspect
