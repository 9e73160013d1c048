#include "argosy/ps/server.h"

#include <fmt/format.h>
#include <unistd.h>

#include "argosy/base/log.h"
#include "argosy/ps/server_core.h"
#include "argosy/rpc/server.h"

namespace argosy::ps {
namespace {

constexpr double kStopGraceSeconds = 2;

class RunningServer final : public Server {
 public:
  explicit RunningServer(const ServerOptions& options) : options_(options), core_(options) {}

  ~RunningServer() override {
    if (rpc_ != nullptr) rpc_->stop(Deadline::after_seconds(0));
    (void)core_.stop(false);
  }

  Status begin() {
    RETURN_IF_ERROR(core_.recover());
    if (!options_.address.empty()) {
      const rpc::ServerOptions listen{.address = options_.address,
                                      .security = options_.security,
                                      .threads = options_.threads,
                                      .max_message_bytes = options_.max_message_bytes};
      ASSIGN_OR_RETURN(rpc_, rpc::Server::start(listen, handler()));
      endpoint_ = rpc_->endpoint();
    }
    core_.start(
        fmt::format("server {} ({}, pid {})", options_.server, endpoint_.empty() ? "in this process" : endpoint_, ::getpid()),
        [this] { return rpc_ == nullptr ? rpc::ServerCounters() : rpc_->counters(); });
    return {};
  }

  const std::string& endpoint() const override { return endpoint_; }
  int port() const override { return rpc_ == nullptr ? 0 : rpc_->port(); }

  rpc::Handler handler() override {
    return [this](rpc::Request request, rpc::Reply reply) { core_.handle(std::move(request), std::move(reply)); };
  }

  Result<bool> wait(Deadline deadline) override { return core_.wait(deadline); }

  Status stop() override {
    if (rpc_ != nullptr) rpc_->stop(Deadline::after_seconds(kStopGraceSeconds));
    return core_.stop(true);
  }

 private:
  const ServerOptions options_;
  std::string endpoint_;
  Core core_;
  std::unique_ptr<rpc::Server> rpc_;
};

}  // namespace

std::string_view durability_name(Durability durability) {
  constexpr std::string_view names[] = {"none", "snapshot", "wal", "wal_sync"};
  return names[static_cast<size_t>(durability)];
}

std::string_view on_worker_loss_name(OnWorkerLoss choice) {
  constexpr std::string_view names[] = {"fail", "wait", "shrink"};
  return names[static_cast<size_t>(choice)];
}

Durability ServerOptions::settled_durability() const {
  return durability.value_or(directory.empty() ? Durability::none : Durability::wal);
}

Status ServerOptions::check() const {
  if (servers < 1) return Status::invalid_argument("servers is {}; expected at least 1", servers);
  if (server < 0 || server >= servers) {
    return Status::invalid_argument("server is {}; expected 0 to {}, because the job has {} servers", server, servers - 1,
                                    servers);
  }
  if (settled_durability() != Durability::none && directory.empty()) {
    return Status::invalid_argument("durability is {}; that needs a directory to keep the tables in",
                                    durability_name(settled_durability()));
  }
  if (mem_limit_bytes > 0 && directory.empty()) {
    return Status::invalid_argument("mem_limit is {} bytes; that needs a directory for the rows beyond it", mem_limit_bytes);
  }
  if (!(lease_seconds > 0)) return Status::invalid_argument("lease_seconds is {}; expected more than 0", lease_seconds);
  if (spec && workers != 0 && spec->workers != workers) {
    return Status::invalid_argument("workers is {}, and the job spec says {}", workers, spec->workers);
  }
  return spec ? spec->check() : Status();
}

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options) {
  RETURN_IF_ERROR(options.check());
  auto server = std::make_unique<RunningServer>(options);
  RETURN_IF_ERROR(server->begin());
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace argosy::ps
