#include "argosy/fleet/model.h"

#include "argosy/base/error.h"

namespace argosy {
namespace {

std::vector<std::string> names_of(const std::vector<Variable>& variables) {
  std::vector<std::string> names;
  for (const Variable& variable : variables) names.push_back(variable.name());
  return names;
}

std::vector<const graph::VarDesc*> constant(const std::vector<graph::VarDesc*>& variables) {
  return {variables.begin(), variables.end()};
}

}  // namespace

void save_inference_model(const data::FolderPlace& folder, const std::vector<Variable>& feeds,
                          const std::vector<Variable>& targets, Scope* scope) {
  if (targets.empty()) throw Error(Status::invalid_argument("save_inference_model: name at least one target"));
  throw_if_error(
      engine::save_inference_model(*targets[0].program(), names_of(feeds), names_of(targets), scope_or_global(scope), folder));
}

InferenceModel load_inference_model(const data::FolderPlace& folder, Scope* scope) {
  return value_or_throw(engine::load_inference_model(folder, scope_or_global(scope)));
}

void save_persistables(const Program& program, const data::FolderPlace& folder, Scope* scope) {
  throw_if_error(engine::save_vars(scope_or_global(scope), constant(program.persistables()), folder));
}

void save_params(const Program& program, const data::FolderPlace& folder, Scope* scope) {
  throw_if_error(engine::save_vars(scope_or_global(scope), constant(program.parameters()), folder));
}

LoadReport load_persistables(const Program& program, const data::FolderPlace& folder, Scope* scope) {
  return value_or_throw(engine::load_vars(scope_or_global(scope), constant(program.persistables()), folder));
}

LoadReport load_params(const Program& program, const data::FolderPlace& folder, Scope* scope) {
  return value_or_throw(engine::load_vars(scope_or_global(scope), constant(program.parameters()), folder));
}

}  // namespace argosy
