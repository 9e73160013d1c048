#pragma once

#include <memory>
#include <string>

#include "argosy/base/status.h"
#include "argosy/serve/model/predict_service.h"

namespace argosy::serve {

struct ModelServerOptions {
  std::string host = "127.0.0.1";  // the one address that it listens at
  int port = 8500;                 // 0: a free one
};

// The model over HTTP and JSON (json_tensor.h):
//   POST /v1/models/NAME:predict                predictions; the header X-Deadline-Ms shortens the deadline
//   GET  /v1/models, /v1/models/NAME            what is served: version, inputs, outputs, settings
//   GET  /v1/models/NAME/parameters             name, type, shape and checksum of each parameter
//   GET  /healthz, /readyz, /metrics
// An error is {"error": text} with a status that says whose mistake it is: 4xx the caller's.
//
// Owns the thread "serve-http" and one per connection, up to the limit. Thread-safe.
class ModelServer {
 public:
  // Listens. REQUIRES: the service outlives it.
  static Result<std::unique_ptr<ModelServer>> start(const ModelServerOptions& options, PredictService& service);
  ~ModelServer();

  int port() const;
  // No connection is taken any more, requests that have begun are answered. Safe to call twice.
  void stop();

 private:
  class Impl;
  explicit ModelServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace argosy::serve
