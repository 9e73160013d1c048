#pragma once

#include <string>
#include <vector>

#include "argosy/engine/program/model_io.h"
#include "argosy/fleet/executor.h"

namespace argosy {

using engine::InferenceModel;
using engine::LoadReport;

// Saving and loading with the public types; see engine/model_io.h for what each does. A folder may be one of a remote store
// (data/remote_store.h). All throw argosy::Error.
void save_inference_model(const data::FolderPlace& folder, const std::vector<Variable>& feeds,
                          const std::vector<Variable>& targets, Scope* scope = nullptr);
InferenceModel load_inference_model(const data::FolderPlace& folder, Scope* scope = nullptr);

// The variables that outlive a run (optimizer state among them), and the parameters alone.
void save_persistables(const Program& program, const data::FolderPlace& folder, Scope* scope = nullptr);
void save_params(const Program& program, const data::FolderPlace& folder, Scope* scope = nullptr);
LoadReport load_persistables(const Program& program, const data::FolderPlace& folder, Scope* scope = nullptr);
LoadReport load_params(const Program& program, const data::FolderPlace& folder, Scope* scope = nullptr);

}  // namespace argosy
