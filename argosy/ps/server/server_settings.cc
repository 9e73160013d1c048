#include "argosy/ps/server/server_settings.h"

#include <filesystem>

#include "argosy/base/counted.h"
#include "argosy/base/env.h"
#include "argosy/base/kept_state.h"
#include "argosy/base/run_id.h"
#include "argosy/base/run_record.h"
#include "argosy/base/text.h"

namespace argosy::ps {

Status check_security(const Settings& settings) {
  const rpc::Security security = security_of(settings);
  if (settings.text("security") != "required" || security.tls() || !security.token.empty()) return {};
  return Status::failed_precondition(
      "ARGOSY_SECURITY=required, and this job has neither a token nor TLS: anybody who reaches a server could use it. Give every "
      "process the same ARGOSY_TOKEN, or a folder with certificates (ARGOSY_TLS)");
}

namespace {

Status check_seat(const Settings& settings) {
  const std::string seat = env_text("ARGOSY_SEAT").value_or("server");
  if (seat != "server" && seat != "follower")
    return Status::invalid_argument("environment variable ARGOSY_SEAT='{}'; expected server or follower", seat);
  if (seat == "server" || settings.text("replicas") == "1") return {};
  return Status::invalid_argument(
      "environment variable ARGOSY_SEAT=follower, and replicas is 0: the server has no second process");
}

}  // namespace

bool is_follower_seat() { return env_text("ARGOSY_SEAT").value_or("server") == "follower"; }

Result<std::vector<std::string>> follower_endpoints(const Settings& settings, size_t servers) {
  const std::string& list = settings.text("followers");
  const bool replicas = settings.text("replicas") == "1";
  RETURN_IF_ERROR(check_followers_wanted(replicas, list));
  if (!replicas) return std::vector<std::string>();
  const std::vector<std::string> endpoints = list.empty() ? std::vector<std::string>() : split(list, ',');
  if (endpoints.size() == servers) return endpoints;
  return Status::invalid_argument(
      "replicas is 1, and followers lists {} for {}: start the job with the launcher's --replicas 1, or give every process "
      "ARGOSY_FOLLOWERS, "
      "one host:port per server",
      endpoints.size(), counted(servers, "server"));
}

Result<std::string> server_address(const Settings& settings, const std::vector<std::string>& servers, int server) {
  ASSIGN_OR_RETURN(const auto followers, follower_endpoints(settings, servers.size()));
  return is_follower_seat() && !followers.empty() ? followers[static_cast<size_t>(server)] : servers[static_cast<size_t>(server)];
}

Result<ServerOptions> server_options(const Settings& settings, int server, int servers) {
  RETURN_IF_ERROR(check_security(settings));
  RETURN_IF_ERROR(check_seat(settings));
  ServerOptions options;
  options.job = settings.text("job");
  options.launch = env_text("ARGOSY_LAUNCH").value_or("");
  options.run = known_run_id(settings.text("run_id"));
  options.server = server;
  options.servers = servers;
  if (const std::string& directory = settings.text("directory"); !directory.empty()) {
    const std::filesystem::path root = is_follower_seat() ? followers_in(directory) : std::filesystem::path(directory);
    options.directory = root / fmt::format("server-{}", server);
    std::error_code ignored;  // without a working directory nothing lies below it
    if (!settings.given("snapshot_roots")) options.snapshot_roots = {std::filesystem::current_path(ignored), directory};
  }
  for (const Durability choice : {Durability::none, Durability::snapshot, Durability::wal, Durability::wal_sync}) {
    if (settings.text("durability") == durability_name(choice)) options.durability = choice;
  }
  for (const OnOldState choice : {OnOldState::stop, OnOldState::resume, OnOldState::fresh}) {
    if (settings.text("on_old_state") == on_old_state_name(choice)) options.on_old_state = choice;
  }
  for (const OnWorkerLoss choice : {OnWorkerLoss::fail, OnWorkerLoss::wait, OnWorkerLoss::shrink}) {
    if (settings.text("on_worker_loss") == on_worker_loss_name(choice)) options.on_worker_loss = choice;
  }
  options.replica = settings.text("replicas") == "1";
  options.nonfinite = nonfinite_named(settings.text("nonfinite"));
  options.log_sync_seconds = settings.seconds("log_sync_seconds");
  options.snapshot_seconds = settings.seconds("snapshot_seconds");
  for (const std::string& root : split(settings.text("snapshot_roots"), ':')) {
    if (!root.empty()) options.snapshot_roots.emplace_back(root);
  }
  options.log_limit_bytes = settings.bytes("log_limit");
  options.mem_limit_bytes = static_cast<uint64_t>(settings.bytes("mem_limit"));
  options.lease_seconds = settings.seconds("lease_seconds");
  options.worker_wait_seconds = settings.seconds("worker_wait_seconds");
  options.worker_start_seconds = settings.seconds("worker_start_seconds");
  options.workers_return = env_text("ARGOSY_RESTARTS").has_value();
  options.mailbox_limit_bytes = static_cast<uint64_t>(settings.bytes("mailbox_limit"));
  options.parked_limit_bytes = static_cast<uint64_t>(settings.bytes("parked_limit"));
  options.unread_mail_limit_bytes = static_cast<uint64_t>(settings.bytes("unread_mail_limit"));
  options.waiting_keys_limit_bytes = static_cast<uint64_t>(settings.bytes("waiting_keys_limit"));
  options.reply_limit_bytes = static_cast<uint64_t>(settings.bytes("reply_limit"));
  options.security = security_of(settings);
  RETURN_IF_ERROR(options.check());
  return options;
}

}  // namespace argosy::ps
