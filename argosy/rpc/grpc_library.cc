#include "argosy/rpc/grpc_library.h"

#include <grpcpp/completion_queue.h>

namespace argosy::rpc {

void keep_grpc() { [[maybe_unused]] static auto* const kept = new grpc::CompletionQueue(); }

}  // namespace argosy::rpc
