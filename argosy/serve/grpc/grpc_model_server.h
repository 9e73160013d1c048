#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "argosy/base/status.h"
#include "argosy/serve/model/predict_service.h"

namespace argosy::rpc {
class UnaryServer;
}

namespace argosy::serve {

struct GrpcModelServerOptions {
  std::string host = "127.0.0.1";  // the one address that it listens at
  int port = 0;                    // 0: a free one
};

// The model over gRPC: argosy.serve.v1.Prediction (predict.proto), and grpc.health.v1.Health, which says SERVING while /readyz of
// the HTTP server says ok. An error is a gRPC status with the text that HTTP has too. The limits are the service's; of
// max_connections, that many calls may be under way, on however many connections.
//
// Thread-safe.
class GrpcModelServer {
 public:
  // Listens. REQUIRES: the service outlives it.
  static Result<std::unique_ptr<GrpcModelServer>> start(const GrpcModelServerOptions& options, PredictService& service);
  ~GrpcModelServer();  // as stop()

  int port() const;
  // No call is taken any more, those that have begun are answered. Safe to call twice.
  void stop();

 private:
  GrpcModelServer(std::unique_ptr<rpc::UnaryServer> server, std::chrono::milliseconds longest);

  const std::unique_ptr<rpc::UnaryServer> server_;
  const std::chrono::milliseconds longest_;  // that a call takes
};

}  // namespace argosy::serve
