#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/data/remote_store.h"
#include "argosy/engine/program/scope.h"
#include "argosy/graph/program.h"

namespace argosy::engine {

// Values of variables on disk, in Paddle's tensor files: one file per variable, or all in `filename`, in the order of their
// names. A folder is written under another name and renamed, so that a kill leaves the old one or the new one; other files
// that were in it stay, but not in a store behind a command (`hadoop fs`). With the values of parameter servers goes the ledger
// of what they were trained on (RemoteParameters::ledger), as the file __ledger__.
Status save_vars(const Scope& scope, const std::vector<const graph::VarDesc*>& variables, const data::FolderPlace& place,
                 const std::string& filename = "");

// All values of a variable that parameter servers hold; a row that nobody has touched holds what a new one would.
Result<at::Tensor> fetch_remote(RemoteParameters& remote, const std::string& name);

struct LoadReport {
  std::vector<std::string> loaded;
  std::vector<std::string> missing;  // variables that are not there and keep what they have; load_vars refuses them
  std::vector<std::string> unused;  // files (or, of a combined file, how many tensors) that no variable asked for
};

// Reads what save_vars, or Paddle, wrote. A variable without a file, and a tensor of another shape or element type, are errors
// that name every one of them; nothing is then changed. Tensors that are in the scope already keep their storage.
Result<LoadReport> load_vars(Scope& scope, const std::vector<const graph::VarDesc*>& variables, const data::FolderPlace& place,
                             const std::string& filename = "");

struct InferenceModel {
  std::shared_ptr<graph::Program> program;
  std::vector<std::string> feeds, fetches;
};

// The part of `program` that computes `targets` from `feeds`, as `model_filename` (Paddle's __model__), with the values that it
// needs. `params_filename` empty: one file per parameter.
Status save_inference_model(const graph::Program& program, const std::vector<std::string>& feeds,
                            const std::vector<std::string>& targets, const Scope& scope, const data::FolderPlace& place,
                            const std::string& model_filename = "__model__", const std::string& params_filename = "");

// `elsewhere`: variables whose values the caller has from elsewhere. Their files need not be there; of a combined file, which has
// to be whole, what is theirs is dropped.
Result<InferenceModel> load_inference_model(const data::FolderPlace& place, Scope& scope,
                                            const std::string& model_filename = "__model__",
                                            const std::string& params_filename = "", const std::set<std::string>& elsewhere = {});

}  // namespace argosy::engine
