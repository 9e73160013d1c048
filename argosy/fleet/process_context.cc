#include "argosy/fleet/process_context.h"

#include "argosy/engine/remote/context.h"
#include "argosy/fleet/serve.h"

namespace argosy {
namespace {

engine::Scope& first_global_scope() {
  static engine::Scope& scope = *new engine::Scope;  // leaked: tensors may be freed after torch's own static objects otherwise
  return scope;
}
engine::Scope* current_global_scope = nullptr;

}  // namespace

engine::Scope& global_scope() { return current_global_scope != nullptr ? *current_global_scope : first_global_scope(); }

engine::Scope* switch_global_scope(engine::Scope* scope) {
  engine::Scope* before = &global_scope();
  current_global_scope = scope;
  return before;
}

namespace fleet {

std::shared_ptr<engine::Context> make_context() { return std::make_shared<engine::Context>(&serve_program); }

const std::shared_ptr<engine::Context>& process_context() {
  static const std::shared_ptr<engine::Context>& instance = *new std::shared_ptr<engine::Context>(make_context());
  return instance;
}

}  // namespace fleet
}  // namespace argosy
