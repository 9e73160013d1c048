#include "argosy/rpc/grpc_library.h"

#include <grpcpp/completion_queue.h>

namespace argosy::rpc {

// Visible from outside, so that the compiler keeps it and a search for leaks finds what it points to.
grpc::CompletionQueue* kept_by_grpc = nullptr;

void keep_grpc() {
  [[maybe_unused]] static const bool once = [] {
    kept_by_grpc = new grpc::CompletionQueue();
    return true;
  }();
}

}  // namespace argosy::rpc
