#pragma once

#include <memory>

#include "argosy/engine/program/scope.h"

// What a process has one of, as PaddlePaddle's API asks for: everything in argosy/ that is given no context and no scope by its
// caller uses these. Nothing below the public API does.
namespace argosy::engine {
class Context;  // argosy/engine/remote/context.h
}  // namespace argosy::engine

namespace argosy {

engine::Scope& global_scope();
engine::Scope* switch_global_scope(engine::Scope* scope);  // returns the one before; null restores the first
inline engine::Scope& scope_or_global(engine::Scope* given) { return given != nullptr ? *given : global_scope(); }

namespace fleet {

// A context whose server programs serve (serve.h). Two jobs in one process have one each.
std::shared_ptr<engine::Context> make_context();
// The one of the job that this process is in.
const std::shared_ptr<engine::Context>& process_context();

}  // namespace fleet
}  // namespace argosy
