#include "argosy/ps/server/server_settings.h"

#include <filesystem>

#include "argosy/base/env.h"
#include "argosy/base/run_id.h"
#include "argosy/base/text.h"

namespace argosy::ps {

Status check_security(const Settings& settings) {
  const rpc::Security security = security_of(settings);
  if (settings.text("security") != "required" || security.tls() || !security.token.empty()) return {};
  return Status::failed_precondition(
      "ARGOSY_SECURITY=required, and this job has neither a token nor TLS: anybody who reaches a server could use it. Give every "
      "process the same ARGOSY_TOKEN, or a folder with certificates (ARGOSY_TLS)");
}

Result<ServerOptions> server_options(const Settings& settings, int server, int servers) {
  RETURN_IF_ERROR(check_security(settings));
  ServerOptions options;
  options.job = settings.text("job");
  options.launch = env_text("ARGOSY_LAUNCH").value_or("");
  options.run = known_run_id(settings.text("run_id"));
  options.server = server;
  options.servers = servers;
  if (const std::string& directory = settings.text("directory"); !directory.empty()) {
    options.directory = std::filesystem::path(directory) / fmt::format("server-{}", server);
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
