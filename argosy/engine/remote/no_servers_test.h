#pragma once

#include <string>

#include "argosy/engine/remote/remote_parameters.h"

namespace argosy::engine {

// Servers that take everything and have nothing, for tests of what is decided without them.
class NoServers : public RemoteParameters {
 public:
  const RemoteVariable* find(std::string_view) const override { return nullptr; }
  Status attach(Scope&) override { return {}; }
  Result<bool> begin_round(int) override { return true; }
  Status thread_done() override { return {}; }
  void thread_failed(const Status&) override {}
  Status end_round(const ReadCounters&) override { return {}; }
  void abandon_round(const Status&) override {}
  Status begin_parallel(int) override { return {}; }
  Status end_parallel() override { return {}; }
  BatchId begin_batch() override { return 0; }
  BatchId begin_batch(uint32_t, uint32_t, std::span<const FileLineRange>) override { return 0; }
  bool wants(BatchId) const override { return true; }
  Status pull(std::span<const RowRequest>) override { return {}; }
  Status step(const StepGradients&) override { return {}; }
  Status refresh() override { return {}; }
  Status fetch(std::string_view, std::span<float>) override { return {}; }
  Status store(std::string_view, std::span<const float>) override { return {}; }
  Result<Outcome> once(const std::string&, const std::string&, const OperationBody&) override { return Outcome{}; }
  Status close() override { return {}; }
};

}  // namespace argosy::engine
