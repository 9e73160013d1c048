#include "argosy/ps/settings.h"

#include <filesystem>

#include "argosy/base/env.h"
#include "argosy/base/text.h"

namespace argosy::ps {

namespace {

// The file that a setting names, or the one of this name in the folder `tls`, where it is there. A folder without any of them is
// no reason to go on in clear text: its certificate is named then, and missed by who reads it.
std::string tls_file(const Settings& settings, const char* name, const char* file) {
  const std::filesystem::path folder = settings.text("tls");
  if (!settings.text(name).empty() || folder.empty()) return settings.text(name);
  const bool empty = !std::filesystem::exists(folder / "ca.pem") && !std::filesystem::exists(folder / "certificate.pem");
  return empty || std::filesystem::exists(folder / file) ? (folder / file).string() : "";
}

}  // namespace

Status check_security(const Settings& settings) {
  const rpc::Security security = security_of(settings);
  if (settings.text("security") != "required" || security.tls() || !security.token.empty()) return {};
  return Status::failed_precondition(
      "ARGOSY_SECURITY=required, and this job has neither a token nor TLS: anybody who reaches a server could use it. Give every "
      "process the same ARGOSY_TOKEN, or a folder with certificates (ARGOSY_TLS)");
}

rpc::Security security_of(const Settings& settings) {
  return {.ca = tls_file(settings, "tls_ca", "ca.pem"),
          .certificate = tls_file(settings, "tls_certificate", "certificate.pem"),
          .key = tls_file(settings, "tls_key", "key.pem"),
          .token = settings.text("token")};
}

Result<ServerOptions> server_options(const Settings& settings, int server, int servers) {
  RETURN_IF_ERROR(check_security(settings));
  ServerOptions options;
  options.job = settings.text("job");
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
  for (const OnWorkerLoss choice : {OnWorkerLoss::fail, OnWorkerLoss::wait, OnWorkerLoss::shrink}) {
    if (settings.text("on_worker_loss") == on_worker_loss_name(choice)) options.on_worker_loss = choice;
  }
  for (const Nonfinite choice : {Nonfinite::refuse, Nonfinite::skip, Nonfinite::clip}) {
    if (settings.text("nonfinite") == nonfinite_name(choice)) options.nonfinite = choice;
  }
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
